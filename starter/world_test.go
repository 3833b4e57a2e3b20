package starter

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/wait"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
)

const (
	group    = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg1"
	cluster  = group + "/providers/Microsoft.Kusto/clusters/adx"
	database = cluster + "/databases/telemetry"
)

// noon returns the clock of the tests.
func noon() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }

func mustID(t *testing.T, text string) resource.ID {
	t.Helper()
	id, err := resource.ParseID(text)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// fakeTemporal is messenger and reader in memory.
type fakeTemporal struct {
	mu      sync.Mutex
	records []backend.Record
	// statuses are the results of queries by workflow ID; the last one repeats.
	statuses map[string][]workflows.Status
	// lists counts the lists; with changing, each shows the next status of a resource, and
	// with moving the resources have it.
	lists            int
	changing, moving bool
	// silent: no worker responds; with stepSince one runs a step.
	silent    bool
	stepSince time.Time
	// answers and errors of updates by workflow ID.
	answers map[string]any
	errs    map[string]error
	// sent are the updates as "name workflow-name", started those with start.
	sent, started []string
	inputs        []any
	queries       []string
	// plans are the results of dry runs by resource name; runs are the workflow IDs.
	plans     map[string]activities.PlanResourceResult
	deletions map[string]activities.PlanDeletionResult
	// stacks are the deletions that a workflow accompanies.
	stacks  []activities.Stack
	imports map[string]activities.ImportResourceResult
	// trial is the result of TryChecks, and trials the inputs.
	trial  activities.TryChecksResult
	trials []activities.TryChecksInput
	// moves are the results of MoveResource by resource name, moved the inputs.
	moves map[string]activities.MoveResourceResult
	moved []activities.MoveResourceInput
	runs  []string
	// histories are those of every workflow, nil for a recorded deletion.
	histories []backend.HistoryRun
	// asked counts the status queries, read the records that are read alone.
	asked   int
	read    int
	listErr error
	freezes []workflows.Freeze
	// confirmation is what the workers say about a freeze.
	confirmation backend.Confirmation
	confirmErr   error
	// interrupted is set for freezes of a run that was terminated.
	interrupted bool
	// selected are the results of lists with a label; all when empty.
	selected []string
	// described is the Stuck and stuckStep the StuckStep of every record that is read
	// alone, events the length of its history; eventful makes that longer each time.
	described string
	stuckStep string
	events    int64
	eventful  bool
	// checks is the fingerprint of every last pass.
	checks string
	// ended are the last statuses of workflows that end after they were listed.
	ended map[string]workflows.Status
}

func (f *fakeTemporal) Update(_ context.Context, workflowID string, m backend.Message) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sent = append(f.sent, m.Name+" "+filepath.Base(workflowID))
	f.inputs = append(f.inputs, m.Input)
	return f.answer(workflowID, m)
}

func (f *fakeTemporal) UpdateWithStart(_ context.Context, desired resource.Desired, m backend.Message) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.started = append(f.started, m.Name+" "+desired.ID.Name())
	f.inputs = append(f.inputs, m.Input)
	return f.answer(desired.ID.WorkflowID(), m)
}

func (f *fakeTemporal) answer(workflowID string, m backend.Message) error {
	if err := f.errs[workflowID]; err != nil {
		return err
	}
	raw, err := json.Marshal(f.answers[workflowID])
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, m.Result)
}

func (f *fakeTemporal) Status(_ context.Context, workflowID string) (workflows.Status, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	if f.silent {
		return workflows.Status{}, &backend.NoWorkerError{TaskQueue: "armature", StepSince: f.stepSince}
	}
	list := f.statuses[workflowID]
	if len(list) == 0 {
		return workflows.Status{}, backend.ErrNotManaged
	}
	if f.moving {
		return f.now(workflowID), nil
	}
	if len(list) > 1 {
		f.statuses[workflowID] = list[1:]
	}
	return list[0], nil
}

func (f *fakeTemporal) Record(_ context.Context, workflowID string) (backend.Record, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.read++
	for _, r := range f.records {
		if final, ok := f.ended[workflowID]; ok && r.WorkflowID == workflowID {
			r.Running, r.Ended, r.Final = false, "Completed", &final
			return r, nil
		}
		if r.WorkflowID == workflowID {
			r.Stuck += f.described
			r.StuckStep = f.stuckStep
			if f.moving {
				f.move(&r)
			}
			r.Events = f.events
			if f.eventful {
				f.events++
			}
			return r, nil
		}
	}
	return backend.Record{}, backend.ErrNotManaged
}

// LastChecks returns checks.
func (f *fakeTemporal) LastChecks(context.Context, string) (string, error) { return f.checks, nil }

func (f *fakeTemporal) Polled(context.Context, string) bool { return !f.silent }

func (f *fakeTemporal) List(_ context.Context, query string) ([]backend.Record, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.queries = append(f.queries, query)
	var running []backend.Record
	f.lists++
	for _, r := range f.records {
		if f.changing || f.moving {
			f.move(&r)
		}
		chosen := len(f.selected) == 0 || !strings.Contains(query, "ReconcileLabels") || slices.Contains(f.selected, r.ID.String())
		if r.Running && chosen {
			running = append(running, r)
		}
	}
	return running, f.listErr
}

func (f *fakeTemporal) Pollers(context.Context) ([]backend.Poller, error) {
	if f.silent {
		return nil, nil
	}
	return []backend.Poller{{Identity: "worker-1", Last: noon()}}, nil
}

