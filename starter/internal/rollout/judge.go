package rollout

import (
	"context"
	"fmt"
	"slices"

	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
)

// runs returns the number of workflows on the version.
func (v Version) runs() int { return v.Resources + v.Others }

// name returns the version in a sentence.
func (v Version) name() string {
	if v.BuildID == "" {
		return "workers without a version"
	}
	return "version " + v.BuildID
}

// isRouted reports whether the version gets new work.
func (s Status) isRouted(v Version) bool {
	return v.BuildID != "" && (v.BuildID == s.Current || v.BuildID == s.Ramping)
}

// listBehind lists the resources on versions that get no new work.
func (r *reading) listBehind(ctx context.Context) error {
	if r.status.Deployment == "" {
		return nil
	}
	for _, v := range r.status.Versions {
		if r.status.isRouted(v) || v.Resources == 0 {
			continue
		}
		records, err := r.FirstOnVersion(ctx, r.query(v), maxBehind)
		if err != nil {
			return err
		}
		for _, record := range records {
			r.status.Behind = append(r.status.Behind, Resource{
				Name: record.DisplayName(), ID: record.ID, BuildID: v.BuildID, Phase: record.Phase, Since: record.Started,
			})
		}
	}
	slices.SortStableFunc(r.status.Behind, func(a, b Resource) int { return a.Since.Compare(b.Since) })
	r.status.Behind = r.status.Behind[:min(len(r.status.Behind), maxBehind)]
	return nil
}

// judge sets problems and state.
func (r *reading) judge() {
	s := &r.status
	for _, v := range s.Versions {
		s.Problems = append(s.Problems, r.problems(v)...)
	}
	if s.Deployment != "" && s.Current == "" && s.unversioned().Workers == 0 && !r.sharesQueue() {
		s.Problems = append(s.Problems, Problem{
			Message: "no version of deployment " + s.Deployment + " is current, and no worker without a version is there: new resources get no worker",
			Advice:  s.promoteAdvice("start a worker"),
		})
	}
	behind := slices.ContainsFunc(s.Versions, func(v Version) bool { return v.runs() > 0 && !s.isRouted(v) })
	switch {
	case len(s.Problems) > 0:
		s.State = StateBroken
	case s.Deployment == "":
		s.State = StateUnversioned
	case s.Ramping != "":
		s.State = StateRamping
	case behind || s.Current == "":
		s.State = StateMoving
	default:
		s.State = StateComplete
	}
}

// unversioned returns what has no version.
func (s Status) unversioned() Version { return s.Versions[len(s.Versions)-1] }

// promoteAdvice returns the command that gives the newest version with workers all work,
// otherwise what to do first.
func (s Status) promoteAdvice(otherwise string) string {
	for _, v := range s.Versions {
		if v.BuildID != "" && v.BuildID != s.Current && v.Workers > 0 {
			return "`armature rollout promote " + v.BuildID + "`"
		}
	}
	return otherwise
}

// problems returns why what runs on a version, or will, gets no worker.
func (r *reading) problems(v Version) []Problem {
	s := r.status
	var found []Problem
	stranded := v.runs() > 0 && v.Workers == 0 && v.BuildID != ""
	lastPoll := ""
	if !v.LastPoll.IsZero() {
		lastPoll = " since " + text.Time(v.LastPoll)
	}
	if stranded {
		found = append(found, Problem{
			BuildID: v.BuildID,
			Message: fmt.Sprintf("%s stranded on version %s, which no worker serves%s", strandedText(v), v.BuildID, lastPoll),
			Advice:  "start a worker of version " + v.BuildID + " again, or `armature rollout rescue " + v.BuildID + "` moves them to the current version",
		})
	}
	switch {
	case v.BuildID == "" || v.Workers > 0:
	case v.BuildID == s.Current:
		found = append(found, Problem{
			BuildID: v.BuildID,
			Message: "the current version " + v.BuildID + " has no worker" + lastPoll + ": new resources wait",
			Advice:  s.promoteAdvice("start a worker of version " + v.BuildID),
		})
	case v.BuildID == s.Ramping && s.RampPercent > 0:
		found = append(found, Problem{
			BuildID: v.BuildID,
			Message: "the ramping version " + v.BuildID + " has no worker" + lastPoll + ": its share of the resources waits",
			Advice:  "start a worker of version " + v.BuildID + ", or `armature rollout back`",
		})
	}
	if v.Failing > 0 {
		found = append(found, Problem{
			BuildID: v.BuildID,
			Message: fmt.Sprintf("the workflow tasks of %s on %s keep failing", cli.Count(v.Failing, "resource"), v.name()),
			Advice:  "`worker replay` of that version finds where it differs from a history; `armature rollout back` returns to the version before",
		})
	}
	return found
}

// strandedText returns how many of what are stranded.
func strandedText(v Version) string {
	if v.Resources == 0 {
		return cli.CountAre(v.Others, "auxiliary workflow")
	}
	return cli.CountAre(v.Resources, "resource")
}

// sharesQueue reports whether live workers of another deployment poll the task queue, which may
// get its new work.
func (r *reading) sharesQueue() bool {
	return slices.ContainsFunc(r.pollers, func(p backend.Poller) bool {
		return p.Deployment != "" && p.Deployment != r.deployment.Name && p.IsLive(r.now)
	})
}

// isServed reports whether a live worker has the version.
func (r *reading) isServed(build string) bool {
	return slices.ContainsFunc(r.pollers, func(p backend.Poller) bool {
		return p.Deployment == r.deployment.Name && p.BuildID == build && p.IsLive(r.now)
	})
}
