// Package rollout owns the command rollout: which worker versions there are, what runs on
// each, and how work moves from one to the next and back. It reads counts and changes the
// routing of Temporal; it never runs a workflow itself.
package rollout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
)

// Connection is the part of a connection to Temporal that the command needs.
type Connection interface {
	Deployments(ctx context.Context) ([]string, error)
	Deployment(ctx context.Context, name string) (backend.Deployment, error)
	Pollers(ctx context.Context) ([]backend.Poller, error)
	CountVersion(ctx context.Context, q backend.VersionQuery) (int, error)
	FirstOnVersion(ctx context.Context, q backend.VersionQuery, maximum int) ([]backend.Record, error)
	List(ctx context.Context, query string) ([]backend.Record, error)
	SetCurrent(ctx context.Context, d backend.Deployment, build string) error
	SetRamping(ctx context.Context, d backend.Deployment, build string, percent float32) error
	Signal(ctx context.Context, workflowID, signal string) error
	MoveOnce(ctx context.Context, workflowID, deployment, build string) error
}

// State is the state of a rollout in one word.
type State string

// The states of a rollout. Complete means that everything runs on the current version;
// Moving, that something still runs on another one; Broken, that something gets no worker,
// or its workflow tasks fail. Unversioned is a task queue without a worker deployment.
const (
	StateComplete    State = "complete"
	StateRamping     State = "ramping"
	StateMoving      State = "moving"
	StateBroken      State = "broken"
	StateUnversioned State = "unversioned"
)

// Status is the state of the versions of a task queue. It is the JSON of the command.
type Status struct {
	TaskQueue  string `json:"taskQueue"`
	Deployment string `json:"deployment,omitempty"`
	State      State  `json:"state"`
	// Current and Ramping are build IDs, "" for none.
	Current     string  `json:"current,omitempty"`
	Ramping     string  `json:"ramping,omitempty"`
	RampPercent float32 `json:"rampPercent,omitempty"`
	// Manager is the client that alone may change the deployment.
	Manager string `json:"manager,omitempty"`
	// Resources is the number of managed resources on the task queue. While runs move, the
	// sum of the versions may differ from it.
	Resources int       `json:"resources"`
	Versions  []Version `json:"versions"`
	// Behind are resources on versions that get no new work, those on them longest first, at
	// most maxBehind.
	Behind   []Resource `json:"behind"`
	Problems []Problem  `json:"problems"`
}

// Version is one version and what runs on it. That without a BuildID is the runs and workers
// without a version.
type Version struct {
	BuildID string                `json:"buildID"`
	Status  backend.VersionStatus `json:"status"`
	Since   time.Time             `json:"since,omitzero"`
	// Workers is the number of live workers, LastPoll the last poll of any.
	Workers  int       `json:"workers"`
	LastPoll time.Time `json:"lastPoll,omitzero"`
	// Resources is the number of resources, Others that of freezes, budgets and queues.
	Resources int `json:"resources"`
	Others    int `json:"others,omitempty"`
	// Of the resources: those with the phases Ready and Failed, with the reasons Frozen and
	// Held, and with failing workflow tasks.
	Ready   int `json:"ready"`
	Failed  int `json:"failed"`
	Frozen  int `json:"frozen"`
	Held    int `json:"held"`
	Failing int `json:"failing"`
}

// statusUnversioned is the status of what has no version.
const statusUnversioned backend.VersionStatus = "unversioned"

// Resource is a resource that still runs on an older version.
type Resource struct {
	Name    string          `json:"name"`
	ID      resource.ID     `json:"id"`
	BuildID string          `json:"buildID"`
	Phase   workflows.Phase `json:"phase"`
	// Since is when its run began on that version.
	Since time.Time `json:"since"`
}

// Problem is why a rollout is broken, and what to do.
type Problem struct {
	// BuildID is the version without workers, "" if it is not about one.
	BuildID string `json:"buildID,omitempty"`
	Message string `json:"message"`
	Advice  string `json:"advice"`
}

const (
	// maxBehind bounds the resources that a status lists.
	maxBehind = 100
	// maxCounts bounds the counts that run at a time: a namespace allows about ten a second.
	maxCounts = 4
)

// Read reads the status of a task queue. name is the deployment, "" for the one that its
// workers poll with.
func Read(ctx context.Context, c Connection, taskQueue, name string, now time.Time) (Status, error) {
	r, err := newReading(ctx, c, taskQueue, name, now)
	if err != nil {
		return r.status, err
	}
	if err := r.countAll(ctx); err != nil {
		return r.status, err
	}
	if err := r.listBehind(ctx); err != nil {
		return r.status, err
	}
	r.judge()
	return r.status, nil
}

// reading is a status that is being read.
type reading struct {
	Connection
	deployment backend.Deployment
	pollers    []backend.Poller
	now        time.Time
	status     Status
}

