package service

import (
	"context"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// stubUpdates are updates of a resource's workflow with the messages of users.
var stubUpdates = map[string]any{
	workflows.ApplyUpdate: stub[workflows.ApplyInput], workflows.ReconcileUpdate: stub[workflows.ReconcileInput],
	workflows.PauseUpdate: stub[workflows.PauseInput], workflows.ResumeUpdate: stub[workflows.PauseInput],
	workflows.DeleteUpdate: stub[workflows.DeleteInput], workflows.AbortUpdate: stub[workflows.AbortInput],
	workflows.ForgetUpdate: stub[workflows.ForgetInput], workflows.FreezeUpdate: stub[workflows.Freeze], workflows.UnfreezeUpdate: stub[workflows.Freeze],
	workflows.TakeTurnUpdate: stub[string], workflows.SpendUpdate: stub[string],
}

func stub[T any](workflow.Context, T) (string, error) { return "handled", nil }

// stubDesired is the spec of the workflow of the tests.
func stubDesired(t *testing.T) resource.Desired {
	t.Helper()
	id, err := resource.ParseID("/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg/providers/Microsoft.Kusto/clusters/adx")
	if err != nil {
		t.Fatal(err)
	}
	return resource.Desired{ID: id, Name: "adx", Body: json.RawMessage(`{}`), Policy: resource.PolicyProtect, Labels: map[string]string{"stage": "prod", "team": "a=b"}}
}

// sent is what the sender of an update gets.
type sent struct {
	value any
	err   error
}

// updateWith runs a workflow with an authorizer of its own and sends it one update,
// until that is decided.
func updateWith(t *testing.T, allow func(context.Context, Action) error, name string, message any, start func(*testsuite.TestWorkflowEnvironment)) (got sent, decisions []string) {
	t.Helper()
	link := newAuthorizer(allow, senders{data: payload.DataConverter()}, slog.New(slog.DiscardHandler), func(action Action, err error) {
		decisions = append(decisions, string(action.Verb)+" "+strconv.FormatBool(err == nil))
	})
	for {
		got = update(t, link, name, message, start)
		refusal, ok := errors.AsType[*temporal.ApplicationError](got.err)
		if !ok || refusal.Type() != workflows.RefusedNotDecided {
			return got, decisions
		}
		// The machine was busy.
	}
}

// update runs a workflow with an authorizer and sends it one update.
func update(t *testing.T, link *authorizer, name string, message any, start func(*testsuite.TestWorkflowEnvironment)) (got sent) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestWorkflowEnvironment()
	env.SetDataConverter(payload.DataConverter())
	env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{link}})
	env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: stubDesired(t).ID.WorkflowID()})
	if err := env.SetMemoOnStart(workflows.Memo(stubDesired(t))); err != nil {
		t.Fatal(err)
	}
	if err := env.SetTypedSearchAttributesOnStart(workflows.IdentityAttributes(stubDesired(t))); err != nil {
		t.Fatal(err)
	}
	env.RegisterWorkflowWithOptions(func(ctx workflow.Context, _ workflows.ReconcileResourceInput) error {
		for name, handler := range stubUpdates {
			if err := workflow.SetUpdateHandler(ctx, name, handler); err != nil {
				return err
			}
		}
		return workflow.Sleep(ctx, time.Hour)
	}, workflow.RegisterOptions{Name: workflows.ReconcileResourceWorkflow})
	if start != nil {
		start(env)
	}
	env.RegisterDelayedCallback(func() {
		env.UpdateWorkflow(name, "m", &testsuite.TestUpdateCallback{
			OnReject: func(err error) { got.err = err }, OnAccept: func() {},
			OnComplete: func(value any, err error) { got.value, got.err = value, errors.Join(got.err, err) },
		}, message)
	}, time.Minute)
	env.ExecuteWorkflow(workflows.ReconcileResourceWorkflow, workflows.ReconcileResourceInput{})
	return got
}

