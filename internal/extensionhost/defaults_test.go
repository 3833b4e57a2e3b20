package extensionhost_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

func TestDefaultOwnerCheck(t *testing.T) {
	updating, deleting := `{"properties":{"provisioningState":"Updating"}}`, `{"properties":{"provisioningState":"Deleting"}}`
	cases := map[string]struct {
		reason      string
		id, ownerID string
		observed    string
		note        string
		force       bool
		want        resource.Action
		wantReason  resource.Reason
		message     string
	}{
		"no owner":          {reason: "a group's subscription is not read", id: groupID, want: resource.ActionProceed},
		"group there":       {reason: "a group refuses nothing", id: storageID, ownerID: groupID, observed: updating, want: resource.ActionProceed},
		"group deleting":    {reason: "unless it is being deleted", id: storageID, ownerID: groupID, observed: deleting, want: resource.ActionBlock, wantReason: resource.ReasonReconciliationBlocked, message: `Owner "rg1" (Microsoft.Resources/resourceGroups) is in provisioning state "Deleting"`},
		"group absent":      {reason: "or is absent", id: storageID, ownerID: groupID, want: resource.ActionBlock, wantReason: resource.ReasonWaitingForOwner, message: `Owner "rg1" (Microsoft.Resources/resourceGroups) does not exist in Azure`},
		"parent in flight":  {reason: "a parent under change refuses its children", id: storageID + "/blobServices/default", ownerID: storageID, observed: updating, want: resource.ActionBlock, wantReason: resource.ReasonReconciliationBlocked},
		"parent failed":     {reason: "a failed parent may still accept children", id: storageID + "/blobServices/default", ownerID: storageID, observed: `{"properties":{"provisioningState":"Failed"}}`, want: resource.ActionProceed},
		"scope in flight":   {reason: "a scope is not a parent", id: roleID, ownerID: storageID, observed: updating, want: resource.ActionProceed},
		"scope absent":      {reason: "but it must exist", id: roleID, ownerID: storageID, want: resource.ActionBlock, wantReason: resource.ReasonWaitingForOwner},
		"unreadable":        {reason: "403 does not block, and the message says it", id: storageID, ownerID: groupID, note: "not readable, not checked", want: resource.ActionProceed, message: `Owner "rg1" (Microsoft.Resources/resourceGroups): not readable, not checked`},
		"unreadable parent": {reason: "the links see no owner then", id: databaseID, ownerID: clusterID, note: "not readable, not checked", want: resource.ActionProceed},
		"forced":            {reason: "a forced pass ignores the check", id: databaseID, ownerID: clusterID, observed: updating, force: true, want: resource.ActionProceed},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			req := extensionhost.Request{Object: object(t, c.id, `{}`, ""), OwnerNote: c.note, Force: c.force}
			if c.ownerID != "" {
				req.Owner = object(t, c.ownerID, "", c.observed)
			}
			verdict := registry(t).CheckOwner(t.Context(), req)
			if verdict.Action != c.want || verdict.Reason != c.wantReason || c.message != "" && verdict.Message != c.message {
				t.Errorf("%s: got %+v", c.reason, verdict)
			}
			if verdict.Message == "" {
				t.Error("the verdict has no message")
			}
		})
	}
}

func TestReferences(t *testing.T) {
	found := extensions.Resolution{Found: true, Ready: true}
	cases := map[string]struct {
		reason     string
		first      extensionhost.ResolvedReference
		second     extensionhost.ResolvedReference
		want       resource.Action
		wantReason resource.Reason
		class      resource.RetryClass
		waiting    int
		message    string
	}{
		"all ready":  {reason: "nothing to wait for", first: extensionhost.ResolvedReference{Resolution: found}, second: extensionhost.ResolvedReference{Resolution: found}, want: resource.ActionProceed},
		"one absent": {reason: "absent outweighs not ready", first: extensionhost.ResolvedReference{Resolution: extensions.Resolution{Found: true}}, want: resource.ActionBlock, wantReason: resource.ReasonReferenceNotFound, class: resource.RetrySlow, waiting: 2, message: `"s1" (Microsoft.Storage/storageAccounts) does not exist in Azure`},
		"not ready":  {reason: "it exists and changes", first: extensionhost.ResolvedReference{Resolution: extensions.Resolution{Found: true}}, second: extensionhost.ResolvedReference{Resolution: found}, want: resource.ActionBlock, wantReason: resource.ReasonReferenceNotReady, class: resource.RetrySlow, waiting: 1, message: "is not ready"},
		"forbidden":  {reason: "403 blocks nothing", first: extensionhost.ResolvedReference{Err: &arm.Error{Status: 403, Code: "AuthorizationFailed"}}, second: extensionhost.ResolvedReference{Resolution: found}, want: resource.ActionProceed, message: "referenced c1: not readable, not checked"},
		"unread":     {reason: "another error is a failed check with its text", first: extensionhost.ResolvedReference{Err: errors.New("read it: connection refused")}, second: extensionhost.ResolvedReference{Resolution: found}, want: resource.ActionError, wantReason: resource.ReasonCheckFailed, class: resource.RetrySlow, message: "connection refused"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			c.first.Reference.ID, c.second.Reference.ID = mustID(t, clusterID), mustID(t, storageID)
			for _, force := range []bool{false, true} {
				verdict := registry(t).CheckOwner(t.Context(), extensionhost.Request{
					Object: object(t, groupID, `{}`, ""), References: []extensionhost.ResolvedReference{c.first, c.second}, Force: force,
				})
				if verdict.Action != c.want || verdict.Reason != c.wantReason || verdict.Class != c.class ||
					len(verdict.WaitingFor) != c.waiting || !strings.Contains(verdict.Message, c.message) {
					t.Errorf("%s (force %v): got %+v", c.reason, force, verdict)
				}
			}
		})
	}
}

