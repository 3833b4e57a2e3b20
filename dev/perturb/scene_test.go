package perturb

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/internal/testonly/cells"
	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

const (
	subscription = "/subscriptions/11111111-2222-3333-4444-555555555555"
	// hangs is how long a run may take: what takes longer hangs.
	hangs = 5 * time.Minute
	// looks is the time between two looks at a run.
	looks = time.Second
	// lateCode is the exit code of a command whose workers, or Temporal, did not respond in time.
	lateCode = 3
)

// scene is one run of a kind of pass.
type scene struct {
	*harness.World
	kind *kind
	// cell is the disturbance, nil for the undisturbed run.
	cell *cell
	// name is the name of the resource group and of the task queue.
	name string
	// replace has an element for each worker that was lost.
	replace chan struct{}
	sending sync.WaitGroup
	// before is what Azure has when the points begin.
	before map[string]any
	start  time.Time

	// mu guards the fields below: proxies run beside the test.
	mu        sync.Mutex
	processes []*process
	// begun is set when the points begin, over when they end.
	begun, over bool
	points      []point
	counts      map[string]int
	fired       bool
	// tasks are the subjects of the tasks of Temporal, by token.
	tasks map[string]string
	// slowUntil is until when requests to Temporal take slowBy longer.
	slowUntil time.Time
	slowBy    time.Duration
	// busy counts disturbances that have not ended.
	busy      int
	resources []*managed
	refused   []string
}

// managed is a resource of a scene, and what users want of it last.
type managed struct {
	desired    resource.Desired
	generation int64
	deleted    bool
	// held is set while something inside it that users want holds its deletion back.
	held bool
	// stated are merge patches of its body.
	stated []string
	// sent is closed once its last message is accepted or refused, nil without a message.
	sent chan struct{}
}

// newScene starts a run of a kind with its resources in Azure and a worker.
func newScene(t *testing.T, world *harness.World, k *kind, c *cell, name string) *scene {
	t.Helper()
	options := armsim.Options{}
	if k.options != nil {
		k.options(&options)
	}
	if c != nil && c.disturbance.options != nil {
		c.disturbance.options(&options)
	}
	s := &scene{
		World: world.Branch(t, name, harness.Options{Simulator: options}), kind: k, cell: c, name: name,
		replace: make(chan struct{}, 10), counts: map[string]int{}, tasks: map[string]string{}, start: time.Now(),
	}
	s.put("", `{"location":"westus2"}`)
	for _, r := range k.azure {
		s.put(r.path, r.body)
	}
	set, err := manifest.Load(manifest.Options{Stdin: strings.NewReader(strings.NewReplacer("GROUP", s.group(), "NAME", s.name).Replace(k.manifests))}, "-")
	if err != nil {
		t.Fatal(err)
	}
	for _, desired := range set.Resources {
		s.resources = append(s.resources, &managed{desired: desired})
	}
	return s
}

func (s *scene) group() string { return subscription + "/resourceGroups/" + s.name }

// put creates a resource of the group in Azure, the group itself with "".
func (s *scene) put(path, body string) {
	s.T.Helper()
	s.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": s.group() + path, "body": cells.Decoded(body)}, nil)
}

// run runs the kind to its end.
func (s *scene) run() *outcome {
	s.T.Helper()
	s.startProcess()
	if s.kind.managed {
		for i := range s.resources {
			s.apply(i, "")
		}
		s.settle()
		s.Sim.Reset()
	}
	s.before = s.snapshot()
	s.mu.Lock()
	s.begun, s.start = true, time.Now()
	s.mu.Unlock()
	s.kind.begin(s)
	violations := s.settle()
	s.mu.Lock()
	s.over = true
	s.mu.Unlock()
	if s.cell != nil && len(violations) == 0 {
		violations = s.settle() // the last point may be that of the end
	}
	o := &outcome{scene: s, points: s.points, violations: violations, resources: s.snapshot(), writes: map[string]int{}, status: map[string]string{}}
	for _, q := range s.Sim.Requests("") {
		if isWrite := q.Method != http.MethodGet && q.Method != http.MethodPost; isWrite && q.Status < http.StatusMultipleChoices {
			method := strings.Replace(q.Method, http.MethodPatch, http.MethodPut, 1)
			o.writes[method+" "+s.relative(q.ID)]++
		}
	}
	for _, r := range s.resources {
		o.status[s.relative(r.desired.ID.String())] = s.condition(r)
		o.violations = append(o.violations, s.failedTasks(r)...)
	}
	s.mu.Lock()
	processes := s.processes
	s.mu.Unlock()
	for _, p := range processes {
		p.worker.Kill()
	}
	return o
}

