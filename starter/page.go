package main

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Bounds of the page, so that it stays one screen.
const (
	decisionsShown   = 8
	differencesShown = 8
	waitingShown     = 4
	labelWidth       = 13
	lineMax          = 160
)

// page is the text of describe for one resource.
type page struct {
	view       view
	workflowID string
	namespace  string
	now        time.Time
	app        *app
	// wide cuts nothing off.
	wide bool
	text strings.Builder
}

func (p *page) render() string {
	v := p.view
	fmt.Fprintf(&p.text, "%s  %s@%s\n%s\n\n", v.called(), v.ID.Type(), v.APIVersion, v.ID)
	p.condition()
	p.waiting()
	p.operation()
	p.spec()
	p.differences()
	if kept := p.view.Kept; len(kept) > 0 {
		p.line("Azure keeps", "%s (another value than the manifest's, not fought; reconcile --drop-baseline writes it again)", strings.Join(kept, ", "))
	}
	p.decisions()
	p.line("Web UI", "/namespaces/%s/workflows/%s", p.namespace, url.PathEscape(p.workflowID))
	return p.text.String()
}

// most is a bound of the page, none where it is wide.
func (p *page) most(bound int) int {
	if p.wide {
		return math.MaxInt
	}
	return bound
}

// line writes one labeled line; further lines of the value are indented.
func (p *page) line(label, format string, args ...any) {
	value := fmt.Sprintf(format, args...)
	for i, text := range strings.Split(strings.TrimRight(value, "\n"), "\n") {
		if i > 0 {
			label = ""
		}
		fmt.Fprintf(&p.text, "%-*s%s\n", labelWidth, label, text)
	}
}

func (p *page) at(t time.Time) string {
	return fmt.Sprintf("%s (%s ago)", clock(t, p.now), span(p.now.Sub(t)))
}

func (p *page) condition() {
	v := p.view
	ready := "False"
	if v.Condition.Ready {
		ready = "True"
	}
	line := ready
	for _, word := range []string{string(v.Condition.Severity), string(v.Condition.Reason)} {
		if word != "" {
			line += "  " + word
		}
	}
	if !v.Condition.LastTransitionTime.IsZero() {
		line += "  since " + p.at(v.Condition.LastTransitionTime)
	}
	p.line("Ready", "%s", p.app.paint(line, v))
	if v.Condition.Message != "" {
		p.line("", "%s", visible(v.Condition.Message))
	}
	phase := p.app.phase(v)
	switch {
	case v.detached():
		phase += "  it stays in Azure; nothing is managed"
	case v.Gone:
		phase += "  its workflow ended: " + v.Ended + "; nothing is managed"
	case v.Deleting:
		phase += "  a deletion was asked for; the workflow ends with it"
	case v.Paused:
		phase += "  no step starts until `armature resume " + v.called() + "`"
	}
	p.line("Phase", "%s", phase)
	if v.Overdue && !v.Gone {
		p.line("Overdue", "not Ready since %s", p.at(v.NotReadySince))
	}
	p.worker()
}

// worker tells why the page is not from the workflow itself.
func (p *page) worker() {
	v := p.view
	queue := cmp.Or(v.known.TaskQueue, p.app.taskQueue)
	switch {
	case !v.Stale || v.Gone:
	case v.known.Stuck != "":
		p.line("Worker", "%s", v.known.stuckWords(queue))
	default:
		p.line("Worker", "none answers on task queue %s", queue)
	}
}

func (p *page) waiting() {
	v := p.view
	if v.Gone {
		return
	}
	for i, id := range v.WaitingFor {
		label := "Waiting for"
		if i > 0 {
			label = ""
		}
		if i == p.most(waitingShown) {
			p.line("", "… and %d more: `armature get %s -o yaml`", len(v.WaitingFor)-i, v.called())
			break
		}
		line := described(id)
		if !v.WaitingSince.IsZero() {
			line += "  since " + p.at(v.WaitingSince)
		}
		p.line(label, "%s\n  %s", line, id)
	}
	if len(v.WaitingFor) > 0 {
		p.line("", "down to the root with `armature why %s`", v.called())
	}
	switch {
	case v.Stale:
	case v.Paused && !v.Deleting:
		p.line("Next try", "after `armature resume`")
	case v.Operation != "":
		p.line("Next try", "when the operation ends")
	case v.NextTry.IsZero():
		p.line("Next try", "only on a message: apply, reconcile or resume")
	default:
		line := until(v.NextTry, p.now) + " (" + clock(v.NextTry, p.now) + ")"
		if v.Attempts > 0 {
			line += fmt.Sprintf("; tried %s so far", count(v.Attempts, "time"))
		}
		if !v.Condition.Ready {
			line += "\nat once with `armature reconcile " + v.called() + "`"
		}
		p.line("Next try", "%s", line)
	}
}

func (p *page) operation() {
	if p.view.Operation == "" {
		return
	}
	p.line("Operation", "%s in Azure, since %s", p.view.Operation, p.at(p.view.OperationSince))
}

func (p *page) spec() {
	v := p.view
	if !v.Owner.IsZero() {
		p.line("Owner", "%s", v.Owner)
	}
	p.needs()
	if v.Stale {
		return
	}
	generation := fmt.Sprintf("%d, pass %d", v.Generation, v.Pass)
	if v.Condition.ObservedGeneration != v.Generation {
		generation += fmt.Sprintf("; the condition speaks of generation %d", v.Condition.ObservedGeneration)
	}
	p.line("Generation", "%s", generation)
	policy := string(v.Policy)
	if v.Gone {
		policy += ", not checked any more"
	} else if v.Interval > 0 {
		policy += ", checked every " + span(v.Interval)
	} else {
		policy += ", checked only on a message"
	}
	p.line("Policy", "%s", policy)
	if v.Credential != "" {
		p.line("Credential", "%s", v.Credential)
	}
	if len(v.Labels) > 0 {
		labels := make([]string, 0, len(v.Labels))
		for key, value := range v.Labels {
			labels = append(labels, key+"="+value)
		}
		slices.Sort(labels)
		p.line("Labels", "%s", strings.Join(labels, ","))
	}
}

// needs are the dependencies beside the owner.
func (p *page) needs() {
	others := slices.DeleteFunc(slices.Clone(p.view.Needs), p.view.Owner.Equal)
	label := "Needs"
	for i, id := range others {
		if i == p.most(waitingShown) {
			p.line("", "… and %d more: `armature get %s -o yaml`", len(others)-i, p.view.called())
			return
		}
		p.line(label, "%s", id)
		label = ""
	}
}
