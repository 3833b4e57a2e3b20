package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/armature-io/armature/workflows"
)

// rootsShown bounds the last lines of an answer: beyond, nobody acts on them
// one by one.
const rootsShown = 4

func (a *app) printChain(r reasoned, wide bool) {
	a.printf("%s\n", a.linkText(r.link, lineMax*4, wide))
	a.printCauses(r.link, "", wide)
	if r.Clear {
		a.printf("nothing is in the way of %s\n", described(r.ID))
	}
	for i, root := range r.Roots {
		if i == rootsShown && !wide {
			a.printf("root: … and %d more\n", len(r.Roots)-i)
			break
		}
		a.printf("root: %s\n", root.Text)
	}
}

// printCauses draws what a link waits for, as branches.
func (a *app) printCauses(l *link, indent string, wide bool) {
	for i, next := range l.WaitsFor {
		last := i == len(l.WaitsFor)-1 && l.More == 0
		branch, below := "├ ", "│ "
		if last {
			branch, below = "└ ", "  "
		}
		length := lineMax
		if len(next.WaitsFor) == 0 {
			length = 4 * lineMax
		}
		a.printf("%s%s%s%s\n", indent, branch, l.verb(), a.linkText(next, length, wide))
		a.printCauses(next, indent+below, wide)
	}
	if l.More > 0 {
		a.printf("%s└ %s%d more\n", indent, l.verb(), l.More)
	}
}

// linkText is one line of a chain, its message cut to a length unless wide.
func (a *app) linkText(l *link, length int, wide bool) string {
	switch {
	case len(l.Cycle) > 0:
		return described(l.ID) + ": a cycle"
	case l.Cut != "":
		return described(l.ID) + "  " + l.Cut
	}
	text := described(l.ID) + "  " + a.standing(l)
	words := reasonAnd(string(l.Reason), l.Message)
	if l.Stale {
		// The reason is the last that was written; the message is about the worker.
		words = l.Message
	}
	if l.Saw != "" {
		words = strings.TrimPrefix(words+"; "+l.waiter+" saw: "+l.Saw, "; ")
	}
	if wide {
		length = math.MaxInt
	}
	if words = cut(words, length); words != "" {
		text += "  " + words
	}
	if !l.NextTry.IsZero() {
		text += "; next look " + until(l.NextTry, a.now())
	}
	return text
}

// standing is the state and since when.
func (a *app) standing(l *link) string {
	now := a.now()
	text := l.State
	if !l.Since.IsZero() {
		text += " since " + clock(l.Since, now) + " (" + span(now.Sub(l.Since)) + ")"
	}
	if l.Overdue {
		text += ", overdue: not Ready for " + span(now.Sub(l.NotReadySince))
	}
	return text
}

// reasonAnd is "Reason: message", or the one of both that there is.
func reasonAnd(reason, message string) string {
	if reason == "" || message == "" {
		return reason + message
	}
	return reason + ": " + message
}

// rootText is the sentence about a root: what it is and what to do. between
// stands between its name and its state.
func (a *app) rootText(l *link, between string) string {
	if len(l.Cycle) > 0 {
		return ring(l)
	}
	if between == " " && (l.State == stateNotManaged || l.State == stateDeleted || l.State == stateEnded) {
		between = " is "
	}
	text := described(l.ID) + between + a.standing(l)
	switch paused := l.State == string(workflows.PhasePaused); {
	case l.Reason != "" && paused:
	case l.Reason != "" && !l.Stale:
		text += " (" + string(l.Reason) + ")"
	case l.Message != "":
		text += ", " + cut(l.Message, lineMax)
	}
	if l.Alike > 0 {
		text += fmt.Sprintf(", nor %d more", l.Alike)
	}
	if l.Saw != "" {
		text += ", and " + l.waiter + " saw: " + cut(l.Saw, lineMax)
	}
	if !l.NextTry.IsZero() {
		text += ", next look " + until(l.NextTry, a.now())
	}
	if l.Todo != "" {
		text += "; " + l.Todo
	}
	return text
}

// ring is the sentence about resources that wait for each other.
func ring(l *link) string {
	text, way := "", "take one of these references out of its manifest and apply it"
	for i, name := range l.Cycle {
		if i > 0 {
			text += ", "
		}
		text += name + " waits for " + l.Cycle[(i+1)%len(l.Cycle)]
	}
	if l.deleting {
		// Nobody may apply to what is being deleted.
		way = "cancel the workflow of one in Temporal, which leaves it in Azure, and delete it there"
	}
	if len(l.Cycle) == 1 {
		return strings.Replace(text, " waits for "+l.Cycle[0], " waits for itself", 1) + "; take the reference out of its manifest and apply it"
	}
	return "a cycle: " + text + "; " + way
}
