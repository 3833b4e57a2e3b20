package activities

import (
	"context"
	"encoding/json"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
)

// attempts sets the attempt number of activities and the heartbeat details of the
// attempt before.
type attempts struct {
	interceptor.WorkerInterceptorBase
	world *world
}

func (a *attempts) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	in := &inbound{world: a.world}
	in.Next = next
	return in
}

type inbound struct {
	interceptor.ActivityInboundInterceptorBase
	world *world
}

func (i *inbound) Init(next interceptor.ActivityOutboundInterceptor) error {
	out := &outbound{world: i.world}
	out.Next = next
	return i.Next.Init(out)
}

type outbound struct {
	interceptor.ActivityOutboundInterceptorBase
	world *world
}

func (o *outbound) GetInfo(ctx context.Context) activity.Info {
	info := o.Next.GetInfo(ctx)
	info.Attempt = o.world.attempt
	return info
}

func (o *outbound) RecordHeartbeat(_ context.Context, details ...any) {
	raw, err := json.Marshal(details[0])
	o.world.mu.Lock()
	defer o.world.mu.Unlock()
	if err == nil {
		o.world.details, o.world.beats = raw, o.world.beats+1
	}
}

func (o *outbound) HasHeartbeatDetails(context.Context) bool { return o.world.details != nil }

func (o *outbound) GetHeartbeatDetails(_ context.Context, d ...any) error {
	return json.Unmarshal(o.world.details, d[0])
}