// now returns the status that a resource has at the last list.
func (f *fakeTemporal) now(workflowID string) workflows.Status {
	list := f.statuses[workflowID]
	return list[min(max(f.lists, 1), len(list))-1]
}

// move gives a record the state of the last list. A record without a summary gets none.
func (f *fakeTemporal) move(r *backend.Record) {
	if !r.Running || len(f.statuses[r.WorkflowID]) == 0 {
		return
	}
	now := f.now(r.WorkflowID)
	r.Phase, r.Reason, r.WaitingFor = now.Phase, now.Condition.Reason, nil
	for _, id := range now.WaitingFor {
		r.WaitingFor = append(r.WaitingFor, workflows.WaitingKey(id))
	}
	if r.Summary != nil {
		r.Summary = summaryOf(now)
	}
}

// manage adds a running workflow with its statuses.
func (f *fakeTemporal) manage(t *testing.T, id string, statuses ...workflows.Status) {
	t.Helper()
	parsed := mustID(t, id)
	r := backend.Record{WorkflowID: parsed.WorkflowID(), ID: parsed, Name: parsed.Name(), APIVersion: "2023-08-15", Phase: workflows.PhasePending, Running: true}
	if f.statuses == nil {
		f.statuses = map[string][]workflows.Status{}
	}
	for i := range statuses {
		statuses[i].ID, statuses[i].Name, statuses[i].APIVersion = parsed, parsed.Name(), "2023-08-15"
		statuses[i].Owner = parsed.Owner()
		r.Phase, r.Reason = statuses[i].Phase, statuses[i].Condition.Reason
		r.Summary, r.Since = summaryOf(statuses[i]), statuses[i].Condition.LastTransitionTime
		if statuses[i].Operation != "" {
			r.Since = statuses[i].OperationSince
		}
		r.WaitingFor, r.Labels = nil, []string{"stack=prod"}
		for key, value := range statuses[i].Labels {
			r.Labels = append(r.Labels, key+"="+value)
		}
		for _, id := range statuses[i].WaitingFor {
			r.WaitingFor = append(r.WaitingFor, workflows.WaitingKey(id))
		}
	}
	f.statuses[r.WorkflowID] = statuses
	f.records = append(f.records, r)
}

// summaryOf returns what a workflow in a status writes for lists.
func summaryOf(s workflows.Status) *workflows.Summary {
	summary := &workflows.Summary{
		Phase: s.Phase, Condition: s.Condition, Generation: s.Generation, Paused: s.Paused, Deleting: s.Deleting, Overdue: s.Overdue,
	}
	if !s.Condition.Ready && !s.NextTry.IsZero() {
		summary.RetryWithin = s.NextTry.Sub(noon())
	}
	return summary
}

// world is an app on a fakeTemporal whose clock moves by what it waits.
type world struct {
	*app
	temporal *fakeTemporal
	out, err *bytes.Buffer
	stdin    *strings.Reader
	clock    time.Time
	// timeout fires at timeoutAt.
	timeout   chan time.Time
	timeoutAt time.Time
}

func newWorld() *world {
	w := &world{temporal: &fakeTemporal{}, out: &bytes.Buffer{}, err: &bytes.Buffer{}, stdin: strings.NewReader(""), clock: noon()}
	w.app = &app{
		in: w.stdin, out: w.out, err: w.err, by: "ana@laptop",
		size: func() (int, int) { return 80, 24 },
		now:  func() time.Time { return w.clock },
		connect: func(context.Context, backend.Options) (*connection, error) {
			return &connection{messenger: w.temporal, Reader: w.temporal, freezer: w.temporal, dryRunner: w.temporal, historian: w.temporal, pollReader: w.temporal, namespace: "default", close: func() {}}, nil
		},
	}
	w.after = w.wait
	return w
}

// wait moves the clock for polls. A longer wait (a timeout) fires when the polls
// got the clock there, and then the poll does not.
func (w *world) wait(d time.Duration) <-chan time.Time {
	fired := make(chan time.Time, 1)
	if d != wait.PollInterval && d != watchInterval {
		w.timeout, w.timeoutAt = fired, w.clock.Add(d)
		return fired
	}
	w.clock = w.clock.Add(d)
	if w.timeout != nil && !w.clock.Before(w.timeoutAt) {
		w.timeout <- w.clock
		return nil
	}
	fired <- w.clock
	return fired
}

// run runs a command line and returns the exit code.
func (w *world) run(args ...string) int { return run(context.Background(), w.app, args) }

// golden compares with a file of testdata; UPDATE_GOLDEN=1 writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// end closes every workflow with a last status.
func (f *fakeTemporal) end(ended string, final workflows.Status) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.records {
		f.records[i].Running, f.records[i].Ended, f.records[i].Final = false, ended, &final
	}
}

// manifests writes files into a new folder and returns it.
func manifests(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// adx returns a folder with a cluster and its database.
func adx(t *testing.T) string {
	t.Helper()
	return manifests(t, map[string]string{"adx.yaml": `type: Microsoft.Kusto/clusters@2023-08-15
name: adx
owner: ` + group + `
body: {location: westus2, sku: {name: Standard_E2d_v5, tier: Standard}}
---
type: Microsoft.Kusto/clusters/databases@2023-08-15
name: telemetry
owner: adx
body: {location: westus2, kind: ReadWrite}
`})
}
