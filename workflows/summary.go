package workflows

import (
	"strings"
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
	// RetryWithin is the longest time to the next try of a resource that is not Ready; 0 if
	// only a message starts a pass. The time of the try would change with each pass.
	RetryWithin time.Duration `json:"retryWithin,omitempty"`
	Paused      bool          `json:"paused,omitempty"`
	Deleting    bool          `json:"deleting,omitempty"`
	Overdue     bool          `json:"overdue,omitempty"`
	// LastWrite is zero if the workflow has written nothing.
	LastWrite WriteNote `json:"lastWrite,omitzero"`
}

// summary returns the state for lists.
func (s *State) summary() Summary {
	summary := Summary{
		Phase: s.Phase, Condition: s.Condition, Generation: s.Generation,
		Paused: s.Paused, Deleting: s.Deletion != nil, Overdue: s.Retry.Overdue, LastWrite: s.Write.Note,
	}
	// The values and the age of a reading would be wrong, and others after each pass.
	message := strings.TrimSuffix(s.Condition.Message, " ("+s.Freshness+")")
	summary.Condition.Message = text.Cut(message, maxSummaryMessage)
	if !s.Condition.Ready && !s.nextTry().IsZero() {
		summary.RetryWithin = s.Retry.Within
	}
	return summary
}

// Equal compares two summaries; a time that continue-as-new carried may have another
// location.
func (s Summary) Equal(other Summary) bool {
	same := s.Condition.LastTransitionTime.Equal(other.Condition.LastTransitionTime) && s.LastWrite.equal(other.LastWrite)
	other.Condition.LastTransitionTime, other.LastWrite = s.Condition.LastTransitionTime, s.LastWrite
	return same && s == other
}

// summarizeState writes the summary if it changed. Search attributes suffice for a new resource
// that waits for its turn, usually for seconds.
func (r *reconciler) summarizeState(ctx workflow.Context) {
	if r.state.Desired == nil {
		return
	}
	if known, _ := workflow.GetTypedSearchAttributes(ctx).GetKeyword(armName); known == "" {
		r.upsertAttributes(ctx, armName.ValueSet(nameKeyword(r.state.Desired.ID)))
	}
	summary := r.state.summary()
	switch known := r.state.Summary; {
	case known == nil && summary.Condition.Reason == resource.ReasonWaitingForSibling:
		return
	case known != nil && known.Equal(summary):
		return
	}
	r.state.Summary = &summary
	writeMemo(ctx, map[string]any{MemoSummary: summary})
}

// upsertAttributes writes search attributes.
func (r *reconciler) upsertAttributes(ctx workflow.Context, updates ...temporal.SearchAttributeUpdate) {
	logFailure(ctx, "upsert search attributes", workflow.UpsertTypedSearchAttributes(ctx, updates...))
}
