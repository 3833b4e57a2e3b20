package page

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
)

// Bounds of the changes: of the last ones, and of those since a time.
const (
	maxLastChanges  = 12
	maxSinceChanges = 200
)

// evening is the begin of the changes that a morning looks at, in UTC.
const evening = "18:00"

// Changes are resources that changed, the newest change first.
type Changes struct {
	// Since is the begin, zero for the last changes.
	Since   time.Time
	Choices []Choice
	List    []Change
	More    int
	// Problem is why deletions may be missing, "" if they are not.
	Problem string
}

// Change is a resource that was written, or whose state changed.
type Change struct {
	Ref
	At     time.Time
	Reason string
	// Write is the last write in words, "" if it is not known or before Changes.Since.
	Write   string
	WriteAt time.Time
}

// parseSince is backend.ParseSince with a time of day: the last time that it was so late in UTC.
func parseSince(stated string, now time.Time) (time.Time, error) {
	clock, err := time.Parse("15:04", stated)
	if err != nil {
		return backend.ParseSince(stated, now)
	}
	now = now.UTC()
	at := time.Date(now.Year(), now.Month(), now.Day(), clock.Hour(), clock.Minute(), 0, 0, time.UTC)
	if at.After(now) {
		at = at.AddDate(0, 0, -1)
	}
	return at, nil
}

// newChanges returns the changes of views and of ended workflows.
func newChanges(views []backend.View, request overviewRequest) Changes {
	c := Changes{Since: request.from}
	if request.endedErr != nil {
		c.Problem = cli.OneLine(request.endedErr.Error())
	}
	for _, choice := range []Choice{
		{Link: Link{Text: "last", Href: ""}}, {Link: Link{Text: "1 hour", Href: "1h"}}, {Link: Link{Text: "since " + evening + "Z", Href: evening}},
		{Link: Link{Text: "24 hours", Href: "24h"}}, {Link: Link{Text: "7 days", Href: "168h"}},
	} {
		choice.Chosen = choice.Href == request.since
		choice.Href = request.href(request.by, choice.Href)
		c.Choices = append(c.Choices, choice)
	}
	running := map[string]bool{}
	for _, v := range views {
		running[v.Record.WorkflowID] = true
	}
	changed := slices.Clone(views)
	for _, r := range request.ended {
		if v := backend.ListedView(r); !running[r.WorkflowID] && request.chooses(v) {
			changed = append(changed, v)
		}
	}
	changed = slices.DeleteFunc(changed, func(v backend.View) bool {
		at := changedAt(v.Record)
		return at.IsZero() || at.Before(c.Since)
	})
	slices.SortFunc(changed, func(a, b backend.View) int {
		return cmp.Or(changedAt(b.Record).Compare(changedAt(a.Record)), strings.Compare(a.Record.WorkflowID, b.Record.WorkflowID))
	})
	limit := maxLastChanges
	if !c.Since.IsZero() {
		limit = maxSinceChanges
		c.More = max(0, len(changed)-limit)
	}
	for _, v := range changed[:min(limit, len(changed))] {
		c.List = append(c.List, newChange(v, c.Since, request.now))
	}
	return c
}

// changedAt returns when a resource was written, changed its state, or ended last.
func changedAt(r backend.Record) time.Time {
	at := r.Since
	if r.EndedAt.After(at) {
		at = r.EndedAt
	}
	if written := r.LastWrite().At; written.After(at) {
		at = written
	}
	return at
}

// newChange returns the model of a change. A write before the begin is none.
func newChange(v backend.View, since, now time.Time) Change {
	state := v.PhaseName()
	if !v.Record.Running {
		state = endName(v.Record)
	}
	change := Change{Ref: refOf(v.ID, state), At: changedAt(v.Record), Reason: string(v.CurrentCondition(now).Reason)}
	if change.Reason == state || change.Reason == string(resource.ReasonSucceeded) {
		change.Reason = ""
	}
	if w := v.Record.LastWrite(); !w.At.IsZero() && !w.At.Before(since) {
		change.Write, change.WriteAt = writeText(w), w.At
	}
	return change
}

// endName returns the state of a resource whose workflow ended.
func endName(r backend.Record) string {
	switch {
	case r.Reason == resource.ReasonDetached:
		return "Detached"
	case r.Ended == "Completed" && (r.Reason == resource.ReasonDeleted || r.Phase == workflows.PhaseDeleting):
		return "Deleted"
	}
	return strings.TrimSpace(string(r.Phase) + " (ended)")
}

// writeVerbs are the past forms of the verbs of a write.
var writeVerbs = map[string]string{
	workflows.VerbCreated: "created", workflows.VerbRecreated: "created again", workflows.VerbUpdated: "updated", workflows.VerbCorrected: "corrected",
}

// writeText returns a write in words: "updated 3 values, requested by ann@laptop".
func writeText(w workflows.WriteNote) string {
	text := cmp.Or(writeVerbs[w.Verb], cli.OneLine(w.Verb))
	if w.Paths > 0 {
		text += " " + cli.Count(w.Paths, "value")
	}
	if w.By == "" {
		return text + ", because of drift"
	}
	return text + ", requested by " + cli.OneLine(w.By)
}
