package workflows

import (
	"cmp"
	"slices"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
)

// MaxPollAge is longer than one poll, which lasts about a minute: a worker whose last poll is
// older is gone. The server lists it for minutes.
const MaxPollAge = 2 * time.Minute

// checksMark separates the identity of a process from the fingerprint of its checks.
const checksMark = " checks="

// WorkerIdentity returns the identity with which a worker calls Temporal: that of its process,
// and the fingerprint of its links and rules. The second part changes with a reload of the
// rules.
func WorkerIdentity(process, checks string) string {
	return process + checksMark + checks
}

// SplitIdentity returns the process of an identity, and the fingerprint of its checks, "" if
// the identity has none.
func SplitIdentity(identity string) (process, checks string) {
	process, checks, _ = strings.Cut(identity, checksMark)
	return process, checks
}

// Worker is a process that polls a task queue, as Temporal lists it.
type Worker struct {
	// Identity is that of its process, without its checks.
	Identity string
	// Checks is the fingerprint of its links and rules, "" if it states none.
	Checks string
	// Deployment and BuildID are its version, "" without one.
	Deployment, BuildID string
	// Last is the time of its last poll, by the server's clock.
	Last time.Time
}

// IsLive reports whether the process has polled as lately as a running worker does.
func (w Worker) IsLive(now time.Time) bool { return now.Sub(w.Last) <= MaxPollAge }

// Workers returns the processes among pollers of one task queue, sorted by identity, each
// with its last poll: after a reload of its rules, the server lists a process under its older
// identity too.
func Workers(pollers []*taskqueuepb.PollerInfo) []Worker {
	var workers []Worker
	for _, poller := range pollers {
		worker := newWorker(poller)
		at, found := slices.BinarySearchFunc(workers, worker.Identity, func(w Worker, identity string) int {
			return strings.Compare(w.Identity, identity)
		})
		switch {
		case !found:
			workers = slices.Insert(workers, at, worker)
		case worker.Last.After(workers[at].Last):
			workers[at] = worker
		}
	}
	return workers
}

// newWorker returns the process of a poller.
func newWorker(poller *taskqueuepb.PollerInfo) Worker {
	var worker Worker
	if last := poller.GetLastAccessTime(); last != nil {
		worker.Last = last.AsTime()
	}
	worker.Identity, worker.Checks = SplitIdentity(poller.GetIdentity())
	if options := poller.GetDeploymentOptions(); options.GetWorkerVersioningMode() == enumspb.WORKER_VERSIONING_MODE_VERSIONED {
		worker.Deployment, worker.BuildID = options.GetDeploymentName(), options.GetBuildId()
	}
	return worker
}

// CheckGroup is the workers of one version that have the same checks.
type CheckGroup struct {
	Deployment, BuildID, Checks string
	// Workers are the identities of the processes, sorted.
	Workers []string
}

// ChecksByVersion returns the workers of a task queue by their version, and those of each
// version by their checks. Workers of different versions may have different checks, as during
// a rolling update. Those of one version should not: each would decide otherwise about the
// same resource.
func ChecksByVersion(workers []Worker) [][]CheckGroup {
	sorted := slices.SortedFunc(slices.Values(workers), func(a, b Worker) int {
		return cmp.Or(strings.Compare(a.Deployment, b.Deployment), strings.Compare(a.BuildID, b.BuildID),
			strings.Compare(a.Checks, b.Checks), strings.Compare(a.Identity, b.Identity))
	})
	var versions [][]CheckGroup
	for i, worker := range sorted {
		last := len(versions) - 1
		switch {
		case i == 0 || worker.Deployment != sorted[i-1].Deployment || worker.BuildID != sorted[i-1].BuildID:
			versions = append(versions, []CheckGroup{worker.group()})
		case worker.Checks != sorted[i-1].Checks:
			versions[last] = append(versions[last], worker.group())
		default:
			group := &versions[last][len(versions[last])-1]
			group.Workers = append(group.Workers, worker.Identity)
		}
	}
	return versions
}

// group returns a group of one worker.
func (w Worker) group() CheckGroup {
	return CheckGroup{Deployment: w.Deployment, BuildID: w.BuildID, Checks: w.Checks, Workers: []string{w.Identity}}
}
