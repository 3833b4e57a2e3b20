package workflows_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/temporal"

	"github.com/armature-io/armature/workflows"
)

// TestAttributesOfAChange checks that a new owner is written for lists, and that the time of the
// phase follows the phase alone.
func TestAttributesOfAChange(t *testing.T) {
	r := newRun(t)
	owner := temporal.NewSearchAttributeKeyKeyword("ArmOwner")
	phase, since := temporal.NewSearchAttributeKeyKeyword("ReconcilePhase"), temporal.NewSearchAttributeKeyTime("ReconcileSince")
	var owners []string
	phases := 0
	r.OnUpsertTypedSearchAttributes(mock.Anything).Return(nil).Run(func(args mock.Arguments) {
		written := args.Get(0).(temporal.SearchAttributes)
		if value, ok := written.GetKeyword(owner); ok {
			owners = append(owners, value)
		}
		changed, at := written.ContainsKey(phase), written.ContainsKey(since)
		if changed {
			phases++
		}
		if changed != at {
			t.Errorf("wrote %v: the time of the phase is written: %t", written.GetUntypedValues(), at)
		}
	})
	spec := desired()
	spec.Owner = mustID(vnetText)
	r.apply(desired())
	r.at(10*time.Second, workflows.ApplyUpdate, workflows.ApplyInput{Desired: spec})
	r.start(20 * time.Second)
	if want := []string{spec.Owner.WorkflowID()}; !slices.Equal(owners, want) || phases == 0 {
		t.Errorf("ArmOwner was written as %v, want %v; %d phases", owners, want, phases)
	}
}