func TestDefaultPreCheck(t *testing.T) {
	many := func(value string) string {
		var members []string
		for i := range 25 {
			members = append(members, `"p`+string(rune('a'+i))+`":`+value)
		}
		return `{"properties":{` + strings.Join(members, ",") + `}}`
	}
	cases := map[string]struct {
		reason            string
		desired, observed string
		ignore            []string
		force             bool
		want              resource.Verdict
	}{
		"absent": {reason: "it is created", desired: `{}`, want: resource.Verdict{
			Action: resource.ActionProceed, Create: true, Reason: resource.ReasonNotFound, Message: "The resource does not exist in Azure and will be created"}},
		"in sync": {reason: "no PUT", desired: `{"location":"westus2"}`, observed: `{"location":"West US 2","properties":{"provisioningState":"Succeeded"}}`, want: resource.Verdict{
			Action: resource.ActionSkip, Reason: resource.ReasonInSync, Message: "In sync: Azure matches the manifest"}},
		"ignored": {reason: "an ignored path is no difference", desired: `{"properties":{"x":1}}`, observed: `{"properties":{"x":2}}`, ignore: []string{"properties.x"}, want: resource.Verdict{
			Action: resource.ActionSkip, Reason: resource.ReasonInSync, Message: "In sync: Azure matches the manifest"}},
		"differs": {reason: "path, old and new value are in the verdict", desired: `{"properties":{"x":1,"y":"a"}}`, observed: `{"properties":{"x":2}}`, want: resource.Verdict{
			Action: resource.ActionProceed, Reason: resource.ReasonDrift, Message: "properties.x is 2, desired 1 (and 1 more)",
			Differences: []resource.Difference{
				{Path: "properties.x", Desired: "1", Observed: "2", Rule: "value"},
				{Path: "properties.y", Desired: `"a"`, Observed: "absent", Rule: "absent"},
			}}},
		"failed": {reason: "a failed resource is itself a difference", desired: `{}`, observed: `{"properties":{"provisioningState":"Failed"}}`, want: resource.Verdict{
			Action: resource.ActionProceed, Reason: resource.ReasonDrift, Message: `properties.provisioningState is "Failed", desired "Succeeded"`,
			Differences: []resource.Difference{{Path: "properties.provisioningState", Desired: `"Succeeded"`, Observed: `"Failed"`, Rule: "failed-state"}}}},
		"in flight": {reason: "an operation is not disturbed", desired: `{}`, observed: `{"properties":{"provisioningState":"Scaling"}}`, want: resource.Verdict{
			Action: resource.ActionBlock, Reason: resource.ReasonOperationInProgress, Severity: resource.SeverityWarning, Class: resource.RetrySlow,
			Message: `The resource is in provisioning state "Scaling": an operation is in progress`}},
		"in flight, forced": {reason: "unless the pass is forced", desired: `{}`, observed: `{"properties":{"provisioningState":"Scaling"}}`, force: true, want: resource.Verdict{
			Action: resource.ActionSkip, Reason: resource.ReasonInSync, Message: "In sync: Azure matches the manifest"}},
		"unknown state": {reason: "an unknown state does not block", desired: `{}`, observed: `{"properties":{"provisioningState":"Frobnicating"}}`, want: resource.Verdict{
			Action: resource.ActionSkip, Reason: resource.ReasonInSync, Message: "In sync: Azure matches the manifest"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := registry(t).PreCheck(t.Context(), extensionhost.Request{
				Object: object(t, storageID, c.desired, c.observed), Ignore: c.ignore, Force: c.force,
			})
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got)\n%s", c.reason, diff)
			}
		})
	}
	got := registry(t).PreCheck(t.Context(), extensionhost.Request{Object: object(t, storageID, many("1"), many(`2`))})
	if len(got.Differences) != resource.MaxDifferences || got.More != 5 {
		t.Errorf("%d differences and %d more, want them bounded", len(got.Differences), got.More)
	}
	failedToo := strings.Replace(many("2"), `{"properties":{`, `{"properties":{"provisioningState":"Failed",`, 1)
	got = registry(t).PreCheck(t.Context(), extensionhost.Request{Object: object(t, storageID, many("1"), failedToo)})
	if len(got.Differences) != resource.MaxDifferences || got.More != 6 || got.Differences[0].Rule != "failed-state" {
		t.Errorf("%d differences and %d more, want the failed state first and the bound kept", len(got.Differences), got.More)
	}
}

