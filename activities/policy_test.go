package activities

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/resource"
)

// An observed resource is compared like any other, and no write is due.
func TestObserve(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, observed string
		action           resource.Action
		why              resource.Reason
		class            resource.RetryClass
		says             string
		paths            int
	}{
		"InSync":   {"nothing to report", `{"location":"westus2","properties":{"size":1}}`, resource.ActionSkip, resource.ReasonInSync, "", "", 0},
		"Drift":    {"a warning that names path and values", `{"location":"westus2","properties":{"size":7}}`, resource.ActionFailure, resource.ReasonDriftDetected, resource.RetryVerySlow, "properties.size is 7, desired 1", 1},
		"Absent":   {"an absence is reported, and nothing is created", "", resource.ActionFailure, resource.ReasonDriftDetected, resource.RetryVerySlow, "does not exist in Azure", 0},
		"InFlight": {"an operation in flight is waited for", `{"properties":{"provisioningState":"Updating"}}`, resource.ActionBlock, resource.ReasonOperationInProgress, resource.RetrySlow, "", 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			d := desired(t, thingText, plannedBody)
			d.Policy = resource.PolicyObserve
			got := local(w, w.acts.PreCheck, PreCheckInput{Desired: d, Observed: json.RawMessage(c.observed)}).Verdict
			want(t, got, c.action, c.why, c.class, c.says)
			if len(got.Differences) != c.paths || got.Create != (name == "Absent") {
				t.Errorf("%s: %+v", c.reason, got)
			}
		})
	}
}

// adopt: as-is makes the existing differences the baseline: only later drift is
// reported.
func TestObserveAsIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := desired(t, thingText, plannedBody)
	d.Policy, d.Adopt = resource.PolicyObserve, resource.AdoptAsIs
	got := local(w, w.acts.PreCheck, PreCheckInput{Desired: d, Observed: json.RawMessage(`{"location":"westus2","properties":{"size":7}}`)})
	if got.Verdict.Action != resource.ActionSkip || !got.Adopt {
		t.Errorf("at first contact %+v", got)
	}
}

// The last guard: a write that the policy does not allow is never sent.
//
//guard:policies
func TestGuardPolicies(t *testing.T) {
	t.Parallel()
	for policy, allowed := range map[resource.Policy][]string{
		resource.PolicyManage:         {http.MethodPut, http.MethodDelete},
		resource.PolicyDetachOnDelete: {http.MethodPut},
		resource.PolicyProtect:        {http.MethodPut},
		resource.PolicyObserve:        {},
	} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put(groupText, `{"location":"westus2"}`)
			w.put(thingText, `{"location":"westus2","properties":{"size":7}}`)
			d := desired(t, thingText, plannedBody)
			d.Policy = policy
			put, err := run(w, w.acts.PutResource, PutResourceInput{Desired: d, ObservedAt: w.now()})
			must(t, err)
			deleted, err := run(w, w.acts.DeleteResource, DeleteResourceInput{Desired: d})
			must(t, err)
			var sent []string
			for _, method := range allowed {
				sent = append(sent, method+" t1")
			}
			got := slices.DeleteFunc(w.requests(), func(r string) bool { return strings.HasPrefix(r, "GET ") })
			if !slices.Equal(got, sent) {
				t.Errorf("requests %v, allowed %v", got, allowed)
			}
			for method, verdict := range map[string]resource.Verdict{http.MethodPut: put.Verdict, http.MethodDelete: deleted.Verdict} {
				stopped := verdict.Reason == resource.ReasonProtected
				if stopped == strings.Contains(strings.Join(allowed, " "), method) {
					t.Errorf("%s: %+v", method, verdict)
				}
			}
		})
	}
}

// observing sets the worker's setting observe.
func observing(t *testing.T, setting string) func(*setup) {
	t.Helper()
	found, err := resource.ParseObserved(setting)
	must(t, err)
	return func(s *setup) { s.options.Observed = found }
}