// relative returns an ID without its resource group, which differs from run to run.
func (s *scene) relative(id string) string {
	return strings.TrimPrefix(strings.ToLower(id), strings.ToLower(s.group()))
}

// snapshot returns the bodies of all resources in Azure.
func (s *scene) snapshot() map[string]any {
	s.T.Helper()
	var found []armsim.StoredResource
	s.Sim.Call(http.MethodGet, "/resources", nil, &found)
	all := map[string]any{}
	for _, r := range found {
		all[s.relative(r.ID)] = s.withoutGroup(cells.Stable(map[string]any(r.Body)))
	}
	return all
}

// withoutGroup replaces the name of the group in all texts of a body.
func (s *scene) withoutGroup(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = s.withoutGroup(member)
		}
	case []any:
		for i, item := range v {
			v[i] = s.withoutGroup(item)
		}
	case string:
		return strings.ReplaceAll(v, s.name, "rg")
	}
	return value
}

// settle waits until all resources are as users want them last and no pass runs. It starts a worker
// for each that was lost. It returns what hangs.
func (s *scene) settle() []string {
	s.T.Helper()
	sent := make(chan struct{})
	go func() { s.sending.Wait(); close(sent) }()
	deadline := time.NewTimer(hangs)
	defer deadline.Stop()
	ticker := time.NewTicker(looks)
	defer ticker.Stop()
	var once sync.Once
	for {
		select {
		case <-s.replace:
			s.startProcess()
		case <-deadline.C:
			return []string{"it hangs: " + s.unsettled()}
		case <-s.T.Context().Done():
			return []string{"the test ended"}
		case <-ticker.C:
			select {
			case <-sent:
			default:
				continue
			}
			once.Do(s.noteStack)
			if len(s.replace) == 0 && s.unsettled() == "" {
				return nil
			}
		}
	}
}

// unsettled describes the first resource that is not as users want it, "" without one.
func (s *scene) unsettled() string {
	s.mu.Lock()
	busy, all := s.busy, s.resources
	s.mu.Unlock()
	if busy > 0 {
		return "the disturbance has not ended"
	}
	for _, r := range all {
		if state := s.state(r); state != "" {
			return s.relative(r.desired.ID.String()) + ": " + state
		}
	}
	return ""
}

// state describes how a resource is not as users want it, "" if it is.
func (s *scene) state(r *managed) string {
	s.mu.Lock()
	deleted, generation := r.deleted, r.generation
	s.mu.Unlock()
	if generation == 0 && !deleted {
		return ""
	}
	orphaned := s.isOrphaned(r)
	description, err := s.Client.DescribeWorkflowExecution(s.T.Context(), r.desired.ID.WorkflowID(), "")
	if err != nil {
		return err.Error()
	}
	info := description.GetWorkflowExecutionInfo()
	if closed := info.GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING; closed || deleted {
		if closed && (deleted || orphaned) && info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED {
			s.hold(r, false)
			return ""
		}
		status, _ := s.Status(r.desired.ID.String())
		if s.hold(r, !closed && status.Condition.Reason == resource.ReasonWaitingForDependents) {
			return ""
		}
		return fmt.Sprintf("%s, want deleted %t: %s", info.GetStatus(), deleted, explained(status))
	}
	// Lists show the summary without a worker: a query has to wait for one.
	var summary workflows.Summary
	if stored := info.GetMemo().GetFields()[workflows.MemoSummary]; stored == nil {
		return "no summary"
	} else if err := payload.DataConverter().FromPayload(stored, &summary); err != nil {
		return err.Error()
	}
	if orphaned && summary.Condition.Reason == resource.ReasonWaitingForOwner {
		return ""
	}
	refused := s.cell != nil && s.kind.refusal != "" && summary.Condition.Reason == s.kind.refusal
	if !summary.Condition.Ready && !refused || summary.Generation != generation {
		return fmt.Sprintf("generation %d, %s %s: %s", summary.Generation, summary.Phase, summary.Condition.Reason, summary.Condition.Message)
	}
	status, err := s.Status(r.desired.ID.String())
	switch {
	case err != nil:
		return err.Error()
	case !status.Condition.Ready && !refused, status.InPass, status.Operation != "", status.Generation != generation:
		return explained(status)
	case s.isAbsent(r):
		return "Azure lacks it, though it is " + explained(status)
	}
	return ""
}

// isAbsent reports whether Azure lacks a resource. A child that went with its owner is Ready until
// its next pass.
func (s *scene) isAbsent(r *managed) bool {
	s.T.Helper()
	var found []armsim.StoredResource
	s.Sim.Call(http.MethodGet, "/resources?id="+r.desired.ID.String(), nil, &found)
	return len(found) == 0
}