// newReading reads deployment and pollers, and no counts yet.
func newReading(ctx context.Context, c Connection, taskQueue, name string, now time.Time) (*reading, error) {
	r := &reading{Connection: c, now: now, status: Status{TaskQueue: taskQueue, Versions: []Version{}, Behind: []Resource{}, Problems: []Problem{}}}
	var err error
	if r.pollers, err = c.Pollers(ctx); err != nil {
		return r, err
	}
	if r.status.Deployment, err = r.chooseDeployment(ctx, name); err != nil {
		return r, err
	}
	if r.status.Deployment != "" {
		r.deployment, err = c.Deployment(ctx, r.status.Deployment)
		if errors.Is(err, backend.ErrNotManaged) {
			return r, cli.Failed("find worker deployment %s: the server knows none of this name; a worker with worker.deployment makes it", r.status.Deployment)
		}
		if err != nil {
			return r, err
		}
	}
	d := r.deployment
	r.status.Current, r.status.Ramping, r.status.RampPercent, r.status.Manager = d.Current, d.Ramping, d.Percent, d.Manager
	for _, v := range d.Versions {
		r.status.Versions = append(r.status.Versions, r.withPolls(Version{BuildID: v.BuildID, Status: v.Status, Since: v.Since}, d.Name))
	}
	rank := []backend.VersionStatus{backend.VersionCurrent, backend.VersionRamping}
	slices.SortStableFunc(r.status.Versions, func(a, b Version) int {
		place := func(v Version) int { return (slices.Index(rank, v.Status) + len(rank) + 1) % (len(rank) + 1) }
		return cmp.Compare(place(a), place(b))
	})
	r.status.Versions = append(r.status.Versions, r.withPolls(Version{Status: statusUnversioned}, ""))
	return r, nil
}

// chooseDeployment returns the named deployment, else the only one of the task queue's
// workers, else the only one that the task queue has work for; "" if there is none.
func (r *reading) chooseDeployment(ctx context.Context, name string) (string, error) {
	if name != "" {
		return name, nil
	}
	names, err := deploymentNames(ctx, r, r.pollers)
	if err != nil {
		return "", err
	}
	switch len(names) {
	case 0:
		return "", nil
	case 1:
		return names[0], nil
	}
	return "", cli.BadInput("%d worker deployments may serve task queue %s: %s; choose one with --deployment", len(names), r.status.TaskQueue, strings.Join(names, ", "))
}

// deploymentNames returns the deployments of the workers of a task queue, sorted; without any,
// those that the task queue has work for.
func deploymentNames(ctx context.Context, c Connection, pollers []backend.Poller) ([]string, error) {
	var names []string
	for _, p := range pollers {
		if p.Deployment != "" {
			names = append(names, p.Deployment)
		}
	}
	if len(names) == 0 {
		return c.Deployments(ctx)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// withPolls returns a version with its workers.
func (r *reading) withPolls(v Version, deployment string) Version {
	for _, p := range r.pollers {
		if p.Deployment != deployment || p.BuildID != v.BuildID {
			continue
		}
		if p.Last.After(v.LastPoll) {
			v.LastPoll = p.Last
		}
		if p.IsLive(r.now) {
			v.Workers++
		}
	}
	return v
}

// query returns the query for what runs on a version.
func (r *reading) query(v Version) backend.VersionQuery {
	return backend.VersionQuery{TaskQueue: r.status.TaskQueue, Deployment: r.deployment.Name, BuildID: v.BuildID, Unversioned: v.BuildID == ""}
}

// countAll counts what runs on each version. Drained versions are counted only if the others
// do not account for all resources, because there may be a hundred.
func (r *reading) countAll(ctx context.Context) error {
	var err error
	if r.status.Resources, err = r.CountVersion(ctx, backend.VersionQuery{TaskQueue: r.status.TaskQueue}); err != nil {
		return err
	}
	sum := 0
	for _, drained := range []bool{false, true} {
		if drained && sum >= r.status.Resources {
			return nil
		}
		versions := r.status.Versions
		err := backend.ForEach(ctx, len(versions), maxCounts, func(ctx context.Context, i int) error {
			if (versions[i].Status == backend.VersionDrained) != drained {
				return nil
			}
			return r.count(ctx, &versions[i])
		})
		if err != nil {
			return err
		}
		for _, v := range versions {
			sum += v.Resources
		}
	}
	return nil
}

// count counts what runs on one version.
func (r *reading) count(ctx context.Context, v *Version) error {
	where := func(change func(*backend.VersionQuery)) backend.VersionQuery {
		q := r.query(*v)
		change(&q)
		return q
	}
	type quantity struct {
		to    *int
		query backend.VersionQuery
	}
	quantities := []quantity{
		{&v.Resources, r.query(*v)},
		{&v.Others, where(func(q *backend.VersionQuery) { q.Others = true })},
		{&v.Ready, where(func(q *backend.VersionQuery) { q.Where.Phases = []string{string(workflows.PhaseReady)} })},
		{&v.Failed, where(func(q *backend.VersionQuery) { q.Where.Phases = []string{string(workflows.PhaseFailed)} })},
		{&v.Frozen, where(func(q *backend.VersionQuery) { q.Where.Reasons = []string{string(resource.ReasonFrozen)} })},
		{&v.Held, where(func(q *backend.VersionQuery) { q.Where.Reasons = []string{string(resource.ReasonHeld)} })},
		{&v.Failing, where(func(q *backend.VersionQuery) { q.Failing = true })},
	}
	for i, q := range quantities {
		if i > 1 && v.Resources == 0 {
			return nil
		}
		var err error
		if *q.to, err = r.CountVersion(ctx, q.query); err != nil {
			return fmt.Errorf("count what runs on version %q: %w", v.BuildID, err)
		}
	}
	return nil
}
