package e2e

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/temporaldev"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// TestBadInput checks the message and exit code of every kind of bad input, and
// that none of them starts a workflow.
func TestBadInput(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	w.StartWorker(harness.WorkerOptions{})
	t.Run("manifests", func(t *testing.T) {
		for name, tc := range badManifests() {
			t.Run(name, func(t *testing.T) { refusesManifest(w.On(t), tc) })
		}
	})
	t.Run("command lines", func(t *testing.T) { refusesCommandLines(w.On(t)) })
	t.Run("not managed", func(t *testing.T) { refusesNotManaged(w.On(t)) })
	onlyWorkflows(w)
	var known []string
	for name, play := range map[string]func(*testing.T, scenarios, thing){
		"once-on-managed": playOnceOnManaged, "apply-while-deleting": playApplyWhileDeleting,
		"secret-not-allowed": playSecretNotAllowed, "ended": playEnded,
	} {
		r := thing{group: name, name: name, interval: "0"}
		known = append(known, w.WorkflowID(r.id()))
		t.Run(name, func(t *testing.T) {
			s := scenarios{w.On(t)}
			s.putGroup(name)
			play(t, s, r)
		})
	}
	onlyWorkflows(w, known...)
}

// onlyWorkflows checks that these workflows exist and no others. Visibility lags, so
// the check starts a workflow of its own last and waits for it.
func onlyWorkflows(w *harness.World, known ...string) {
	w.T.Helper()
	last := thing{group: "last", name: "last", interval: "0"}
	scenarios{w}.apply(last, "small")
	want := append([]string{w.WorkflowID(last.id())}, known...)
	slices.Sort(want)
	w.Until(20*time.Second, "exactly the workflows that were started", func() (bool, string) {
		page, err := w.Client.ListWorkflow(w.T.Context(), &workflowservice.ListWorkflowExecutionsRequest{Namespace: temporaldev.Namespace})
		if err != nil {
			return false, err.Error()
		}
		var got []string
		for _, info := range page.GetExecutions() {
			if id := info.GetExecution().GetWorkflowId(); !strings.HasPrefix(id, workflows.PlanIDPrefix) {
				got = append(got, id) // a plan manages nothing
			}
		}
		slices.Sort(got)
		if len(got) > len(want) {
			w.T.Fatalf("there are more workflows than were started (-want +got):\n%s", cmp.Diff(want, got))
		}
		return slices.Equal(want, got), cmp.Diff(want, got)
	})
}

func refusesManifest(w *harness.World, tc badInput) {
	w.T.Helper()
	files := tc.files
	if files == nil {
		files = map[string]string{"m.yaml": tc.yaml}
	}
	folder := w.T.TempDir()
	w.Folder = folder
	for name, content := range files {
		w.Write(name, content)
	}
	// A delete of manifests starts workflows too.
	for _, command := range [][]string{{"apply", "-f", folder}, {"delete", "--yes", "-f", folder}} {
		result := w.CLI(append(command, tc.flags...)...)
		if result.Code != 2 || result.Out != "" {
			w.T.Errorf("%s: want exit code 2 and no output of %s", tc.reason, result)
		}
		for _, want := range append([]string{"invalid manifests, nothing was started"}, tc.want...) {
			if !strings.Contains(result.Err, want) {
				w.T.Errorf("%s: standard error lacks %q: %s", tc.reason, want, result)
			}
		}
		if tc.hides != "" && strings.Contains(result.Err, tc.hides) {
			w.T.Errorf("%s: standard error repeats the value: %s", tc.reason, result)
		}
	}
}

func refusesCommandLines(w *harness.World) {
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"frobnicate"}, `unknown command "frobnicate"`},
		{[]string{"apply"}, "apply needs -f PATH"},
		{[]string{"apply", "--nope"}, "unknown flag: --nope; see `armature apply --help`"},
		{[]string{"apply", "-f", "-", "--timeout", "5"}, `--timeout "5": invalid duration`},
		{[]string{"apply", "-f", "/does/not/exist"}, "/does/not/exist: "},
		{[]string{"get", "-o", "xml"}, `output format "xml" is not known; allowed are table, wide, json, yaml`},
		{[]string{"get", "-l", "stack"}, `"stack" is not key=value`},
		{[]string{"describe"}, "name the resources"},
		{[]string{"describe", subscription + "/resourceGroups/.."}, `the segment ".." is not allowed`},
		{[]string{"delete", "--yes", subscription + "/resourceGroups/a%2fb"}, `contains '%'`},
		{[]string{"delete", "--yes"}, "name the resources"},
		{[]string{"reconcile", "x", "--force"}, "--force needs --reason"},
		{[]string{"wait", "--for", "tea"}, "tea"},
	} {
		if result := w.CLI(tc.args...); result.Code != 2 || !strings.Contains(result.Err, tc.want) {
			w.T.Errorf("want exit code 2 and %q of %s", tc.want, result)
		}
	}
}

// refusesNotManaged checks that no message starts a workflow for an unmanaged
// resource.
func refusesNotManaged(w *harness.World) {
	id := thing{group: "unmanaged", name: "unmanaged"}.id()
	for _, command := range [][]string{{"delete", "--yes"}, {"delete", "--yes", "--wait"}, {"reconcile"}, {"pause"}, {"resume"}, {"describe"}, {"wait"}} {
		for name, want := range map[string]string{id: "it is not managed", "unmanaged": "no managed resource has this name"} {
			if result := w.CLI(append(command, name)...); result.Code != 1 || !strings.Contains(result.Err, want) {
				w.T.Errorf("want exit code 1 and %q of %s", want, result)
			}
		}
	}
	_, err := w.Client.DescribeWorkflowExecution(w.T.Context(), w.WorkflowID(id), "")
	if notFound := (*serviceerror.NotFound)(nil); !errors.As(err, &notFound) {
		w.T.Errorf("a workflow for an unmanaged resource: %v", err)
	}
	if requests := w.Sim.Counters().ByID[strings.ToLower(id)]; len(requests) > 0 {
		w.T.Errorf("requests to an unmanaged resource: %v", requests)
	}
}

