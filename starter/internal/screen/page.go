package screen

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
)

// Bounds of a page, so that it fits on a screen.
const (
	maxDecisions   = 8
	maxDifferences = 8
	maxWaiting     = 4
	maxLineRunes   = 160
	labelWidth     = 13
)

// page is the text about one resource.
type page struct {
	Painter
	view backend.View
	// wide shortens nothing.
	wide bool
	text strings.Builder
}

// Page returns everything about one resource; wide shortens nothing.
func (p Painter) Page(v backend.View, workflowID, namespace string, wide bool) string {
	d := page{Painter: p, view: v, wide: wide}
	fmt.Fprintf(&d.text, "%s  %s@%s\n%s\n\n", cli.OneLine(v.DisplayName()), v.ID.Type(), v.APIVersion, v.ID)
	d.condition()
	d.waiting()
	d.nextTry()
	if v.Operation != "" {
		d.line("Operation", "%s in Azure, since %s", v.Operation, d.timestamp(v.OperationSince))
	}
	d.spec()
	d.differences()
	if len(v.Kept) > 0 {
		d.line("Azure keeps", "%s (Azure's value differs from the manifest and is accepted; reconcile --drop-baseline writes the manifest's value again)", strings.Join(v.Kept, ", "))
	}
	if len(v.Owned) > 0 {
		owned := make([]string, len(v.Owned))
		for i, text := range v.Owned {
			owned[i] = cli.OneLine(text)
		}
		d.line("Kept", "%s", strings.Join(owned, "\n"))
	}
	if len(v.Foreign) > 0 {
		d.line("Not stated", "%s (no manifest contains them; set or removed since the last PUT)", cli.OneLine(strings.Join(v.Foreign, ", ")))
	}
	if len(v.Unverified) > 0 {
		d.line("Not verified", "%s (no request shows these values of the manifest, or the worker may not send it; drift of them is not seen)", strings.Join(v.Unverified, ", "))
	}
	d.exports()
	d.decisions()
	if v.Checks != "" {
		d.line("Checks", "%s (fingerprint of the links and rules of its last pass)", cli.OneLine(v.Checks))
	}
	d.line("Web UI", "/namespaces/%s/workflows/%s", namespace, url.PathEscape(workflowID))
	return d.text.String()
}

// limit returns a bound of the page, none if it is wide.
func (d *page) limit(bound int) int {
	if d.wide {
		return math.MaxInt
	}
	return bound
}

// line writes a value behind its label; further lines of the value are indented.
func (d *page) line(label, format string, args ...any) {
	value := fmt.Sprintf(format, args...)
	for i, line := range strings.Split(strings.TrimRight(value, "\n"), "\n") {
		if i > 0 {
			label = ""
		}
		fmt.Fprintf(&d.text, "%-*s%s\n", labelWidth, label, line)
	}
}

// timestamp returns a time and its age.
func (d *page) timestamp(t time.Time) string {
	return fmt.Sprintf("%s (%s ago)", cli.Clock(t, d.Now), cli.Ago(t, d.Now))
}

func (d *page) condition() {
	v := d.view
	line := "False"
	if v.Condition.Ready {
		line = "True"
	}
	for _, part := range []string{string(v.Condition.Severity), string(v.Condition.Reason)} {
		if part != "" {
			line += "  " + cli.OneLine(part)
		}
	}
	if !v.Condition.LastTransitionTime.IsZero() {
		line += "  since " + d.timestamp(v.Condition.LastTransitionTime)
	}
	d.line("Ready", "%s", d.paint(line, v))
	if v.Condition.Message != "" {
		d.line("", "%s", cli.OneLine(v.Condition.Message))
	}
	if v.Condition.Origin != "" {
		d.line("Decided by", "%s", cli.OneLine(v.Condition.Origin))
	}
	phase := d.phase(v)
	switch {
	case v.IsDetached():
		phase += "  it still exists in Azure and is no longer managed"
	case v.Unmanaged:
		phase += "  its workflow ended: " + v.Ended + "; it is no longer managed"
	case v.Deleting:
		phase += "  deletion requested; the workflow ends with it"
	case v.Paused:
		phase += "  no step starts until `armature resume " + v.DisplayName() + "`"
	}
	d.line("Phase", "%s", phase)
	if v.Record.StuckStep != "" && !v.Unmanaged {
		d.line("Step", "%s", v.Record.StuckStep)
		d.line("", "%s", v.Record.StuckAdvice())
	}
	if v.Overdue && !v.Unmanaged {
		d.line("Overdue", "not Ready since %s", d.timestamp(v.NotReadySince))
	}
	if !v.Stale || v.Unmanaged {
		return
	}
	taskQueue := cmp.Or(v.Record.TaskQueue, d.TaskQueue)
	switch {
	case v.Record.Unreadable != "":
		d.line("Unreadable", "%s", cli.OneLine(v.Record.Unreadable))
	case v.Record.Stuck != "":
		d.line("Worker", "%s", v.Record.StuckText(taskQueue))
	case !v.Record.StepSince.IsZero():
		d.line("Worker", "runs a step since %s and responds after it; the status is from before", d.timestamp(v.Record.StepSince))
	default:
		d.line("Worker", "no worker responds on task queue %s", taskQueue)
	}
}

