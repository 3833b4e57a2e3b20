package workflows

import (
	"time"

	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// MemoSummary is the key of the Summary in the memo.
const MemoSummary = "summary"

// maxSummaryMessage bounds the message in a Summary, in characters: a line of a list.
const maxSummaryMessage = 300

// Summary is what lists show of a resource without asking its workflow. The memo has it,
// as of the last time that the workflow began to wait: while a pass runs, the search
// attributes are newer.
type Summary struct {
	Phase      Phase              `json:"phase"`
	Condition  resource.Condition `json:"condition"`
	Generation int64              `json:"generation"`
	// NextTry is set while the resource is not Ready: the routine looks at a Ready one
	// would write the memo in each pass.
	NextTry  time.Time `json:"nextTry,omitzero"`
	Paused   bool      `json:"paused,omitempty"`
	Deleting bool      `json:"deleting,omitempty"`
	Overdue  bool      `json:"overdue,omitempty"`
}

// summary returns the state for lists.
func (s *State) summary() Summary {
	summary := Summary{
		Phase: s.Phase, Condition: s.Condition, Generation: s.Generation,
		Paused: s.Paused, Deleting: s.Deletion != nil, Overdue: s.Retry.Overdue,
	}
	summary.Condition.Message = text.Cut(s.Condition.Message, maxSummaryMessage)
	if !s.Condition.Ready {
		summary.NextTry = s.nextTry()
	}
	return summary
}

// equal compares two summaries; a time that continue-as-new carried may have another
// location.
func (s Summary) equal(other Summary) bool {
	times := s.NextTry.Equal(other.NextTry) && s.Condition.LastTransitionTime.Equal(other.Condition.LastTransitionTime)
	other.NextTry, other.Condition.LastTransitionTime = s.NextTry, s.Condition.LastTransitionTime
	return times && s == other
}

// summarizeState writes the summary if it changed.
func (r *reconciler) summarizeState(ctx workflow.Context) {
	if r.state.Desired == nil {
		return
	}
	if known, _ := workflow.GetTypedSearchAttributes(ctx).GetKeyword(armName); known == "" {
		r.upsertAttributes(ctx, armName.ValueSet(nameKeyword(r.state.Desired.ID)))
	}
	summary := r.state.summary()
	if r.state.Summary != nil && r.state.Summary.equal(summary) {
		return
	}
	r.state.Summary = &summary
	if err := workflow.UpsertMemo(ctx, map[string]any{MemoSummary: summary}); err != nil {
		workflow.GetLogger(ctx).Error("write the summary", "error", err)
	}
}

// upsertAttributes writes search attributes.
func (r *reconciler) upsertAttributes(ctx workflow.Context, updates ...temporal.SearchAttributeUpdate) {
	if err := workflow.UpsertTypedSearchAttributes(ctx, updates...); err != nil {
		workflow.GetLogger(ctx).Error("upsert search attributes", "error", err)
	}
}
