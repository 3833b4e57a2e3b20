package rules_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/extensions/extensiontest"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

const (
	envID  = group + "Contoso.Things/environments/e1"
	peerID = group + "Contoso.Things/peers/p2"
)

// A rule that reads other resources waits for each of them by itself, is woken by a change
// of any, and sees their bodies.
func TestReads(t *testing.T) {
	const ready = `{"properties":{"provisioningState":"Succeeded","tier":"A"}}`
	cases := map[string]struct {
		reason  string
		rule    []string
		others  map[string]string
		desired string
		action  resource.Action
		verdict resource.Reason
		message string
		waits   []string
	}{
		"absent": {
			"nothing works without it", []string{"read: {env: desired.env}"}, nil, `{"env":"` + envID + `"}`,
			resource.ActionBlock, resource.ReasonReferenceNotFound, `The resource "e1" (Contoso.Things/environments), which this check reads as env, does not exist in Azure`, []string{envID},
		},
		"changing": {
			"its state is named", []string{"read: {env: desired.env}"}, map[string]string{envID: `{"properties":{"provisioningState":"Updating"}}`}, `{"env":"` + envID + `"}`,
			resource.ActionBlock, resource.ReasonReferenceNotReady, `is not ready: its provisioning state is "Updating"`, []string{envID},
		},
		"ready": {
			"nothing blocks", []string{"read: {env: desired.env}"}, map[string]string{envID: ready}, `{"env":"` + envID + `"}`,
			resource.ActionProceed, "", "", nil,
		},
		"condition": {
			"it sees the body, and the block waits for it", []string{"read: {env: desired.env}", `when: env.properties.tier != "B"`, "block: 'Tier ${env.properties.tier}'"},
			map[string]string{envID: ready}, `{"env":"` + envID + `"}`,
			resource.ActionBlock, resource.ReasonReconciliationBlocked, "Tier A", []string{envID},
		},
		"not set": {
			"without an ID there is nothing to read", []string{"read: {env: desired.env}", "when: env != null", "block: x"}, nil, `{}`, resource.ActionProceed, "", "", nil,
		},
		"tolerated": {
			"waitFor: nothing gives the rule what is absent", []string{"read: {env: {id: desired.env, waitFor: nothing}}", "when: env == null", "block: no ${name}"},
			nil, `{"env":"` + envID + `"}`, resource.ActionBlock, resource.ReasonReconciliationBlocked, "no c1", []string{envID},
		},
		"text": {
			"an ID may be composed", []string{"read: {peer: '${ownerID}/../../peers/p2'}"}, nil, `{}`, resource.ActionError, resource.ReasonCheckFailed, "read peer:", nil,
		},
		"two": {
			"the first that is not ready is named, a change of each wakes", []string{"read: {env: desired.env, peer: '/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/rg1/providers/Contoso.Things/peers/${desired.peer}'}"},
			map[string]string{envID: ready}, `{"env":"` + envID + `","peer":"p2"}`, resource.ActionBlock, resource.ReasonReferenceNotFound, `"p2"`, []string{envID, peerID},
		},
		"no ID": {
			"a value that is no ID names the read", []string{"read: {env: desired.env}"}, nil, `{"env":"e1"}`, resource.ActionError, resource.ReasonCheckFailed, "read env:", nil,
		},
		"no text": {
			"nor is a number", []string{"read: {env: desired.env}"}, nil, `{"env":7}`, resource.ActionError, resource.ReasonCheckFailed, "the ID is not a text but 7", nil,
		},
		"reference": {
			"a $ref that is not resolved yet is the resource itself", []string{"read: {env: desired.env}"}, nil, `{"env":{"$ref":"` + envID + `","path":"id"}}`,
			resource.ActionBlock, resource.ReasonReferenceNotFound, `"e1"`, []string{envID},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			set := load(t, one(append([]string{"at: pre"}, c.rule...)...))
			got := registry(t, set).PreCheck(t.Context(), extensionhost.Request{
				Object: extensiontest.Object(t, childID, c.desired, ""), Owner: extensiontest.Object(t, parentID, "", `{}`),
				Resolver: &extensiontest.Resolver{Resources: c.others},
			})
			var waits []string
			for _, id := range got.WaitingFor {
				waits = append(waits, id.String())
			}
			if got.Action != c.action || c.verdict != "" && got.Reason != c.verdict || !strings.Contains(got.Message, c.message) || !cmp.Equal(waits, c.waits) {
				t.Errorf("%s: got %s %s %q waiting for %v", c.reason, got.Action, got.Reason, got.Message, waits)
			}
		})
	}
}

// An owner rule that reads waits for the owner too, and a post rule fails until what it
// reads is ready.
func TestReadsAtOtherPoints(t *testing.T) {
	resolver := &extensiontest.Resolver{}
	owner := registry(t, load(t, one("at: owner", "read: {env: owner.env}"))).CheckOwner(t.Context(), extensionhost.Request{
		Object: extensiontest.Object(t, childID, `{}`, ""), Owner: extensiontest.Object(t, parentID, "", `{"env":"`+envID+`"}`), Resolver: resolver,
	})
	if owner.Action != resource.ActionBlock || len(owner.WaitingFor) != 2 {
		t.Errorf("owner rule: got %+v", owner)
	}
	post := registry(t, load(t, one("at: post", "read: {env: observed.env}"))).PostCheck(t.Context(), extensionhost.Request{
		Object: extensiontest.Object(t, childID, `{}`, `{"env":"`+envID+`"}`), Resolver: resolver,
	})
	if post.Action != resource.ActionFailure || len(post.WaitingFor) != 1 || post.Reason != resource.ReasonReferenceNotFound {
		t.Errorf("post rule: got %+v", post)
	}
	_, verdict := registry(t, load(t, one("read: {env: desired.env}", "set: {a: env.x}"))).Modify(t.Context(), extensionhost.Request{
		Object: extensiontest.Object(t, childID, `{"env":"`+envID+`"}`, ""), Resolver: resolver,
	}, map[string]any{})
	if verdict == nil || verdict.Action != resource.ActionBlock || len(verdict.WaitingFor) != 1 {
		t.Errorf("payload rule: got %+v", verdict)
	}
}