func TestPreCheckNamesForceAfterHours(t *testing.T) {
	req := extensionhost.Request{Object: object(t, storageID, `{}`, `{"properties":{"provisioningState":"Scaling"}}`)}
	for blocked, want := range map[time.Duration]bool{time.Hour: false, 3 * time.Hour: true} {
		req.BlockedFor = blocked
		verdict := registry(t).PreCheck(t.Context(), req)
		if verdict.Action != resource.ActionBlock || strings.Contains(verdict.Message, "--force") != want {
			t.Errorf("blocked for %s: got %+v", blocked, verdict)
		}
	}
}

func TestPreCheckWithBaseline(t *testing.T) {
	obj := object(t, storageID, `{"properties":{"a":1,"b":1,"c":1,"d":1}}`, `{"properties":{"a":2,"b":2,"c":2,"d":2}}`)
	cases := map[string]struct {
		reason  string
		reasons []resource.Difference
		want    resource.Verdict
	}{
		"kept": {"a difference that Azure keeps after a good PUT causes no further PUT", nil, resource.Verdict{
			Action: resource.ActionSkip, Reason: resource.ReasonInSync,
			Message: "In sync, except values that Azure kept after the last PUT: properties.a, properties.b, properties.c and 1 more"}},
		"not taken": {"nor does a change that Azure did not accept, but it is reported", []resource.Difference{{Path: "properties.b"}}, resource.Verdict{
			Action: resource.ActionSkip, Reason: resource.ReasonChangeNotTaken, Severity: resource.SeverityWarning, Class: resource.RetryVerySlow,
			Message: "Azure accepted the last PUT and kept its own value of properties.b"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			memory := drift.NewBaseline(obj.Desired, obj.Observed, drift.Options{APIVersion: obj.APIVersion, Put: true, Reasons: c.reasons})
			got := registry(t).PreCheck(t.Context(), extensionhost.Request{Object: obj, Baseline: memory})
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got)\n%s", c.reason, diff)
			}
		})
	}
}

func TestPreCheckContested(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	good := object(t, storageID, `{"properties":{"a":1,"b":1}}`, `{"properties":{"a":1,"b":1}}`)
	foreign := object(t, storageID, `{"properties":{"a":1,"b":1}}`, `{"properties":{"a":7,"b":1},"systemData":{"lastModifiedBy":"policy"}}`)
	req := extensionhost.Request{Object: good, Now: now}
	for range 1 + drift.ContestedAfter {
		options := req.Comparison()
		options.Put, options.Reasons = true, drift.Compare(foreign.Desired, foreign.Observed, options).Differences
		req.Baseline = drift.NewBaseline(good.Desired, good.Observed, options)
	}
	req.Object = foreign
	got := registry(t).PreCheck(t.Context(), req)
	if got.Action != resource.ActionBlock || got.Reason != resource.ReasonContested || got.Class != resource.RetryVerySlow ||
		!strings.Contains(got.Message, "properties.a was corrected 3 times and is 7 again, desired 1") || !strings.Contains(got.Message, "last modified by policy") {
		t.Errorf("a contested path waits for a user and names the writer: got %+v", got)
	}
	forced := req
	forced.Force = true
	if got := registry(t).PreCheck(t.Context(), forced); got.Action != resource.ActionProceed {
		t.Errorf("a forced pass corrects it: got %+v", got)
	}
	req.Object = object(t, storageID, `{"properties":{"a":1,"b":1}}`, `{"properties":{"a":7,"b":2}}`)
	if got := registry(t).PreCheck(t.Context(), req); got.Action != resource.ActionProceed || got.Differences[0].Path != "properties.b" {
		t.Errorf("another difference is still put: got %+v", got)
	}
}

