package rollout

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
)

// check is the name of the findings about versions.
const check = "versions"

// Findings returns the findings of doctor about the versions and workers of each deployment of
// a task queue. It counts what is on versions without workers, and asks about no single resource.
func Findings(ctx context.Context, c Connection, taskQueue string, now time.Time) []activities.Finding {
	pollers, err := c.Pollers(ctx)
	if err != nil {
		return unreadable(err)
	}
	names, err := deploymentNames(ctx, c, pollers)
	if err != nil {
		return unreadable(err)
	}
	if len(names) == 0 {
		names = []string{""}
	}
	var findings []activities.Finding
	for _, name := range names {
		r, err := readUnserved(ctx, c, taskQueue, name, now)
		if err != nil {
			findings = append(findings, unreadable(err)...)
			continue
		}
		findings = append(findings, r.findings()...)
	}
	return findings
}

// unreadable returns the finding about versions that cannot be read.
func unreadable(err error) []activities.Finding {
	return []activities.Finding{{
		Check: check, State: activities.FindingWarn, Message: "the worker versions cannot be read: " + err.Error(),
		Advice: "`armature rollout status` reads them too; it needs the permission to describe worker deployments",
	}}
}

// findings returns the findings about one deployment.
func (r *reading) findings() []activities.Finding {
	var findings []activities.Finding
	for _, p := range r.status.Problems {
		findings = append(findings, activities.Finding{Check: check, State: activities.FindingError, Message: p.Message, Advice: p.Advice})
	}
	if len(findings) == 0 {
		findings = append(findings, activities.Finding{Check: check, State: activities.FindingOK, Message: r.routingText()})
	}
	if silent := r.silentWorkers(); len(silent) > 0 {
		findings = append(findings, activities.Finding{
			Check: check, State: activities.FindingWarn, Message: strings.Join(silent, ", "),
			Advice: "read the log of a worker that was not stopped on purpose",
		})
	}
	return findings
}

// readUnserved reads the versions of a deployment, as newReading chooses it, what is on those
// without workers, and judges them.
func readUnserved(ctx context.Context, c Connection, taskQueue, deployment string, now time.Time) (*reading, error) {
	r, err := newReading(ctx, c, taskQueue, deployment, now)
	if err == nil {
		err = r.countUnserved(ctx)
	}
	if err != nil {
		return nil, err
	}
	r.judge()
	return r, nil
}

// Problems returns the problems of the versions of a task queue that a status shows. It asks
// about no single resource.
func Problems(ctx context.Context, c Connection, taskQueue string, now time.Time) ([]Problem, error) {
	r, err := readUnserved(ctx, c, taskQueue, "", now)
	if err != nil {
		return nil, err
	}
	return r.status.Problems, nil
}

// countUnserved counts what is on versions without workers. Nothing is on a drained one.
func (r *reading) countUnserved(ctx context.Context) error {
	versions := r.status.Versions
	return backend.ForEach(ctx, len(versions), maxCounts, func(ctx context.Context, i int) error {
		v := &versions[i]
		if v.Workers > 0 || v.BuildID == "" || v.Status == backend.VersionDrained {
			return nil
		}
		q := r.query(*v)
		var err error
		if v.Resources, err = r.CountVersion(ctx, q); err != nil {
			return err
		}
		q.Others = true
		v.Others, err = r.CountVersion(ctx, q)
		return err
	})
}

// routingText returns which versions get work.
func (r *reading) routingText() string {
	s := r.status
	switch {
	case s.Deployment == "":
		return "the workers have no versions; worker.deployment gives them some"
	case s.Current == "" && s.unversioned().Workers == 0:
		return "no version of deployment " + s.Deployment + " is current: workers of another deployment serve"
	case s.Current == "":
		return "no version of deployment " + s.Deployment + " is current yet: workers without a version serve"
	}
	message := fmt.Sprintf("%s of deployment %s is current, with %s", s.Current, s.Deployment, cli.Count(r.workers(s.Current), "worker"))
	if s.Ramping != "" {
		message += fmt.Sprintf("; %s ramps %s, with %s", s.Ramping, percentText(s.RampPercent), cli.Count(r.workers(s.Ramping), "worker"))
	}
	return message
}

// workers returns the number of live workers of a version.
func (r *reading) workers(build string) int {
	n := 0
	for _, v := range r.status.Versions {
		if v.BuildID == build {
			n += v.Workers
		}
	}
	return n
}

// silentWorkers describes the workers of versions that get work that have not polled lately.
func (r *reading) silentWorkers() []string {
	var silent []string
	for _, p := range r.pollers {
		routed := r.status.Deployment == "" || p.Deployment == r.status.Deployment && r.status.isRouted(Version{BuildID: p.BuildID})
		if routed && !p.IsLive(r.now) {
			silent = append(silent, fmt.Sprintf("%s has not polled since %s", p.Identity, text.Time(p.Last)))
		}
	}
	slices.Sort(silent)
	return silent
}
