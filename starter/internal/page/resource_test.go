package page

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/exporting"
	"github.com/armature-io/armature/internal/audit"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
)

// blockedWorld has a database that waits for its cluster, with everything that a page shows.
func blockedWorld(t *testing.T) *world {
	t.Helper()
	r := record(t, database, workflows.PhaseBlocked, because(resource.ReasonReconciliationBlocked), waitsFor(t, cluster), labeled("stack=prod"))
	r.RunID, r.Events = "run-1", 40
	w := newWorld(r, record(t, cluster, workflows.PhaseOperating, because(resource.ReasonReconciling)))
	w.statuses[r.WorkflowID] = workflows.Status{
		ID: r.ID, Name: "telemetry", APIVersion: "2023-08-15", Policy: resource.PolicyManage, Interval: time.Hour, Generation: 2, AppliedBy: "ann@laptop",
		Phase:       workflows.PhaseBlocked,
		Condition:   resource.Condition{Severity: resource.SeverityWarning, Reason: resource.ReasonReconciliationBlocked, Message: `Owning cluster is in provisioning state "Updating"`, Origin: "azure.KustoDatabase", LastTransitionTime: w.now.Add(-time.Minute)},
		WaitingFor:  []resource.ID{mustID(t, cluster)},
		NextTry:     w.now.Add(30 * time.Second),
		Differences: []resource.Difference{{Path: "properties.softDeletePeriod", Desired: "P30D", Observed: "P1D"}}, DifferencesAt: w.now.Add(-2 * time.Minute),
		Findings: activities.Findings{Kept: []string{"properties.kept"}, Owned: []string{"sku.capacity belongs to autoscale setting a1"}, Foreign: []string{"identity.type: SystemAssigned"}, Unverified: []string{"properties.secret"}},
		Exports:  []exporting.Exported{{To: "keyvault:https://kv.vault.azure.net/secrets/uri", Version: "abc"}},
		Decisions: []workflows.Decision{
			{At: w.now.Add(-3 * time.Minute), Pass: 4, Step: "PutResource", Action: resource.ActionProceed, Message: "ARM accepted the PUT"},
			{At: w.now.Add(-time.Minute), Pass: 5, Step: "CheckOwner", Action: resource.ActionBlock, Reason: resource.ReasonReconciliationBlocked, Count: 3},
		},
	}
	w.history = []audit.Record{
		{Time: w.now.Add(-time.Hour), Event: audit.EventApply, Result: audit.ResultRequested, By: &audit.Subject{Name: "ann@laptop"}, Message: "generation 2"},
		{Time: w.now.Add(-3 * time.Minute), Event: audit.EventWrite, Method: "PUT", Result: audit.ResultAccepted, Reason: "Drift", Differences: []audit.Difference{{Path: "properties.softDeletePeriod", Desired: "P30D", Observed: "P7D"}}},
	}
	return w
}

func TestResource(t *testing.T) {
	w := blockedWorld(t)
	b := w.visit(t)
	page := b.get("/resource?id=" + database).Body.String()
	for want, reason := range map[string]string{
		"Owning cluster is in provisioning state": "the condition in words",
		"usually no one":                             "who acts",
		`datetime="2026-11-21T12:00:30Z"`:            "the next try",
		"waits for":                                  "the chain of causes",
		"no one has to act":                          "the root cause",
		"properties.softDeletePeriod":                "a difference",
		"P1D":                                        "Azure's value",
		"autoscale setting a1":                       "the owner of a difference",
		"Azure: it kept its own value":               "a value that Azure keeps",
		"identity.type: SystemAssigned":              "a foreign value",
		"properties.secret":                          "a value that is not visible",
		"keyvault:https://kv.vault.azure.net":        "an export",
		"Pass 5":                                     "a pass",
		"3 times":                                    "a decision that repeats",
		"https://portal.azure.com/#resource/subscr":  "the Azure portal",
		"http://127.0.0.1:8233/namespaces/default/w": "the Temporal Web UI",
		"ann@laptop":                                 "who applied it",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q: %s", want, reason)
		}
	}
	if strings.Index(page, "Pass 5") > strings.Index(page, "Pass 4") {
		t.Error("the newest pass is not first")
	}
	history := b.get("/resource/history?id=" + database).Body.String()
	for _, want := range []string{"PUT", "accepted", "ann@laptop (unverified)", "P7D", "they begin here"} {
		if !strings.Contains(history, want) {
			t.Errorf("the history has no %q", want)
		}
	}
	if strings.Index(history, "PUT") > strings.Index(history, "generation 2") {
		t.Error("the newest event is not first")
	}
}

func TestPasses(t *testing.T) {
	begun := time.Date(2026, 11, 21, 11, 0, 0, 0, time.UTC)
	passes := newPasses([]workflows.Decision{
		{At: begun, Step: "apply", Message: "generation 1"},
		{At: begun.Add(time.Second), Pass: 1, Step: "CheckOwner", Action: resource.ActionProceed},
		{At: begun.Add(2 * time.Second), Pass: 1, Step: "PreCheck", Action: resource.ActionBlock},
		{At: begun.Add(time.Minute), Pass: 1, Step: "wake"},
		{At: begun.Add(2 * time.Minute), Pass: 2, Step: "PostCheck", Action: resource.ActionSuccess},
	})
	var got []string
	for _, p := range passes {
		got = append(got, fmt.Sprint(p.Number, " ", p.At.Sub(begun), " ", p.Tone, " ", len(p.Steps)))
	}
	want := []string{"2 2m0s good 1", "1 2s wait 3", "0 0s quiet 1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the newest pass is first, and a wake is no result of a pass (-want +got):\n%s", diff)
	}
}