func playOnceOnManaged(t *testing.T, s scenarios, r thing) {
	playCreate(t, s, r)
	result := s.CLI("apply", "--once", "-f", s.Write(r.name+".yaml", r.manifest("large")))
	if result.Code != 1 || !strings.Contains(result.Err, "refused: "+r.name+" is managed already, and --once would end that: apply it without --once") {
		t.Errorf("want exit code 1 and the reason of %s", result)
	}
	if status, err := s.Status(r.id()); err != nil || status.Generation != 1 || status.Phase != workflows.PhaseReady {
		t.Errorf("generation %d in phase %s (%v), want the first one, still Ready", status.Generation, status.Phase, err)
	}
}

func playApplyWhileDeleting(t *testing.T, s scenarios, r thing) {
	playCreate(t, s, r)
	s.Sim.Call(http.MethodPost, "/faults", armsim.Fault{ID: r.name, Method: http.MethodDelete, Path: r.id(), Gate: true}, nil)
	s.MustCLI("delete", r.id(), "--yes")
	// Until then an apply takes the deletion back.
	s.untilHeld(r.name)
	for _, flags := range [][]string{nil, {"--once"}, {"--wait"}} {
		result := s.CLI(append([]string{"apply", "-f", s.Write(r.name+".yaml", r.manifest("large"))}, flags...)...)
		if result.Code != 1 || !strings.Contains(result.Err, "refused: "+r.name+" is being deleted, and a DELETE runs: apply again in some seconds, which takes the deletion back if Azure accepts none") {
			t.Errorf("want exit code 1 and the reason of %s", result)
		}
	}
	s.Sim.Call(http.MethodDelete, "/faults/"+r.name, nil, nil)
	s.MustCLI("wait", r.id(), "--for", "deleted", "--timeout", "30s")
	if puts := s.Sim.Count(http.MethodPut, r.id()); puts != 1 {
		t.Errorf("%d PUTs, want none while it was being deleted", puts)
	}
}

// playSecretNotAllowed applies a secret outside the worker's allow-lists. Only the
// worker knows them: the apply is accepted, no request is sent to ARM, and describe
// shows what to change.
func playSecretNotAllowed(t *testing.T, s scenarios, r thing) {
	for reference, want := range map[string]string{
		"env:AZURE_CLIENT_SECRET": "resolve $secret env:AZURE_CLIENT_SECRET: the worker's config allows only variables that begin with ARMATURE_SECRET_ for resources of the default credential; rename the variable or change secrets.env-prefix",
		"file:password":           "resolve $secret file:password: the worker's config allows no files for resources of the default credential; set secrets.dir",
	} {
		text := strings.Replace(r.manifest("small"), "size: small", "password: {$secret: '"+reference+"'}", 1)
		s.MustCLI("apply", "-f", s.Write(r.name+".yaml", text))
		status := s.UntilStatus(20*time.Second, r.id(), "shows "+want, func(status workflows.Status) bool {
			return strings.Contains(status.Condition.Message, want)
		})
		if status.Condition.Reason != resource.ReasonSecretNotFound || time.Until(status.NextTry) < 30*time.Minute {
			t.Errorf("condition %+v, next try %s; want SecretNotFound, tried again very slowly", status.Condition, status.NextTry)
		}
		if result := s.CLI("wait", r.id(), "--timeout", "1s"); result.Code != 1 || !strings.Contains(result.Out+result.Err, "SecretNotFound") {
			t.Errorf("want exit code 1 and the reason of %s", result)
		}
		page := s.MustCLI("describe", r.id()).Out
		for _, part := range []string{"False  Warning  SecretNotFound", want} {
			if !strings.Contains(page, part) {
				t.Errorf("describe lacks %q:\n%s", part, page)
			}
		}
	}
	if puts := s.Sim.Count(http.MethodPut, r.id()); puts != 0 {
		t.Errorf("%d PUTs, want none", puts)
	}
}

// playEnded checks that messages to a workflow that ended start nothing.
func playEnded(t *testing.T, s scenarios, r thing) {
	s.MustCLI("apply", "--once", "--wait", "--timeout", "30s", "-f", s.Write(r.name+".yaml", r.manifest("small")))
	run := s.RunID(r.id())
	s.Until(20*time.Second, "the run of --once ends", func() (bool, string) {
		description, err := s.Client.DescribeWorkflowExecution(t.Context(), s.WorkflowID(r.id()), "")
		state := description.GetWorkflowExecutionInfo().GetStatus()
		return err == nil && state == enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED, state.String()
	})
	for _, command := range [][]string{{"delete", "--yes"}, {"reconcile"}, {"pause"}} {
		if result := s.CLI(append(command, r.id())...); result.Code != 1 || !strings.Contains(result.Err, "it is not managed (its workflow ended: Completed); nothing was started") {
			t.Errorf("want exit code 1 and the reason of %s", result)
		}
	}
	if s.RunID(r.id()) != run {
		t.Error("a message started a new run")
	}
	if deletes := s.Sim.Count(http.MethodDelete, r.id()); deletes != 0 {
		t.Errorf("%d DELETEs of an unmanaged resource", deletes)
	}
}