// isOrphaned reports whether users deleted the resource around another one, and want that one. Its
// deletion goes along, or it waits for its owner.
func (s *scene) isOrphaned(r *managed) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !r.deleted && slices.ContainsFunc(s.resources, func(other *managed) bool {
		return other.deleted && !other.held && s.contains(other, r)
	})
}

// hold records whether a deletion that waits for dependents waits for something that users want: of
// a stack that is deleted, they applied it again.
func (s *scene) hold(r *managed, waits bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.held = waits && slices.ContainsFunc(s.resources, func(other *managed) bool { return !other.deleted && s.contains(r, other) })
	return r.held
}

// contains reports whether a resource is inside another one.
func (s *scene) contains(outer, inner *managed) bool {
	return strings.HasPrefix(s.relative(inner.desired.ID.String()), s.relative(outer.desired.ID.String())+"/")
}

// explained describes a status.
func explained(status workflows.Status) string {
	return fmt.Sprintf("generation %d, pass %d, %s %s: %s (next try %s)", status.Generation, status.Pass, status.Phase, status.Condition.Reason, status.Condition.Message, status.NextTry)
}

// condition returns the reason of the condition of a resource at the end. A query that goes to a
// worker that was cut off has no answer, and is repeated.
func (s *scene) condition(r *managed) string {
	status, err := s.Status(r.desired.ID.String())
	for begun := time.Now(); isUnanswered(err) && time.Since(begun) < hangs; {
		status, err = s.Status(r.desired.ID.String())
	}
	if err != nil {
		return err.Error()
	}
	if !status.Condition.Ready && (status.Condition.Reason == "" || status.Condition.Message == "") {
		return fmt.Sprintf("a condition that explains nothing: %+v", status.Condition)
	}
	return string(status.Condition.Reason)
}

func isUnanswered(err error) bool {
	_, late := errors.AsType[*serviceerror.DeadlineExceeded](err)
	return late || errors.Is(err, context.DeadlineExceeded)
}

// failedTasks returns the workflow tasks that a worker could not complete, such as for a replay that
// differs.
func (s *scene) failedTasks(r *managed) (found []string) {
	if r.generation == 0 {
		return nil
	}
	for _, event := range s.History(r.desired.ID.String()).GetEvents() {
		failed := event.GetWorkflowTaskFailedEventAttributes()
		switch failed.GetCause() {
		case enumspb.WORKFLOW_TASK_FAILED_CAUSE_NON_DETERMINISTIC_ERROR, enumspb.WORKFLOW_TASK_FAILED_CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE:
			found = append(found, fmt.Sprintf("a workflow task of %s failed: %s", s.relative(r.desired.ID.String()), failed.GetFailure().GetMessage()))
		}
	}
	return found
}

// message is an update to the workflow of a resource.
type message struct {
	name string
	// input returns the input once all messages before are accepted or refused.
	input func() any
	// starts is set for an update that starts the workflow if none runs.
	starts bool
}

// send sends a message beside the test until it is accepted or refused, after those before it to
// the same resource.
func (s *scene) send(r *managed, m message, accept func(client.WorkflowUpdateHandle) error) {
	sent := make(chan struct{})
	s.mu.Lock()
	before := r.sent
	r.sent = sent
	s.mu.Unlock()
	s.sending.Go(func() {
		defer close(sent)
		if before != nil {
			<-before
		}
		ctx, cancel := context.WithTimeout(s.T.Context(), hangs)
		defer cancel()
		options := client.UpdateWorkflowOptions{
			WorkflowID: r.desired.ID.WorkflowID(), UpdateName: m.name, Args: []any{m.input()}, WaitForStage: client.WorkflowUpdateStageCompleted,
		}
		for {
			handle, err := s.update(ctx, r, options, m.starts)
			if err == nil {
				err = accept(handle)
			}
			if err == nil || ctx.Err() != nil || !isAgain(err) {
				s.note(r, m, err)
				return
			}
		}
	})
}

func (s *scene) update(ctx context.Context, r *managed, options client.UpdateWorkflowOptions, starts bool) (client.WorkflowUpdateHandle, error) {
	if !starts {
		return s.Client.UpdateWorkflow(ctx, options)
	}
	start := s.Client.NewWithStartWorkflowOperation(workflows.StartOptions(r.desired, s.name), workflows.ReconcileResourceWorkflow, workflows.ReconcileResourceInput{})
	return s.Client.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{StartWorkflowOperation: start, UpdateOptions: options})
}

// note records a message that was refused.
func (s *scene) note(r *managed, m message, err error) {
	if err == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused = append(s.refused, fmt.Sprintf("%s %s: %v", m.name, s.relative(r.desired.ID.String()), err))
}