func TestResourceIsShared(t *testing.T) {
	w := blockedWorld(t)
	b := w.visit(t)
	b.get("/resource?id=" + database)
	sent := w.asked
	for range 5 {
		b.get("/resource?id=" + database)
		b.get("/resource/history?id=" + database)
	}
	if w.asked != sent {
		t.Errorf("five browsers send %d requests more", w.asked-sent)
	}
	w.pass(resourceEvery)
	b.get("/resource?id=" + database)
	if w.asked != sent+1 {
		t.Errorf("an unchanged resource costs %d requests, want its record alone", w.asked-sent)
	}
}

func TestResourceStates(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(w *world)
		want   string
	}{
		"never applied": {reason: "an address of another estate", change: func(w *world) { w.records = w.records[1:] }, want: "it was never applied"},
		"no worker":     {reason: "the state is from before", change: func(w *world) { w.statuses = nil }, want: "No worker answers on the task queue armature"},
		"ready": {reason: "nothing blocks it", change: func(w *world) {
			status := w.statuses[w.records[0].WorkflowID]
			status.Phase, status.Condition = workflows.PhaseReady, resource.Condition{Ready: true, Reason: resource.ReasonSucceeded}
			w.statuses[w.records[0].WorkflowID] = status
		}, want: "resolved since"},
		"paused": {reason: "no try comes by itself", change: func(w *world) {
			status := w.statuses[w.records[0].WorkflowID]
			status.Paused = true
			w.statuses[w.records[0].WorkflowID] = status
		}, want: "armature resume adx/telemetry"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := blockedWorld(t)
			tc.change(w)
			answer := w.visit(t).get("/resource?id=" + database)
			if answer.Code != 200 || !strings.Contains(answer.Body.String(), tc.want) {
				t.Errorf("%s: %d without %q:\n%s", tc.reason, answer.Code, tc.want, answer.Body)
			}
		})
	}
}

// TestScripts puts a script into every text that a manifest, Azure or a user can supply.
func TestScripts(t *testing.T) {
	const script = `"'><script>alert(1)</script><a href=javascript:alert(2) onclick=alert(3) hx-on:click=alert(4)>`
	w := blockedWorld(t)
	id := w.records[0].WorkflowID
	status := w.statuses[id]
	status.Condition.Message, status.Condition.Origin, status.Condition.Reason, status.AppliedBy, status.Credential, status.APIVersion = script, script, resource.Reason(script), script, script, script
	status.Differences = []resource.Difference{{Path: script, Desired: script, Observed: script, Parts: []resource.DifferencePart{{Path: script, Desired: script, Observed: script}}}}
	status.Findings = activities.Findings{Kept: []string{script}, Owned: []string{script}, Foreign: []string{script}, Unverified: []string{script}}
	status.Exports[0].To, status.Exports[0].Version = script, script
	for i := range status.Decisions {
		status.Decisions[i].Step, status.Decisions[i].Message, status.Decisions[i].Origin, status.Decisions[i].Reason = script, script, script, resource.Reason(script)
	}
	w.statuses[id] = status
	for i := range w.records {
		w.records[i].Labels = []string{script + "=" + script}
		w.records[i].Summary.Condition.Message, w.records[i].Name = script, script
	}
	w.records = append(w.records, backend.Record{WorkflowID: script, Name: script, Running: true, Phase: workflows.Phase(script), Reason: resource.Reason(script), Since: w.now})
	w.freezes = []workflows.Freeze{{Selector: script, By: script, Reason: script, Except: []string{script}}}
	w.workers[0].Identity, w.workers[0].BuildID = script, script
	for i := range w.history {
		w.history[i].Message, w.history[i].Reason, w.history[i].By = script, script, &audit.Subject{Name: script}
		w.history[i].Differences = []audit.Difference{{Path: script, Desired: script, Observed: script}}
	}
	b := w.visit(t)
	for _, path := range []string{"/", "/graph", "/graph?phase=Blocked", "/resource?id=" + database, "/resource/history?id=" + database, "/?by=%3Cscript%3E", "/graph?q=%22%3E%3Cscript%3E", "/graph?label=%3Cscript%3E&type=%3Cscript%3E&of=%3Cscript%3E"} {
		answer := b.get(path)
		if answer.Code != 200 {
			t.Errorf("%s answers %d:\n%s", path, answer.Code, answer.Body)
		}
		page := answer.Body.String()
		for _, bad := range []string{"<script>", "<a href=javascript", `"javascript:`} {
			if strings.Contains(page, bad) {
				t.Errorf("%s contains %s", path, bad)
			}
		}
		if strings.Count(page, "alert(1)") == 0 && strings.HasPrefix(path, "/resource") {
			t.Errorf("%s does not show the texts at all", path)
		}
	}
}
