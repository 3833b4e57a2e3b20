package workflows

import (
	"fmt"
	"slices"
	"strings"

	"go.temporal.io/sdk/workflow"

	"github.com/armature-io/armature/internal/text"
)

// Bounds of the page: how many of the last decisions it lists, and of the resources
// that the workflow waits for.
const (
	maxShownDecisions = 8
	maxShownWaiting   = 8
)

// describe writes the page that the Web UI shows as current details. It shows what an
// operator on call needs first: the condition, what the workflow waits for and since
// when, the next try, the last differences, and the last decisions, newest first as in
// the timeline.
func (r *reconciler) describe(ctx workflow.Context) {
	s := r.state
	if s.Desired == nil {
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**: %s\n\n| what | value |\n|---|---|\n", s.Phase, plain(s.Condition.Message))
	fmt.Fprintf(&b, "| reason | %s since %s |\n", plain(string(s.Condition.Reason)), text.Time(s.Condition.LastTransitionTime))
	if origin := s.Condition.Origin; origin != "" {
		fmt.Fprintf(&b, "| decided by | %s |\n", plain(origin))
	}
	for i, id := range s.Wait.For {
		if i == maxShownWaiting {
			fmt.Fprintf(&b, "| | and %d more |\n", len(s.Wait.For)-i)
			break
		}
		fmt.Fprintf(&b, "| waiting for | %s (%s) since %s |\n", plain(id.Short()), plain(id.Type()), text.Time(s.Wait.Since))
	}
	if s.Operation.Method != "" {
		fmt.Fprintf(&b, "| operation | %s since %s |\n", plain(s.Operation.Method), text.Time(s.Operation.Since))
	}
	if next := s.nextTry(); !next.IsZero() {
		fmt.Fprintf(&b, "| next try | %s |\n", text.Time(next))
	}
	fmt.Fprintf(&b, "| generation | %d, pass %d |\n", s.Generation, s.Pass)
	fmt.Fprintf(&b, "| resource | %s |\n| type | %s@%s |\n", plain(s.Desired.ID.String()), plain(s.Desired.ID.Type()), plain(s.Desired.APIVersion))
	if len(s.Differences) > 0 {
		fmt.Fprintf(&b, "\nLast differences (%s):\n\n| path | observed | desired |\n|---|---|---|\n", text.Time(s.DifferencesAt))
		for _, d := range s.Differences {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", plain(d.Path), plain(d.Observed), plain(d.Desired))
		}
	}
	b.WriteString("\nLast decisions, newest first:\n\n")
	for _, d := range slices.Backward(s.Decisions[max(0, len(s.Decisions)-maxShownDecisions):]) {
		fmt.Fprintf(&b, "- %s pass %d %s: %s%s\n", text.Time(d.At), d.Pass, plain(strings.TrimSpace(d.Step+" "+string(d.Action)+" "+string(d.Reason))), plain(d.Message), originText(d.Origin)+repetitions(d.Count))
	}
	workflow.SetCurrentDetails(ctx, b.String())
}

// originText returns " (by rule busy (busy.yaml:4))" for a decision of an extension, or "".
// It has no brackets, because another parenthesis may follow: that would be a link.
func originText(origin string) string {
	if origin == "" {
		return ""
	}
	return " (by " + plain(origin) + ")"
}

// repetitions returns " (3 times)" for a repeated decision, or "".
func repetitions(count int) string {
	if count < 2 {
		return ""
	}
	return fmt.Sprintf(" (%d times)", count)
}
