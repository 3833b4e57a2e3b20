package author_test

import (
	"context"
	"encoding/json"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
)

// beats sets the number of the attempt, and keeps the heartbeat for the next one.
type beats struct {
	interceptor.WorkerInterceptorBase
	world *world
}

func (b *beats) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	in := &beatsIn{world: b.world}
	in.Next = next
	return in
}

type beatsIn struct {
	interceptor.ActivityInboundInterceptorBase
	world *world
}

func (i *beatsIn) Init(next interceptor.ActivityOutboundInterceptor) error {
	out := &beatsOut{world: i.world}
	out.Next = next
	return i.Next.Init(out)
}

type beatsOut struct {
	interceptor.ActivityOutboundInterceptorBase
	world *world
}

func (o *beatsOut) GetInfo(ctx context.Context) activity.Info {
	info := o.Next.GetInfo(ctx)
	info.Attempt = o.world.attempt
	return info
}

func (o *beatsOut) RecordHeartbeat(_ context.Context, details ...any) {
	raw, err := json.Marshal(details[0])
	o.world.mu.Lock()
	defer o.world.mu.Unlock()
	if err == nil {
		o.world.details = raw
	}
}

func (o *beatsOut) HasHeartbeatDetails(context.Context) bool { return o.world.details != nil }

func (o *beatsOut) GetHeartbeatDetails(_ context.Context, d ...any) error {
	return json.Unmarshal(o.world.details, d[0])
}
