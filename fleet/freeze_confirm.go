package fleet

import (
	"context"
	"time"

	"github.com/armature-io/armature/workflows"
)

// ConfirmFreeze reads the freezes now and returns those that this worker honours in every
// write that has not passed its check yet.
func (f *Fleet) ConfirmFreeze(ctx context.Context) (workflows.ConfirmFreezeResult, error) {
	f.freezes.mu.Lock()
	defer f.freezes.mu.Unlock()
	list, err := f.readFreezes(ctx)
	if err != nil {
		return workflows.ConfirmFreezeResult{}, err
	}
	now := time.Now()
	f.freezes.list, f.freezes.received, f.freezes.attempted = list, now, now
	result := workflows.ConfirmFreezeResult{Frozen: list}
	if start := f.freezes.start; start != nil {
		result.Frozen = append([]workflows.Freeze{*start}, list...)
	}
	return result, nil
}