// TestObservedBySetting compares a resource that the setting observes, and one that it does not:
// the first is reported in words that name the setting.
func TestObservedBySetting(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, label, observed string
		policy                  resource.Policy
		existed                 bool
		action                  resource.Action
		says, by                string
	}{
		"Drift":    {"drift is reported", "crowd", `{"location":"westus2","properties":{"size":7}}`, resource.PolicyManage, true, resource.ActionFailure, "(observed by the worker's setting observe: stack=crowd; nothing is changed)", "the worker's setting observe: stack=crowd"},
		"Absent":   {"a disappearance is reported, and nothing is created", "crowd", "", resource.PolicyManage, true, resource.ActionFailure, "does not exist in Azure (observed by the worker's setting observe: stack=crowd; nothing is changed)", "the worker's setting observe: stack=crowd"},
		"Protect":  {"whatever the policy is", "crowd", `{"location":"westus2","properties":{"size":7}}`, resource.PolicyProtect, true, resource.ActionFailure, "the worker's setting observe: stack=crowd", "the worker's setting observe: stack=crowd"},
		"InSync":   {"without drift it is in sync", "crowd", `{"location":"westus2","properties":{"size":1}}`, resource.PolicyManage, true, resource.ActionSkip, "", "the worker's setting observe: stack=crowd"},
		"Manifest": {"a manifest that observes names itself", "crowd", `{"location":"westus2","properties":{"size":7}}`, resource.PolicyObserve, true, resource.ActionFailure, "(policy observe: nothing is changed)", "policy observe"},
		"Other":    {"another label is corrected", "quiet", `{"location":"westus2","properties":{"size":7}}`, resource.PolicyManage, true, resource.ActionProceed, "", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, observing(t, "stack=data;stack=crowd"))
			d := desired(t, thingText, plannedBody)
			d.Policy, d.Labels = c.policy, map[string]string{"stack": c.label}
			got := local(w, w.acts.PreCheck, PreCheckInput{Desired: d, Observed: json.RawMessage(c.observed), Existed: c.existed})
			if got.Verdict.Action != c.action || !strings.Contains(got.Verdict.Message, c.says) || got.Observed != c.by {
				t.Errorf("%s: %+v", c.reason, got)
			}
			if got.Verdict.Create != (c.observed == "") {
				t.Errorf("the verdict says that the resource is absent: %t", got.Verdict.Create)
			}
		})
	}
}

// The last guard of the setting: no PUT, DELETE or purge leaves for what it observes.
//
//guard:policies
func TestGuardObservedBySetting(t *testing.T) {
	t.Parallel()
	for label, sends := range map[string]int{"crowd": 0, "quiet": 2} {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, observing(t, "stack=crowd"))
			w.put(groupText, `{"location":"westus2"}`)
			w.put(thingText, `{"location":"westus2","properties":{"size":7}}`)
			d := desired(t, thingText, plannedBody)
			d.Labels = map[string]string{"stack": label}
			put, err := run(w, w.acts.PutResource, PutResourceInput{Desired: d, ObservedAt: w.now()})
			must(t, err)
			deleted, err := run(w, w.acts.DeleteResource, DeleteResourceInput{Desired: d})
			must(t, err)
			sent := slices.DeleteFunc(w.requests(), func(r string) bool { return strings.HasPrefix(r, "GET ") })
			if len(sent) != sends {
				t.Errorf("requests %v, want %d", sent, sends)
			}
			for method, verdict := range map[string]resource.Verdict{http.MethodPut: put.Verdict, http.MethodDelete: deleted.Verdict} {
				names := verdict.Reason == resource.ReasonProtected && strings.HasPrefix(verdict.Message, "the worker's setting observe: stack=crowd allows no "+method+" of ")
				if names != (sends == 0) {
					t.Errorf("%s: %+v", method, verdict)
				}
			}
		})
	}
}

// TestObservedExports checks that an observed resource in sync writes no secret, and is Ready all
// the same.
func TestObservedExports(t *testing.T) {
	t.Parallel()
	for label, versions := range map[string]int{"crowd": 0, "quiet": 1} {
		w, in := exportWorld(t, observing(t, "stack=crowd"))
		in.Desired.Labels = map[string]string{"stack": label}
		got, err := run(w, w.acts.ExportValues, in)
		must(t, err)
		if n := len(w.secret("app-key").Versions); n != versions || got.Verdict.Action != resource.ActionSuccess {
			t.Errorf("%s: %d versions after %+v, want %d", label, n, got.Verdict, versions)
		}
	}
}

// TestDiagnoseObserved checks that doctor warns of the setting, and is silent without it.
func TestDiagnoseObserved(t *testing.T) {
	t.Parallel()
	for setting, text := range map[string]string{
		"": "", "true": "only observes every resource:", "stack=crowd;stack=data": "only observes the resources with stack=crowd or stack=data:",
	} {
		w := newWorld(t, observing(t, setting))
		result, err := run(w, w.acts.Diagnose, DiagnoseInput{})
		must(t, err)
		i := slices.IndexFunc(result.Findings, func(f Finding) bool { return f.Check == "observe" })
		warns := i >= 0 && result.Findings[i].State == FindingWarn && strings.Contains(result.Findings[i].Message, text)
		if warns != (setting != "") {
			t.Errorf("%q: %+v", setting, result.Findings)
		}
	}
}