func (d *page) waiting() {
	v := d.view
	if v.Unmanaged {
		return
	}
	for i, id := range v.WaitingFor {
		label := ""
		if i == 0 {
			label = "Waiting for"
		}
		if i == d.limit(maxWaiting) {
			d.more(len(v.WaitingFor) - i)
			break
		}
		line := cli.KindAndName(id)
		if !v.WaitingSince.IsZero() {
			line += "  since " + d.timestamp(v.WaitingSince)
		}
		d.line(label, "%s\n  %s", line, id)
	}
	if len(v.WaitingFor) > 0 {
		d.line("", "`armature why %s` shows the root cause", v.DisplayName())
	}
}

// more writes how many entries a list has left, and the command that shows them.
func (d *page) more(n int) {
	d.line("", "… and %d more: `armature get %s -o yaml`", n, d.view.DisplayName())
}

func (d *page) nextTry() {
	v := d.view
	switch {
	case v.Stale || v.Unmanaged:
	case v.Paused && !v.Deleting:
		d.line("Next try", "after `armature resume`")
	case v.Operation != "":
		d.line("Next try", "when the operation ends")
	case v.NextTry.IsZero():
		line := "only after apply, reconcile or resume"
		if len(v.WaitingFor) > 0 {
			line += ", or when what it waits for changes"
		}
		d.line("Next try", "%s", line)
	default:
		line := cli.In(v.NextTry, d.Now) + " (" + cli.Clock(v.NextTry, d.Now) + ")"
		if v.Attempts > 0 {
			line += fmt.Sprintf("; tried %s so far", cli.Count(v.Attempts, "time"))
		}
		if v.Phase == workflows.PhaseFailed && len(v.WaitingFor) > 0 {
			line += "; at once when what it waits for changes"
		}
		if !v.Condition.Ready {
			line += "\nnow with `armature reconcile " + v.DisplayName() + "`"
		}
		d.line("Next try", "%s", line)
	}
}

func (d *page) spec() {
	v := d.view
	if !v.Owner.IsZero() {
		d.line("Owner", "%s", v.Owner)
	}
	d.needs()
	if v.Stale {
		return
	}
	generation := fmt.Sprintf("%d, pass %d", v.Generation, v.Pass)
	if v.Condition.ObservedGeneration != v.Generation {
		generation += fmt.Sprintf("; the condition is of generation %d", v.Condition.ObservedGeneration)
	}
	d.line("Generation", "%s", generation)
	policy := string(v.Policy)
	if v.Unmanaged {
		policy += ", no longer checked"
	} else if v.Interval > 0 {
		policy += ", checked every " + cli.Span(v.Interval)
	} else {
		policy += ", checked only after apply, reconcile or resume"
	}
	d.line("Policy", "%s", policy)
	if v.Credential != "" {
		d.line("Credential", "%s", v.Credential)
	}
	if len(v.Labels) > 0 {
		labels := make([]string, 0, len(v.Labels))
		for key, value := range v.Labels {
			labels = append(labels, key+"="+value)
		}
		slices.Sort(labels)
		d.line("Labels", "%s", strings.Join(labels, ","))
	}
}

// needs writes the dependencies except the owner.
func (d *page) needs() {
	others := slices.DeleteFunc(slices.Clone(d.view.Needs), d.view.Owner.Equal)
	label := "Needs"
	for i, id := range others {
		if i == d.limit(maxWaiting) {
			d.more(len(others) - i)
			return
		}
		d.line(label, "%s", id)
		label = ""
	}
}

func (d *page) differences() {
	v := d.view
	if len(v.Differences) == 0 {
		return
	}
	title := "observed -> desired"
	if v.Condition.Ready {
		title = "resolved since; " + title
	}
	d.line("Differences", "as of %s, %s", d.timestamp(v.DifferencesAt), title)
	for i, difference := range v.Differences {
		if i == d.limit(maxDifferences) {
			d.more(len(v.Differences) - i)
			break
		}
		d.line("", "  %s", cli.Cut(differenceText(difference), d.limit(maxLineRunes)))
	}
}

// differenceText returns "path: observed -> desired".
func differenceText(d resource.Difference) string {
	return text.Visible(d.Path + ": " + cmp.Or(d.Observed, "(absent)") + " -> " + cmp.Or(d.Desired, "(absent)"))
}

func (d *page) decisions() {
	decisions := d.view.Decisions
	if len(decisions) == 0 {
		return
	}
	d.line("Decisions", "the most recent, newest last")
	for _, decision := range decisions[max(0, len(decisions)-d.limit(maxDecisions)):] {
		d.line("", "  %s", cli.Cut(d.decision(decision), d.limit(maxLineRunes)))
	}
}

func (d *page) decision(decision workflows.Decision) string {
	parts := []string{cli.Clock(decision.At, d.Now), fmt.Sprintf("pass %d", decision.Pass), decision.Step}
	for _, part := range []string{string(decision.Action), string(decision.Reason)} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	line := strings.Join(parts, " ")
	if decision.Message != "" {
		line += ": " + decision.Message
	}
	if decision.Origin != "" {
		line += " [" + decision.Origin + "]"
	}
	if decision.Count > 1 {
		line += fmt.Sprintf(" (%d times)", decision.Count)
	}
	return line
}
