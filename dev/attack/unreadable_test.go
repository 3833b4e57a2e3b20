package main

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/internal/searchattr"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// anyCode is the exit code of doctor: it fails once the task of the forged workflow has failed
// often enough.
const anyCode = -1

// unreadableLabel is the label of everything in the scene.
const unreadableLabel = "scene=unreadable"

// TestUnreadableWorkflows starts two workflows of resources with an unknown key, on the task
// queue of the worker and on one that nobody serves. They have labels, and one claims to need
// a resource. Every command works and shows them, and another worker starts.
func TestUnreadableWorkflows(t *testing.T) {
	t.Parallel()
	s := newScene(t, "unreadable").serve()
	manifest := func(name string) string {
		return s.manifest(name, "", "labels: {"+strings.Replace(unreadableLabel, "=", ": ", 1)+"}")
	}
	honest := manifest("honest")
	for _, name := range []string{"honest", "stale", "needed"} {
		s.MustCLI("apply", "-f", manifest(name), "--wait", "--timeout", "2m")
	}
	s.unreadable("fake-own", s.taskQueue(), s.id("needed"))
	s.unreadable("fake-other", "attack-nobody", "")
	s.Until(time.Minute, "lists show the forged workflows", func() (bool, string) {
		out := s.CLI("get", "-l", unreadableLabel).Out
		return strings.Contains(out, "fake-own") && strings.Contains(out, "fake-other"), out
	})

	for name, tc := range map[string]struct {
		args []string
		code int
		want []string
	}{
		"get":             {args: []string{"get"}, want: []string{"honest", "fake-own", "fake-other", "Unreadable", "key bogus", "temporal workflow terminate"}},
		"get JSON":        {args: []string{"get", "-l", unreadableLabel, "-o", "json"}, want: []string{"honest", "fake-own", "key bogus"}},
		"describe":        {args: []string{"describe", "-l", unreadableLabel}, want: []string{"honest", "fake-other", "key bogus"}},
		"why":             {args: []string{"why", "-l", unreadableLabel}, want: []string{"key bogus"}},
		"history":         {args: []string{"history", s.id("honest")}},
		"plan":            {args: []string{"plan", "-f", honest}},
		"apply":           {args: []string{"apply", "-f", manifest("new"), "--wait", "--timeout", "2m"}},
		"reconcile":       {args: []string{"reconcile", s.id("honest")}},
		"drift":           {args: []string{"drift", s.id("honest")}},
		"drift of all":    {args: []string{"drift", "-l", unreadableLabel, "-o", "wide"}, code: 1, want: []string{"honest", "stale", "fake-other", "key bogus"}},
		"pause by name":   {args: []string{"pause", "stale", "--reason", "test"}},
		"freeze":          {args: []string{"freeze", "-l", "scene=none", "--reason", "test"}},
		"a dependent":     {args: []string{"delete", s.id("needed"), "--yes"}, code: 1, want: []string{"fake-own"}},
		"an unknown spec": {args: []string{"delete", s.id("fake-other"), "--yes"}, code: 1, want: []string{"its manifest: it is encrypted with the key bogus"}},
		"doctor":          {args: []string{"doctor"}, code: anyCode, want: []string{"unreadable here and protected", "key bogus", "mask key"}},
	} {
		t.Run(name, func(t *testing.T) {
			result := s.On(t).CLI(tc.args...)
			if result.Code != tc.code && tc.code != anyCode {
				t.Errorf("want exit code %d of %s", tc.code, result)
			}
			for _, want := range tc.want {
				if !strings.Contains(result.Out+result.Err, want) {
					t.Errorf("want %q in %s", want, result)
				}
			}
		})
	}

	// A prune refuses the rows, and deletes the rest if it is told to.
	s.CLI("resume", "stale")
	prune := []string{"apply", "-f", honest, "--prune", "-l", unreadableLabel, "--yes"}
	if refused := s.CLI(prune...); refused.Code != 1 || !strings.Contains(refused.Out, "key bogus") {
		t.Errorf("a prune does not name what it cannot read: %s", refused)
	}
	s.CLI(append(prune, "--keep-going")...)
	s.Until(time.Minute, "the prune deletes what can be read", func() (bool, string) {
		return s.writes(http.MethodDelete, s.id("stale")) == 1, s.CLI("get", "-l", unreadableLabel).Out
	})
	for _, name := range []string{"needed", "fake-own", "fake-other"} {
		if n := s.writes(http.MethodDelete, s.id(name)); n > 0 {
			t.Errorf("%s was deleted", name)
		}
	}
	second := s.StartWorker(harness.WorkerOptions{Env: s.environment()})
	if log := second.Log(); !strings.Contains(log, "some workflows cannot be read") || strings.Contains(log, "attack-nobody") {
		t.Errorf("the worker does not warn of its own task queue:\n%s", log)
	}
}

// unreadable starts a workflow of a thing whose memo and input nobody can read.
func (s *scene) unreadable(name, taskQueue, needs string) {
	s.T.Helper()
	id, err := resource.ParseID(s.id(name))
	if err != nil {
		s.T.Fatal(err)
	}
	sealed := converter.NewRawValue(&commonpb.Payload{
		Metadata: map[string][]byte{"encoding": []byte("binary/aes-256-gcm"), "encryption-key-id": []byte("bogus")}, Data: []byte("x"),
	})
	attributes := []temporal.SearchAttributeUpdate{temporal.NewSearchAttributeKeyKeywordList(searchattr.ReconcileLabels).ValueSet([]string{unreadableLabel})}
	if needed, err := resource.ParseID(needs); err == nil {
		attributes = append(attributes, temporal.NewSearchAttributeKeyKeywordList(searchattr.ReconcileNeeds).ValueSet([]string{workflows.WaitingKey(needed)}))
	}
	run, err := s.Client.ExecuteWorkflow(s.T.Context(), client.StartWorkflowOptions{
		ID: id.WorkflowID(), TaskQueue: taskQueue, Memo: map[string]any{workflows.MemoID: sealed},
		TypedSearchAttributes: temporal.NewSearchAttributes(attributes...),
	}, workflows.ReconcileResourceWorkflow, sealed)
	if err != nil {
		s.T.Fatal(err)
	}
	s.T.Cleanup(func() {
		_ = s.Client.TerminateWorkflow(context.WithoutCancel(s.T.Context()), run.GetID(), run.GetRunID(), "the test ended")
	})
}