// apply applies the manifest of a resource with a merge patch of its body.
func (s *scene) apply(i int, patch string) {
	r := s.resources[i]
	var desired resource.Desired
	input := func() any {
		s.mu.Lock()
		defer s.mu.Unlock()
		desired = r.desired
		if patch != "" {
			desired.Body = encoded(cells.Merged(cells.Decoded(string(desired.Body)), cells.Decoded(patch)))
		}
		return workflows.ApplyInput{Desired: desired, By: "ada"}
	}
	s.send(r, message{name: workflows.ApplyUpdate, input: input, starts: true}, func(handle client.WorkflowUpdateHandle) error {
		var result workflows.ApplyResult
		if err := handle.Get(s.T.Context(), &result); err != nil {
			return err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		r.desired, r.generation, r.deleted = desired, result.Generation, false
		if patch != "" {
			r.stated = append(r.stated, patch)
		}
		return nil
	})
}

// delete deletes a resource, with all that is inside it.
func (s *scene) delete(i int) {
	r := s.resources[i]
	s.send(r, message{name: workflows.DeleteUpdate, input: func() any { return workflows.DeleteInput{Cascade: true, WithData: true, By: "ada"} }}, func(handle client.WorkflowUpdateHandle) error {
		if err := handle.Get(s.T.Context(), nil); err != nil {
			return err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, other := range s.resources {
			other.deleted = other.deleted || other == r || s.contains(r, other)
		}
		return nil
	})
}

// noteStack records which resources of a stack were deleted last. The CLI sends the deletions beside
// the messages of the test, so the workflows know their order.
func (s *scene) noteStack() {
	s.T.Helper()
	if !s.kind.stack || !s.begun {
		return
	}
	for _, r := range s.resources {
		last := ""
		for _, event := range s.History(r.desired.ID.String()).GetEvents() {
			name := event.GetWorkflowExecutionUpdateAcceptedEventAttributes().GetAcceptedRequest().GetInput().GetName()
			if name == workflows.ApplyUpdate || name == workflows.DeleteUpdate {
				last = name
			}
		}
		s.mu.Lock()
		r.deleted = last == workflows.DeleteUpdate
		s.mu.Unlock()
	}
}

// deleteStack deletes all resources as a stack, by their label. A command that got no answer in time
// is repeated, as its message says.
func (s *scene) deleteStack() {
	s.sending.Go(func() {
		result := s.CLI("delete", "-l", "stack="+s.name, "--yes", "--with-data")
		for (result.Code == lateCode || strings.Contains(result.Out, "NotKnown: ")) && s.T.Context().Err() == nil {
			result = s.CLI("delete", "-l", "stack="+s.name, "--yes", "--with-data")
		}
		if result.Code != 0 {
			s.T.Errorf("the stack is not deleted: %s", result)
		}
	})
}

// reconcile requests a pass.
func (s *scene) reconcile(i int, input workflows.ReconcileInput) {
	input.By = "ada"
	s.send(s.resources[i], message{name: workflows.ReconcileUpdate, input: func() any { return input }}, func(handle client.WorkflowUpdateHandle) error {
		return handle.Get(s.T.Context(), nil)
	})
}

// change changes a resource as another client.
func (s *scene) change(i int, patch string) {
	s.T.Helper()
	s.Sim.Patch(s.resources[i].desired.ID.String(), cells.Decoded(patch))
}

// slow waits as long as requests to Temporal take longer now.
func (s *scene) slow(ctx context.Context) error {
	s.mu.Lock()
	delay := s.slowBy
	if time.Now().After(s.slowUntil) {
		delay = 0
	}
	s.mu.Unlock()
	if delay == 0 {
		return nil
	}
	select {
	case <-time.After(delay):
		return nil
	case <-ctx.Done():
		return errors.New("the worker waits no longer")
	}
}

// during counts a disturbance that ends after a delay.
func (s *scene) during(delay time.Duration, end func()) {
	s.mu.Lock()
	s.busy++
	s.mu.Unlock()
	time.AfterFunc(delay, func() {
		end()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.busy--
	})
}

// isAgain reports whether a message is sent again after an error, as the CLI does: the run of the
// workflow ended, or no worker completed its task.
func isAgain(err error) bool {
	application, _ := errors.AsType[*temporal.ApplicationError](err)
	_, notReady := errors.AsType[*serviceerror.WorkflowNotReady](err)
	_, aborted := errors.AsType[*serviceerror.Aborted](err)
	return notReady || aborted || application != nil && application.Type() == "AcceptedUpdateCompletedWorkflow"
}
