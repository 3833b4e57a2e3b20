package fleet

import (
	"context"

	"github.com/armature-io/armature/workflows"
)

// ConfirmFreeze reads the freezes now and returns those that this worker honours in every
// write from then on: a write whose check is older looks at the list again (KnownFreeze).
func (f *Fleet) ConfirmFreeze(ctx context.Context) (workflows.ConfirmFreezeResult, error) {
	list, err := f.freezes.reads.after(ctx)
	if err != nil {
		return workflows.ConfirmFreezeResult{}, err
	}
	f.freezes.mu.Lock()
	defer f.freezes.mu.Unlock()
	result := workflows.ConfirmFreezeResult{Frozen: list}
	if start := f.freezes.start; start != nil {
		result.Frozen = append([]workflows.Freeze{*start}, list...)
	}
	return result, nil
}
