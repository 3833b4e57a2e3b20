package workflows

import (
	"fmt"
	"slices"
	"strings"

	"go.temporal.io/sdk/workflow"

	"github.com/armature-io/armature/internal/text"
)

// Bounds of the Web UI's page: how many of the last decisions it lists, and of
// the resources that are waited for.
const (
	decisionsShown = 8
	waitingShown   = 8
)

// describe writes the page that the Web UI shows as current details, what
// somebody on call asks first: condition, waiting for whom since when, next try,
// last differences, last decisions (the newest first, as in the timeline).
func (r *reconciler) describe(ctx workflow.Context) {
	s := r.state
	if s.Desired == nil {
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**: %s\n\n| what | value |\n|---|---|\n", s.Phase, plain(s.Condition.Message))
	fmt.Fprintf(&b, "| reason | %s since %s |\n", s.Condition.Reason, text.Time(s.Condition.LastTransitionTime))
	for i, id := range s.WaitingFor {
		if i == waitingShown {
			fmt.Fprintf(&b, "| | and %d more |\n", len(s.WaitingFor)-i)
			break
		}
		fmt.Fprintf(&b, "| waits for | %s (%s) since %s |\n", plain(id.Short()), plain(id.Type()), text.Time(s.WaitingSince))
	}
	if s.Operation != "" {
		fmt.Fprintf(&b, "| operation | %s since %s |\n", s.Operation, text.Time(s.OperationSince))
	}
	if next := s.nextTry(); !next.IsZero() {
		fmt.Fprintf(&b, "| next try | %s |\n", text.Time(next))
	}
	fmt.Fprintf(&b, "| generation | %d, pass %d |\n", s.Generation, s.Pass)
	fmt.Fprintf(&b, "| resource | %s |\n| type | %s@%s |\n", plain(s.Desired.ID.String()), s.Desired.ID.Type(), s.Desired.APIVersion)
	if len(s.Differences) > 0 {
		fmt.Fprintf(&b, "\nLast differences (%s):\n\n| path | observed | desired |\n|---|---|---|\n", text.Time(s.DifferencesAt))
		for _, d := range s.Differences {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", plain(d.Path), plain(d.Observed), plain(d.Desired))
		}
	}
	b.WriteString("\nLast decisions, the newest first:\n\n")
	for _, d := range slices.Backward(s.Decisions[max(0, len(s.Decisions)-decisionsShown):]) {
		fmt.Fprintf(&b, "- %s pass %d %s: %s%s\n", text.Time(d.At), d.Pass, strings.TrimSpace(d.Step+" "+string(d.Action)+" "+string(d.Reason)), plain(d.Message), times(d.Count))
	}
	workflow.SetCurrentDetails(ctx, b.String())
}

// times tells how often a decision was repeated.
func times(count int) string {
	if count < 2 {
		return ""
	}
	return fmt.Sprintf(" (%d times)", count)
}

// markdown is what a text of somebody else must not say to Markdown. It is built
// once: a page has dozens of such texts.
var markdown = strings.NewReplacer("|", "\\|", "\n", " ", "*", "\\*", "_", "\\_", "`", "'", "<", "&lt;", "[", "\\[")

// plain keeps a text of somebody else from being read as Markdown.
func plain(text string) string { return markdown.Replace(text) }