// TestAuthorize checks what the hook gets of each message, and that its error keeps the
// message from the workflow.
//
//guard:the-hook-of-an-embedder
func TestAuthorize(t *testing.T) {
	t.Parallel()
	desired := stubDesired(t)
	base := Action{
		Namespace: "default-test-namespace", WorkflowID: desired.ID.WorkflowID(), ID: desired.ID,
		Labels: desired.Labels, Policy: desired.Policy, By: "ann@laptop",
	}
	with := func(verb Verb, change func(*Action)) Action {
		action := base
		action.Verb = verb
		change(&action)
		return action
	}
	next := desired
	next.Labels = map[string]string{"stage": "dev"}
	cases := map[string]struct {
		reason  string
		update  string
		message any
		want    Action
	}{
		"apply": {
			"the labels in force, not those of the message, say what it is now", workflows.ApplyUpdate,
			workflows.ApplyInput{Desired: next, By: base.By}, with(VerbApply, func(a *Action) { a.Desired = &next }),
		},
		"force": {
			"a reconcile that skips guards", workflows.ReconcileUpdate, workflows.ReconcileInput{Force: true, Reason: "INC-1", By: base.By},
			with(VerbReconcile, func(a *Action) { a.Force, a.Reason = true, "INC-1" }),
		},
		"approval": {
			"a recreation", workflows.ReconcileUpdate, workflows.ReconcileInput{Recreate: true, DropBaseline: true, By: base.By},
			with(VerbReconcile, func(a *Action) { a.Recreate, a.DropBaseline = true, true }),
		},
		"pause":  {"writes stop", workflows.PauseUpdate, workflows.PauseInput{By: base.By}, with(VerbPause, func(*Action) {})},
		"resume": {"writes start", workflows.ResumeUpdate, workflows.PauseInput{By: base.By}, with(VerbResume, func(*Action) {})},
		"delete": {
			"with what goes with it", workflows.DeleteUpdate, workflows.DeleteInput{Cascade: true, WithData: true, EndScope: true, By: base.By},
			with(VerbDelete, func(a *Action) { a.Cascade, a.WithData, a.EndScope = true, true, true }),
		},
		"delete by an owner": {
			"a cascade", workflows.DeleteUpdate, workflows.DeleteInput{From: desired.ID, By: base.By},
			with(VerbDelete, func(a *Action) { a.From = desired.ID }),
		},
		"abort":  {"a deletion ends", workflows.AbortUpdate, workflows.AbortInput{By: base.By}, with(VerbAbort, func(*Action) {})},
		"forget": {"management ends", workflows.ForgetUpdate, workflows.ForgetInput{Reason: "moved", By: base.By}, with(VerbForget, func(a *Action) { a.Reason = "moved" })},
		"unfreeze": {
			"writes start again", workflows.UnfreezeUpdate, workflows.Freeze{Selector: "stage=prod", By: base.By},
			Action{Verb: VerbUnfreeze, Namespace: base.Namespace, WorkflowID: base.WorkflowID, Selector: "stage=prod", By: base.By},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked []Action
			refuse := func(_ context.Context, action Action) error {
				asked = append(asked, action)
				return errors.New("only the release manager\nmay do this")
			}
			got, decisions := updateWith(t, refuse, c.update, c.message, nil)
			if diff := cmp.Diff([]Action{c.want}, asked, cmpopts.IgnoreFields(Action{}, "Header", "RunID", "UpdateID"), cmp.Comparer(func(a, b resource.ID) bool { return a.String() == b.String() })); diff != "" {
				t.Errorf("%s: the action (-want +got):\n%s", c.reason, diff)
			}
			refusal, ok := errors.AsType[*temporal.ApplicationError](got.err)
			if !ok || got.value != nil || refusal.Type() != RefusedNotAuthorized || !refusal.NonRetryable() {
				t.Fatalf("%s: the sender gets %v, %v", c.reason, got.value, got.err)
			}
			if want := string(c.want.Verb) + " of " + c.want.Subject() + " is not allowed: only the release manager may do this"; refusal.Message() != want {
				t.Errorf("%s: the sender reads %q, want %q", c.reason, refusal.Message(), want)
			}
			got, allowed := updateWith(t, func(context.Context, Action) error { return nil }, c.update, c.message, nil)
			if got.err != nil || got.value != "handled" {
				t.Errorf("%s: allowed, and the sender gets %v, %v", c.reason, got.value, got.err)
			}
			if diff := cmp.Diff([]string{string(c.want.Verb) + " false", string(c.want.Verb) + " true"}, append(decisions, allowed...)); diff != "" {
				t.Errorf("recorded decisions (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAuthorizeFailsClosed checks that a message is refused where no decision is made.
//
//guard:the-hook-of-an-embedder
func TestAuthorizeFailsClosed(t *testing.T) {
	t.Parallel()
	desired := stubDesired(t)
	cases := map[string]struct {
		reason string
		allow  func(context.Context, Action) error
		start  func(*testsuite.TestWorkflowEnvironment)
		want   string
	}{
		"panics": {"a mistake of the embedder", func(context.Context, Action) error { panic("nil map") }, nil, "the check of the worker failed: nil map"},
		"forged": {
			"the memo of a workflow that was not started by a command", func(context.Context, Action) error { return nil },
			func(env *testsuite.TestWorkflowEnvironment) {
				_ = env.SetMemoOnStart(map[string]any{workflows.MemoID: "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/harmless"})
			}, "names another resource",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, decisions := updateWith(t, c.allow, workflows.DeleteUpdate, workflows.DeleteInput{}, c.start)
			if got.err == nil || !strings.Contains(got.err.Error(), c.want) || !strings.Contains(got.err.Error(), desired.ID.Short()) && name != "forged" {
				t.Errorf("%s: got %v, want %q", c.reason, got.err, c.want)
			}
			if diff := cmp.Diff([]string{"delete false"}, decisions); diff != "" {
				t.Errorf("%s: decisions (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

// deadlockTimeout is the time after which the SDK takes workflow code for deadlocked.
const deadlockTimeout = time.Second

// kept returns the decisions in memory.
func (d *decisions) kept() (kept []*decision) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Collect(maps.Values(d.byMessage))
}

// TestAuthorizeTakesTime checks that a message whose decision takes longer than a workflow may
// wait is refused for now, and passes when it comes again.
//
//guard:the-hook-of-an-embedder
func TestAuthorizeTakesTime(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	answer := make(chan error, 1)
	slow := func(context.Context, Action) error { asked.Add(1); return <-answer }
	link := newAuthorizer(slow, senders{data: payload.DataConverter()}, slog.New(slog.DiscardHandler), nil)
	begun := time.Now()
	got := update(t, link, workflows.DeleteUpdate, workflows.DeleteInput{}, nil)
	refusal, ok := errors.AsType[*temporal.ApplicationError](got.err)
	if !ok || refusal.Type() != workflows.RefusedNotDecided || refusal.NonRetryable() {
		t.Fatalf("the sender gets %v, %v", got.value, got.err)
	}
	if want := "delete of " + stubDesired(t).ID.Short() + " is not decided yet; try again"; refusal.Message() != want {
		t.Errorf("the sender reads %q, want %q", refusal.Message(), want)
	}
	if took := time.Since(begun); took > deadlockTimeout {
		t.Errorf("the delivery took %s", took)
	}
	answer <- nil
	for _, one := range link.decisions.kept() {
		<-one.made
	}
	if got = update(t, link, workflows.DeleteUpdate, workflows.DeleteInput{}, nil); got.err != nil || got.value != "handled" || asked.Load() != 1 {
		t.Errorf("the repetition gets %v, %v after %d questions", got.value, got.err, asked.Load())
	}
}

// TestEveryUpdateIsDecided checks that a new update is either a verb or a message between
// workers: one that is forgotten would pass without a decision, or with a verb that no
// embedder knows.
//
//guard:the-hook-of-an-embedder
func TestEveryUpdateIsDecided(t *testing.T) {
	t.Parallel()
	verbs := map[string]bool{}
	for _, verb := range []Verb{VerbApply, VerbReconcile, VerbPause, VerbResume, VerbDelete, VerbAbort, VerbForget, VerbUnfreeze} {
		verbs[string(verb)] = true
	}
	found := 0
	for name, value := range updateNames(t) {
		found++
		if verbs[value] == internalUpdates[value] {
			t.Errorf("%s (%s) is a verb: %t, a message between workers: %t", name, value, verbs[value], internalUpdates[value])
		}
		if stubUpdates[value] == nil {
			t.Errorf("%s has no test here", name)
		}
	}
	if found < len(stubUpdates) {
		t.Errorf("found %d updates in package workflows", found)
	}
}

// updateNames returns the constants of package workflows that end with Update.
func updateNames(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../workflows/*.go")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			for i, name := range spec.Names {
				if !strings.HasSuffix(name.Name, "Update") || i >= len(spec.Values) {
					continue
				}
				if literal, ok := spec.Values[i].(*ast.BasicLit); ok {
					names[name.Name], _ = strconv.Unquote(literal.Value)
				}
			}
			return true
		})
	}
	return names
}