func TestPreCheckNamesChildren(t *testing.T) {
	good := object(t, storageID, `{"properties":{"l":[{"name":"a"}]}}`, `{"properties":{"l":[{"name":"a"}]}}`)
	req := extensionhost.Request{Object: good}
	options := req.Comparison()
	options.Put = true
	req.Baseline = drift.NewBaseline(good.Desired, good.Observed, options)
	req.Object = object(t, storageID, `{"properties":{"l":[{"name":"a"}]}}`, `{"properties":{"l":[{"name":"a"},{"name":"b","id":"`+storageID+`/parts/b"}]}}`)
	got := registry(t).PreCheck(t.Context(), req)
	if got.Action != resource.ActionSkip || !strings.Contains(got.Message, "children that the manifest does not list: properties.l[name=b]") {
		t.Errorf("a new child is reported, not corrected: %+v", got)
	}
}

func TestPreCheckNamesDrops(t *testing.T) {
	got := registry(t).PreCheck(t.Context(), extensionhost.Request{Object: object(t, storageID, `{"properties":{"a":1}}`,
		`{"identity":{"type":"SystemAssigned"},"properties":{"a":2},"tags":{"t":"kept"}}`)})
	if diff := cmp.Diff([]string{"identity"}, got.Drops); diff != "" || !strings.Contains(got.Message, "removes what the manifest does not set: identity") {
		t.Errorf("values that the PUT drops are named: %+v", got)
	}
}

func TestDefaultPostCheck(t *testing.T) {
	cases := map[string]struct {
		reason, observed string
		want             resource.Action
		message          string
	}{
		"succeeded": {"done", `{"properties":{"provisioningState":"Succeeded"}}`, resource.ActionSuccess, ""},
		"no state":  {"absent means Succeeded", `{}`, resource.ActionSuccess, ""},
		"unknown":   {"unknown states pass", `{"properties":{"provisioningState":"Running"}}`, resource.ActionSuccess, ""},
		"failed":    {"a failed resource is not Ready", `{"properties":{"provisioningState":"Failed"}}`, resource.ActionFailure, `The resource is in provisioning state "Failed"`},
		"canceled":  {"nor a canceled one", `{"properties":{"provisioningState":"canceled"}}`, resource.ActionFailure, `The resource is in provisioning state "canceled"`},
		"updating":  {"nor one with an operation in progress", `{"properties":{"provisioningState":"Updating"}}`, resource.ActionFailure, `The resource is in provisioning state "Updating"`},
		"absent":    {"nor one that is absent", ``, resource.ActionFailure, "Azure does not show the resource yet"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := registry(t).PostCheck(t.Context(), extensionhost.Request{Object: object(t, storageID, `{}`, c.observed)})
			want := resource.Verdict{Action: resource.ActionSuccess, Reason: resource.ReasonSucceeded}
			if c.want == resource.ActionFailure {
				want = resource.Verdict{Action: c.want, Reason: resource.ReasonPostReconciliationFailure,
					Severity: resource.SeverityWarning, Class: resource.RetrySlow, Message: c.message}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got)\n%s", c.reason, diff)
			}
		})
	}
}

// restsInAccepted is a type with a stable state that means an operation for other
// types.
type restsInAccepted struct{}

func (restsInAccepted) RestingStates() []string { return []string{"Accepted"} }

func TestRestingStates(t *testing.T) {
	const resting = "Microsoft.Example/resting"
	r := registry(t, extensions.Entry{Type: resting, Link: restsInAccepted{}})
	cases := map[string]struct {
		reason, of, state string
		want              bool
	}{
		"taken away":   {"the state is stable for the type", resting, "accepted", false},
		"another word": {"only the named states are stable", resting, "Updating", true},
		"another type": {"for other types the state means an operation", "Microsoft.Example/others", "Accepted", true},
		"unknown word": {"unknown states pass", resting, "Fermenting", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := r.InFlight(c.of, c.state); got != c.want {
				t.Errorf("in flight is %t, want %t: %s", got, c.want, c.reason)
			}
			id := "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/g/providers/" + c.of + "/x"
			body := `{"properties":{"provisioningState":"` + c.state + `"}}`
			req := extensionhost.Request{Object: object(t, id, `{}`, body)}
			if got := r.PreCheck(t.Context(), req).Stops(); got != c.want {
				t.Errorf("the pre-check stops is %t, want %t: %s", got, c.want, c.reason)
			}
			if got := r.PostCheck(t.Context(), req).Stops(); got != c.want {
				t.Errorf("the post-check stops is %t, want %t: %s", got, c.want, c.reason)
			}
		})
	}
}
