package webui

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"
	uiconfig "github.com/temporalio/ui-server/v2/server/config"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/temporaldev"
	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/workflows"
)

// The resources of the story, in the examples' group.
const (
	group    = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/armature-demo"
	cluster  = group + "/providers/Microsoft.Kusto/clusters/adx"
	database = cluster + "/databases/telemetry"
	firewall = group + "/providers/Microsoft.Network/networkSecurityGroups/demo-nsg"
)

// story is a world with a Web UI and a browser.
type story struct {
	*harness.World
	ui     *temporaldev.UI
	b      *browser
	worker *harness.Worker
}

// TestWebUI opens the pages that an operator on call needs, for a cluster that is
// Updating while its databases wait.
func TestWebUI(t *testing.T) {
	if os.Getenv(chromiumVariable) == "" {
		t.Skip("no browser: `make test-webui` installs Chromium and runs this test")
	}
	t.Parallel()
	s := newStory(t)
	for name, look := range map[string]func(story){
		"list": story.list, "timeline": story.timeline, "details": story.details,
		"body": story.body, "body without codec server": story.noCodec,
	} {
		t.Run(name, func(t *testing.T) { look(s.on(t)) })
	}
	t.Run("ready again", func(t *testing.T) { s.on(t).release() })
}

func (s story) on(t *testing.T) story {
	return story{World: s.On(t), ui: s.ui, b: s.b.on(t), worker: s.worker}
}

// list checks that the list of workflows, filtered by phase, shows the blocked ones.
func (s story) list() {
	s.T.Helper()
	s.b.open(s.ui.Address())
	s.b.untilTrue("the Web UI runs", "document.querySelector('main') !== null")
	// What "Configure Columns" below the table keeps in the browser.
	evaluate[chromedp.Void](s.b, `localStorage.setItem('namespace-workflow-table-columns', JSON.stringify({
  default: ['ReconcilePhase', 'ReconcileReason', 'Workflow ID'].map(label => ({label}))}))`)
	s.b.resize(1860, 480)
	s.b.open(s.ui.Address() + "/namespaces/" + temporaldev.Namespace + "/workflows?query=" + url.QueryEscape(`ReconcilePhase = "Blocked"`))
	s.b.until("ReconciliationBlocked", "3 Workflows")
	listed := evaluate[[]string](s.b, `[...document.querySelectorAll('main tbody tr')].map(row => row.textContent)`)
	var got []string
	for _, row := range listed {
		id := regexp.MustCompile(`/subscriptions/\S+/databases/[a-z]+`).FindString(row)
		if id == "" || !strings.Contains(row, "Blocked") {
			s.T.Errorf("a row of the list is %q", row)
		}
		got = append(got, id)
	}
	slices.Sort(got)
	var want []string
	for _, name := range []string{"audit", "telemetry", "traces"} {
		want = append(want, s.WorkflowID(cluster+"/databases/"+name))
	}
	if diff := cmp.Diff(want, slices.Compact(got)); diff != "" {
		s.T.Errorf("the list of blocked resources is not the list of the databases (-want +got):\n%s", diff)
	}
	s.b.screenshot("list")
}

// timeline checks that each timer of a blocked resource shows why it waits.
func (s story) timeline() {
	s.T.Helper()
	s.b.resize(1400, 960)
	s.b.open(s.ui.WorkflowAddress(s.WorkflowID(database)))
	s.b.until("ReconciliationBlocked: Owning cluster is in provisioning state “Updating”; try 5", "CheckOwner")
	s.b.screenshot("blocked")
}

// details checks that the current details show the state, its reason, the resource it
// waits for, and the next try.
func (s story) details() {
	s.T.Helper()
	s.b.resize(1400, 1000)
	s.b.open(s.page(database, "user-metadata"))
	s.b.until("Current Details", "Blocked", `Owning cluster is in provisioning state “Updating”`, "waiting for", "next try", "Last decisions")
	s.b.screenshot("details")
}

// body checks that the applied body is readable, although the history has it
// compressed.
func (s story) body() {
	s.T.Helper()
	s.b.resize(1600, 1100)
	s.b.open(s.page(firewall, fmt.Sprintf("history/events/%d", s.applied())))
	shown := s.b.until("allow-rule-01", "destinationAddressPrefix")
	if strings.Contains(shown, payload.Encoding) {
		s.T.Errorf("the page shows the encoding %s of a body that it decoded", payload.Encoding)
	}
	s.b.screenshot("body")
}

// noCodec checks that the body is not readable without the codec server, so that body
// tests the codec server.
func (s story) noCodec() {
	s.T.Helper()
	ui, err := temporaldev.StartUI(s.T.Context(), s.Temporal.Address(), temporaldev.UIOptions{Codec: &uiconfig.Codec{}})
	if err != nil {
		s.T.Fatal(err)
	}
	s.T.Cleanup(func() { _ = ui.Stop() })
	s.ui = ui
	s.b.open(s.page(firewall, fmt.Sprintf("history/events/%d", s.applied())))
	encoded := base64.StdEncoding.EncodeToString([]byte(payload.Encoding))
	if shown := s.b.until(encoded); strings.Contains(shown, "allow-rule-01") {
		s.T.Errorf("the body is readable without a codec server: %s", shown)
	}
}

// release ends the cluster's operation and checks the whole timeline.
func (s story) release() {
	s.T.Helper()
	s.Sim.Call(http.MethodDelete, "/holds", nil, nil)
	s.UntilPhase(90*time.Second, database, workflows.PhaseReady)
	s.Until(60*time.Second, "the resource that waited for the database is woken", func() (bool, string) {
		answer, err := s.Client.DescribeWorkflowExecution(s.T.Context(), s.WorkflowID(database), "")
		return err == nil && len(answer.GetPendingActivities()) == 0, fmt.Sprint(answer.GetPendingActivities(), err)
	})
	s.b.resize(1400, 1600)
	s.b.open(s.ui.WorkflowAddress(s.WorkflowID(database)))
	s.b.until("ready: next try", "properties.softDeletePeriod “P1D” -> “P30D”", "ReconciliationBlocked")
	s.b.screenshotFrom("timeline", "Timeline")
}

// page returns the URL path of a page about the latest run of a resource's workflow.
func (s story) page(id, name string) string {
	s.T.Helper()
	return s.ui.WorkflowAddress(s.WorkflowID(id)) + "/" + s.RunID(id) + "/" + name
}

// applied returns the ID of the event with the compressed body of the firewall.
func (s story) applied() int64 {
	s.T.Helper()
	for _, event := range s.History(firewall).GetEvents() {
		input := event.GetWorkflowExecutionUpdateAcceptedEventAttributes().GetAcceptedRequest().GetInput()
		for _, argument := range input.GetArgs().GetPayloads() {
			if string(argument.GetMetadata()["encoding"]) == payload.Encoding {
				return event.GetEventId()
			}
		}
	}
	s.T.Fatalf("no update of %s has a compressed argument", firewall)
	return 0
}