// managedResolver resolves a resource that exists and is not Ready in Armature.
type managedResolver struct{ extensiontest.Resolver }

func (m *managedResolver) Resolve(ctx context.Context, reference resource.Reference) (extensions.Resolution, error) {
	found, err := m.Resolver.Resolve(ctx, reference)
	found.Managed = &resource.Managed{Reason: "DomainNotValidated"}
	return found, err
}

// A read waits for the provisioning state, or for the Ready condition where it says so.
func TestReadWaitsForReadyCondition(t *testing.T) {
	for waitFor, want := range map[string]string{
		"provisioned": "", "ready": "is not ready: its Ready condition in Armature is DomainNotValidated", "nothing": "",
	} {
		got := registry(t, load(t, one("at: pre", "read: {env: {id: desired.env, waitFor: "+waitFor+"}}"))).PreCheck(t.Context(), extensionhost.Request{
			Object:   extensiontest.Object(t, childID, `{"env":"`+envID+`"}`, ""),
			Resolver: &managedResolver{extensiontest.Resolver{Resources: map[string]string{envID: `{}`}}},
		})
		if blocked := got.Action == resource.ActionBlock; blocked != (want != "") || !strings.Contains(got.Message, want) {
			t.Errorf("%s: got %s %q", waitFor, got.Action, got.Message)
		}
	}
}

// refusing is a resolver whose reads fail, and that records their api-versions.
type refusing struct{ versions chan string }

func (r refusing) Resolve(_ context.Context, reference resource.Reference) (extensions.Resolution, error) {
	r.versions <- reference.APIVersion
	return extensions.Resolution{}, &arm.Error{Status: http.StatusForbidden, Code: "AuthorizationFailed", RequestID: "r7"}
}

// A read that Azure refuses fails the check: what a rule cannot see must not pass. The
// api-version comes from the published types, or from the rule.
func TestRefusedRead(t *testing.T) {
	set := load(t, one("at: pre", "read: {env: desired.env, own: {id: desired.env, apiVersion: 2020-01-01}}"))
	resolver := refusing{make(chan string, 2)}
	got := registry(t, set).PreCheck(t.Context(), extensionhost.Request{
		Object:   extensiontest.Object(t, childID, `{"env":"`+group+`Microsoft.App/managedEnvironments/e1"}`, ""),
		Resolver: resolver,
	})
	if got.Action != resource.ActionError || got.Reason != resource.ReasonCheckFailed || got.RequestID != "r7" || !strings.Contains(got.Message, "grant the credential of this resource the role Reader there") {
		t.Errorf("got %+v", got)
	}
	versions := map[string]bool{<-resolver.versions: true, <-resolver.versions: true}
	if !versions["2020-01-01"] || versions[""] || len(versions) != 2 {
		t.Errorf("read with the api-versions %v", versions)
	}
}

// Facts of rules hold resources, children and references, and a read of a busy resource
// waits too.
func TestFactRules(t *testing.T) {
	set := load(t, `rules:
  - name: busy
    type: Contoso.Things/parents
    busy: [Baking]
  - name: stopped
    type: Contoso.Things/parents
    stopped: Off
    path: properties.power
    start: with contoso start
  - name: reads
    type: Contoso.Things/others
    at: pre
    read: {parent: desired.parent}
`)
	r := registry(t, set)
	child := func(owner string) resource.Verdict {
		return r.CheckOwner(t.Context(), extensionhost.Request{Object: extensiontest.Object(t, childID, `{}`, ""), Owner: extensiontest.Object(t, parentID, "", owner)})
	}
	reading := func(parent string) resource.Verdict {
		return r.PreCheck(t.Context(), extensionhost.Request{
			Object:   extensiontest.Object(t, group+"Contoso.Things/others/o1", `{"parent":"`+parentID+`"}`, ""),
			Resolver: &extensiontest.Resolver{Resources: map[string]string{parentID: parent}},
		})
	}
	const baking, off = `{"properties":{"state":"baking"}}`, `{"properties":{"power":"off"}}`
	for name, c := range map[string]struct {
		reason  string
		got     resource.Verdict
		message string
	}{
		"busy parent":        {"a child waits", child(baking), `is busy: properties.state is "baking"`},
		"stopped parent":     {"and is told how to start it", child(off), "start it with contoso start"},
		"read of a busy one": {"a read waits", reading(baking), `is not ready: properties.state is "baking"`},
		"read of a stopped":  {"a read waits", reading(off), "it is stopped"},
		"running":            {"nothing blocks", child(`{"properties":{"state":"Running","power":"On"}}`), ""},
	} {
		t.Run(name, func(t *testing.T) {
			if blocked := c.got.Action == resource.ActionBlock; blocked != (c.message != "") || !strings.Contains(c.got.Message, c.message) {
				t.Errorf("%s: got %s %q", c.reason, c.got.Action, c.got.Message)
			}
		})
	}
	if set.Len() != 3 || len(set.Links("contoso.things/PARENTS")) != 0 {
		t.Errorf("%d rules, links %v", set.Len(), set.Links("contoso.things/PARENTS"))
	}
}
