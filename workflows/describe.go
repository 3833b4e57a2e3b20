package workflows

import (
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/workflow"
)

// Bounds of the Web UI's page: how many of the last decisions it lists, and of
// the resources that are waited for.
const (
	decisionsShown = 8
	waitingShown   = 8
)

// describe writes the page that the Web UI shows as current details: condition,
// waiting for whom since when, next try, last differences, last decisions.
func (r *reconciler) describe(ctx workflow.Context) {
	s := &r.state
	if s.Desired == nil {
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** %s\n\n", s.Phase, plain(s.Condition.Message))
	fmt.Fprintf(&b, "| what | value |\n|---|---|\n| resource | %s |\n| type | %s@%s |\n", plain(s.Desired.ID.String()), s.Desired.ID.Type(), s.Desired.APIVersion)
	fmt.Fprintf(&b, "| reason | %s since %s |\n| generation | %d, pass %d |\n", s.Condition.Reason, stamp(s.Condition.LastTransitionTime), s.Generation, s.Pass)
	for i, id := range s.WaitingFor {
		if i == waitingShown {
			fmt.Fprintf(&b, "| | and %d more |\n", len(s.WaitingFor)-i)
			break
		}
		fmt.Fprintf(&b, "| waits for | %s since %s |\n", plain(id.Short()), stamp(s.WaitingSince))
	}
	if s.Operation != "" {
		fmt.Fprintf(&b, "| operation | %s since %s |\n", s.Operation, stamp(s.OperationSince))
	}
	if next := s.nextTry(); !next.IsZero() {
		fmt.Fprintf(&b, "| next try | %s |\n", stamp(next))
	}
	if len(s.Differences) > 0 {
		fmt.Fprintf(&b, "\nLast differences (%s):\n\n| path | observed | desired |\n|---|---|---|\n", stamp(s.DifferencesAt))
		for _, d := range s.Differences {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", plain(d.Path), plain(d.Observed), plain(d.Desired))
		}
	}
	b.WriteString("\nLast decisions:\n\n")
	for _, d := range s.Decisions[max(0, len(s.Decisions)-decisionsShown):] {
		fmt.Fprintf(&b, "- %s pass %d %s: %s%s\n", stamp(d.At), d.Pass, strings.TrimSpace(d.Step+" "+string(d.Action)+" "+string(d.Reason)), plain(d.Message), times(d.Count))
	}
	workflow.SetCurrentDetails(ctx, b.String())
}

// stamp is a time to the second, in UTC.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

// times tells how often a decision was repeated.
func times(count int) string {
	if count < 2 {
		return ""
	}
	return fmt.Sprintf(" (%d times)", count)
}

// plain keeps a text of somebody else from being read as Markdown.
func plain(text string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ", "*", "\\*", "_", "\\_", "`", "'", "<", "&lt;", "[", "\\[").Replace(text)
}
