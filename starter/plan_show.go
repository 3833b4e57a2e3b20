package main

import (
	"fmt"
	"strings"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/jedib0t/go-pretty/v6/text"
)

// planMark is how a plan marks an action.
type planMark struct {
	sign  string
	color text.Color
}

func marks() map[activities.PlanAction]planMark {
	return map[activities.PlanAction]planMark{
		activities.PlanCreate:  {"+", text.FgGreen},
		activities.PlanUpdate:  {"~", text.FgYellow},
		activities.PlanDelete:  {"-", text.FgRed},
		activities.PlanBlocked: {"!", text.FgYellow},
		activities.PlanError:   {"x", text.FgRed},
		activities.PlanNone:    {"=", text.FgCyan},
	}
}

// showPlan prints what is not simply in sync, and counts the rest; wide prints
// that too.
func (a *app) showPlan(o outline, wide bool) {
	said := false
	for _, c := range o.Resources {
		if c.quiet() && !wide {
			continue
		}
		said = true
		a.showChange(c)
	}
	if said {
		a.printf("\n")
	}
	a.printf("%s\n", o.summary())
}

// quiet reports whether there is nothing to say but that it is in sync.
func (c change) quiet() bool {
	return c.Action == activities.PlanNone && c.Severity == resource.SeverityNone && len(c.Differences) == 0
}

func (a *app) showChange(c change) {
	mark := marks()[c.Action]
	line := mark.sign + " " + described(c.ID) + "  " + c.words()
	if a.color {
		line = mark.color.EscapeSeq() + line + text.Reset.EscapeSeq()
	}
	a.printf("%s\n", line)
	for _, d := range c.Differences {
		a.printf("    %s: %s -> %s  (%s)\n", d.Path, d.Observed, d.Desired, d.Rule)
	}
	if c.More > 0 {
		a.printf("    and %s\n", count(c.More, "more difference"))
	}
	for _, path := range c.Drops {
		a.printf("    %s: the PUT takes it away, for the manifest does not state it\n", path)
	}
}

// words are what is planned, in short.
func (c change) words() string {
	switch c.Action {
	case activities.PlanCreate, activities.PlanUpdate:
		words := string(c.Action)
		if len(c.After) > 0 {
			words += ", after " + shortNames(c.After)
		}
		// What the verdict says of an update stands in its differences.
		if len(c.Differences) == 0 && c.Action == activities.PlanUpdate {
			words += ": " + c.Message
		}
		if c.Held != "" {
			words += "; held: " + c.Held
		}
		return words
	case activities.PlanBlocked:
		words := "blocked"
		if len(c.WaitingFor) > 0 {
			words += " by " + shortNames(c.WaitingFor)
		}
		return words + ": " + c.Message
	case activities.PlanNone:
		return "unchanged: " + c.Message
	case activities.PlanError:
		return fmt.Sprintf("error %s: %s", c.Reason, c.Message)
	}
	if c.Message != "" {
		return string(c.Action) + ": " + c.Message
	}
	return string(c.Action)
}

func shortNames(ids []resource.ID) string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = id.Short()
	}
	return strings.Join(names, ", ")
}

// summary is the last line.
func (o outline) summary() string {
	var parts []string
	for _, part := range []struct {
		action activities.PlanAction
		words  string
	}{
		{activities.PlanCreate, "to create"}, {activities.PlanUpdate, "to update"}, {activities.PlanDelete, "to delete"},
		{activities.PlanBlocked, "blocked"}, {activities.PlanError, "failed"},
	} {
		if n := o.Summary[part.action]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, part.words))
		}
	}
	same, left, unmanaged := 0, 0, 0
	for _, c := range o.Resources {
		switch {
		case c.Action != activities.PlanNone:
		case !c.quiet():
			left++
		default:
			same++
			if !c.Managed {
				unmanaged++
			}
		}
	}
	if left > 0 {
		parts = append(parts, fmt.Sprintf("%d left as is", left))
	}
	inSync := fmt.Sprintf("%d in sync", same)
	if unmanaged > 0 {
		inSync += fmt.Sprintf(" (%d not managed yet: apply takes over what is there)", unmanaged)
	}
	if len(o.Resources) == o.Summary[activities.PlanNone] {
		return "No changes: " + strings.Join(append(parts, inSync), ", ") + "."
	}
	return "Plan: " + strings.Join(append(parts, inSync), ", ") + "."
}
