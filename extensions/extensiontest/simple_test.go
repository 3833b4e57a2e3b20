package extensiontest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/extensions/extensiontest"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

const parentText = "/subscriptions/s/resourceGroups/rg/providers/Contoso.Things/parents/p1"

// quota waits for the packages of a child, and for cores in the quota of its parent.
func quota(c extensions.Check) extensions.Result {
	desired := resource.Body(c.Object.Desired)
	var packages []resource.ID
	for _, item := range desired.ObjectsAt("properties.packages") {
		text, _ := item.StringAt("id")
		id, err := resource.ParseID(text)
		if err != nil {
			return extensions.Fail(err)
		}
		packages = append(packages, id)
	}
	if _, err := c.Require(packages...); err != nil {
		return extensions.Fail(err)
	}
	needed, _ := desired.NumberAt("properties.cores")
	if left, known := c.Owner.NumberAt("properties.coresLeft"); known && needed > left {
		return extensions.Wait(fmt.Sprintf("%g cores are left, %g are needed", left, needed), extensions.WithReason("QuotaExceeded"))
	}
	return extensions.Pass()
}

// TestSimpleForm holds that a function is a check like a type with the method of a point, in the
// kit as on a worker.
func TestSimpleForm(t *testing.T) {
	entry := extensions.Entry{Type: "Contoso.Things/parents/children", Link: extensions.PreCheck(quota)}
	extensiontest.Run(t, extensiontest.Suite{
		Entry: entry, ID: childText, IgnoresForce: true,
		Desired:   `{"properties":{"cores":8,"packages":[{"id":"` + peerText + `"}]}}`,
		Resources: map[string]string{peerText: `{"properties":{}}`},
		Self: []extensiontest.States{{
			Of: peerText, Path: "properties.provisioningState", Block: []string{"Updating", "Failed"}, Pass: []string{"Succeeded"}, Reason: resource.ReasonReferenceNotReady,
		}},
	})
	waits := extensions.Entry{Type: entry.Type, Link: extensions.PostCheck(func(c extensions.Check) extensions.Result {
		if state, _ := c.Object.StringAt("properties.rollout"); strings.EqualFold(state, "Running") {
			return extensions.Wait("the rollout is running")
		}
		return extensions.Pass()
	})}
	extensiontest.Run(t, extensiontest.Suite{
		Entry: waits, ID: childText, Post: []extensiontest.States{{Path: "properties.rollout", Block: []string{"Running"}, Pass: []string{"Done"}, Message: "the rollout is running"}},
	})
	owned := extensions.Entry{Type: entry.Type, Link: extensions.OwnerCheck(func(c extensions.Check) extensions.Result {
		if state, _ := c.Owner.StringAt("properties.state"); strings.EqualFold(state, "Busy") && strings.HasSuffix(c.Owner.ID.Type(), "/parents") {
			return extensions.Wait("the parent is busy")
		}
		return extensions.Pass()
	})}
	extensiontest.Run(t, extensiontest.Suite{
		Entry: owned, ID: childText, Owner: []extensiontest.States{{Path: "properties.state", Block: []string{"Busy"}, Pass: []string{"Idle"}, Message: "the parent is busy"}},
	})
}

// TestSimpleFormIsNamed holds that the origin of a verdict is the function with its line, also
// of a panic.
func TestSimpleFormIsNamed(t *testing.T) {
	owner := extensiontest.Object(t, parentText, "", `{"properties":{"coresLeft":4}}`)
	object := extensiontest.Object(t, childText, `{"properties":{"cores":8}}`, "")
	got := extensiontest.Call{Object: object, Owner: owner}.PreCheck(t, extensions.PreCheck(quota))
	if got.Message != "4 cores are left, 8 are needed" || got.Reason != "QuotaExceeded" || got.Origin != "extensiontest_test.quota (simple_test.go:17)" {
		t.Errorf("got %s %q by %q, want the function with its line", got.Reason, got.Message, got.Origin)
	}
	got = extensiontest.Call{Object: object}.PostCheck(t, extensions.PostCheck(func(c extensions.Check) extensions.Result {
		return extensions.Wait(c.Owner.Freshness) // there is no owner
	}))
	if !strings.Contains(got.Message, "panicked in PostReconcileCheck at simple_test.go:") {
		t.Errorf("got %q, want the line of the panic", got.Message)
	}
}

// TestRequire holds that a check waits for what it requires as a rule with read does.
func TestRequire(t *testing.T) {
	const other = parentText + "/children/c2"
	requires := extensions.PreCheck(func(c extensions.Check) extensions.Result {
		found, err := c.Require(extensiontest.ID(t, peerText), resource.ID{}, extensiontest.ID(t, other))
		if err != nil {
			return extensions.Fail(err)
		}
		if found[1] != nil || found[0].ID.Name() != "p2" || found[2].ID.Name() != "c2" {
			t.Errorf("found %v, want the resources in the order of their IDs", found)
		}
		return extensions.Pass()
	})
	cases := map[string]struct {
		reason, peer, other string
		want                resource.Reason
		message             string
	}{
		"ready":    {reason: "nothing blocks", peer: `{"properties":{}}`, other: `{}`},
		"absent":   {reason: "the first one is named", peer: "", other: `{}`, want: resource.ReasonReferenceNotFound, message: `The resource "p2" (Contoso.Things/peers), which this check requires, does not exist in Azure`},
		"changing": {reason: "by its provisioning state", peer: `{}`, other: `{"properties":{"provisioningState":"Updating"}}`, want: resource.ReasonReferenceNotReady, message: `The resource "p1/c2" (Contoso.Things/parents/children), which this check requires, is not ready: its provisioning state is "Updating"`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			resolver := &extensiontest.Resolver{Resources: map[string]string{other: c.other}}
			if c.peer != "" {
				resolver.Resources[peerText] = c.peer
			}
			got := extensiontest.Call{Object: extensiontest.Object(t, childText, `{}`, ""), Resolver: resolver}.PreCheck(t, requires)
			if got.Stops() != (c.want != "") || c.want != "" && (got.Action != resource.ActionBlock || got.Reason != c.want || got.Message != c.message || len(got.WaitingFor) != 2) {
				t.Errorf("got %s %s %q, waiting for %v: %s", got.Action, got.Reason, got.Message, got.WaitingFor, c.reason)
			}
		})
	}
	if _, err := extensions.Require(t.Context(), extensiontest.ID(t, peerText)); err == nil || !strings.Contains(err.Error(), "not that of a link") {
		t.Errorf("outside of a link: got %v", err)
	}
	r, err := extensionhost.New(extensions.Entry{Type: extensions.AllTypes, Link: extensions.PostCheck(requires)})
	if err != nil {
		t.Fatal(err)
	}
	got := r.PostCheck(t.Context(), extensionhost.Request{Object: extensiontest.Object(t, childText, `{}`, `{}`), Resolver: &extensiontest.Resolver{}})
	if got.Action != resource.ActionFailure || got.Reason != resource.ReasonReferenceNotFound {
		t.Errorf("after the PUT: got %s %s, want a failure, which is not ready yet", got.Action, got.Reason)
	}
}
