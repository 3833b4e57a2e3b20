package temporaldev_test

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/armature-io/armature/dev/temporaldev"
)

const taskQueue = "test"

var phase = temporal.NewSearchAttributeKeyKeyword("ReconcilePhase")

// echo waits for a signal and returns its input, so that a test can stop the server in
// the meantime.
func echo(ctx workflow.Context, text string) (string, error) {
	if err := workflow.UpsertTypedSearchAttributes(ctx, phase.ValueSet("Ready")); err != nil {
		return "", err
	}
	workflow.GetSignalChannel(ctx, "go").Receive(ctx, nil)
	return text, nil
}

func TestServerContinuesItsFolder(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	folder := filepath.Join(t.TempDir(), "made by", "start #1?", "100%25")
	options := temporaldev.Options{SearchAttributes: map[string]enumspb.IndexedValueType{
		"ReconcilePhase":      enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		"ReconcileWaitingFor": enumspb.INDEXED_VALUE_TYPE_KEYWORD_LIST,
	}}
	text := strings.Repeat("kept over the restart ", 500)

	first := start(ctx, t, folder, options)
	c := dial(t, first)
	run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: "/a/b c", TaskQueue: taskQueue}, echo, text)
	if err != nil {
		t.Fatal(err)
	}
	work(t, c)
	waitForPhase(ctx, t, c)
	c.Close()
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}

	second := start(ctx, t, folder, options)
	c = dial(t, second)
	work(t, c)
	if err := c.SignalWorkflow(ctx, run.GetID(), "", "go", nil); err != nil {
		t.Fatal(err)
	}
	var got string
	if err := c.GetWorkflow(ctx, run.GetID(), run.GetRunID()).Get(ctx, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(text, got); diff != "" {
		t.Errorf("the restarted server changed the workflow's argument (-want +got):\n%s", diff)
	}
	for _, name := range []string{temporaldev.LogFile, temporaldev.DatabaseFile} {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			t.Errorf("%s is not in the server's folder: %v", name, err)
		}
	}
}

func TestConcurrentServers(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	first := start(ctx, t, t.TempDir(), temporaldev.Options{})
	second := start(ctx, t, t.TempDir(), temporaldev.Options{})
	if first.Address() == second.Address() {
		t.Fatalf("both servers listen on %s", first.Address())
	}
	if _, err := dial(t, first).ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: "w", TaskQueue: taskQueue}, echo, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := dial(t, second).DescribeWorkflowExecution(ctx, "w", ""); err == nil {
		t.Error("the second server knows a workflow of the first")
	}
	for _, s := range []*temporaldev.Server{first, second} {
		if !strings.HasPrefix(s.Address(), "127.0.0.1:") {
			t.Errorf("the server listens on %s, want a loopback address", s.Address())
		}
	}
}

func TestUI(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	server := start(ctx, t, t.TempDir(), temporaldev.Options{})
	ui, err := temporaldev.StartUI(ctx, server.Address(), temporaldev.UIOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		ui.Address() + "/namespaces/default/workflows":     "<html",
		ui.Address() + "/api/v1/namespaces/default":        `"default"`,
		ui.Address() + "/api/v1/settings":                  ui.CodecAddress(),
		ui.WorkflowAddress("/subscriptions/1/name with ~"): "<html",
	} {
		if body := get(ctx, t, name); !strings.Contains(body, want) {
			t.Errorf("GET %s does not contain %q:\n%.300s", name, want, body)
		}
	}
	if err := ui.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := http.Get(ui.Address()); err == nil {
		t.Error("the web ui answers after Stop")
	}
}

func TestWorkflowAddressEscapesSlashes(t *testing.T) {
	server := start(t.Context(), t, t.TempDir(), temporaldev.Options{})
	ui, err := temporaldev.StartUI(t.Context(), server.Address(), temporaldev.UIOptions{Namespace: "other"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ui.Stop() })
	want := ui.Address() + "/namespaces/other/workflows/%2Fsubscriptions%2F1%2Fresourcegroups%2Fmy%20rg"
	if got := ui.WorkflowAddress("/subscriptions/1/resourcegroups/my rg"); got != want {
		t.Errorf("WorkflowAddress = %s, want %s", got, want)
	}
}

func TestUsedPortIsRefused(t *testing.T) {
	server := start(t.Context(), t, t.TempDir(), temporaldev.Options{})
	address, err := url.Parse("http://" + server.Address())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := temporaldev.StartUI(t.Context(), server.Address(), temporaldev.UIOptions{Port: portOf(t, address)}); err == nil {
		t.Error("the web ui started on the temporal server's port")
	}
	if _, err := temporaldev.Start(t.Context(), t.TempDir(), temporaldev.Options{Port: portOf(t, address)}); err == nil {
		t.Error("a second temporal server started on the same port")
	}
}

func waitForPhase(ctx context.Context, t *testing.T, c client.Client) {
	t.Helper()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		answer, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: "ReconcilePhase = 'Ready'"})
		if err == nil && len(answer.GetExecutions()) == 1 {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("wait for the search attribute: %v (last answer: %v, %v)", ctx.Err(), answer, err)
		case <-ticker.C:
		}
	}
}
