package rules_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/extensions/extensiontest"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

func TestErrorRules(t *testing.T) {
	r := registry(t, load(t, `rules:
  - name: capacity
    type: Contoso.Things/parents
    at: error
    code: [Conflict, OverCapacity]
    message: capacity
    when: error.status == 409
    retry: VerySlow
    reason: NoCapacity
    advice: Try another region than ${apiVersion}
`))
	for name, c := range map[string]struct {
		reason  string
		failure arm.Error
		want    resource.Verdict
	}{
		"matches": {
			"code, text and condition", arm.Error{Status: 409, Code: "conflict", Message: "No Capacity here.", Class: arm.ClassFast},
			resource.Verdict{Reason: "NoCapacity", Class: resource.RetryVerySlow, Message: "No Capacity here. Try another region than 2020-01-01"},
		},
		"an inner code": {
			"of the details", arm.Error{Status: 409, Code: "Failed", Message: "capacity", Class: arm.ClassFast, Details: []arm.Detail{{Code: "OverCapacity"}}},
			resource.Verdict{Reason: "NoCapacity", Class: resource.RetryVerySlow, Message: "capacity. Try another region than 2020-01-01"},
		},
		"another text":   {"stays", arm.Error{Status: 409, Code: "Conflict", Message: "busy", Class: arm.ClassFast}, resource.Verdict{Reason: "Conflict", Class: resource.RetryFast, Message: "busy"}},
		"another code":   {"stays", arm.Error{Status: 409, Code: "Other", Message: "capacity", Class: arm.ClassFast}, resource.Verdict{Reason: "Other", Class: resource.RetryFast, Message: "capacity"}},
		"another status": {"stays", arm.Error{Status: 400, Code: "Conflict", Message: "capacity", Class: arm.ClassFast}, resource.Verdict{Reason: "Conflict", Class: resource.RetryFast, Message: "capacity"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := r.Classify(t.Context(), extensionhost.Request{Object: &resource.Object{ID: extensiontest.ID(t, parentID), APIVersion: "2020-01-01"}}, &c.failure)
			if got.Reason != c.want.Reason || got.Class != c.want.Class || got.Message != c.want.Message {
				t.Errorf("%s: got %s %s %q", c.reason, got.Reason, got.Class, got.Message)
			}
		})
	}
}

func TestPayloadRules(t *testing.T) {
	r := registry(t, load(t, one(
		"at: payload", `when: labels.team != null`,
		"set:", "  tags.team: labels.team", `  properties.n: observed.properties.n + 1`, `  properties.list[name=a].on: 'true'`, `  properties.whole: '{"a": [1, 2.5, null]}'`, "  properties.copy: payload.properties.Old",
		"remove: [properties.old, tags.none.deep]")))
	object := extensiontest.Object(t, childID, `{}`, `{"properties":{"n":3}}`)
	object.Labels = map[string]string{"team": "blue"}
	payload, err := resource.DecodeBody([]byte(`{"Tags":{"x":"y"},"properties":{"old":{"deep":1},"list":[{"name":"a"},{"name":"b"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	got, verdict := r.Modify(t.Context(), extensionhost.Request{Object: object}, payload)
	if verdict != nil {
		t.Fatalf("%+v", verdict)
	}
	want := map[string]any{
		"Tags": map[string]any{"x": "y", "team": "blue"},
		"properties": map[string]any{
			"n": int64(4), "list": []any{map[string]any{"name": "a", "on": true}, map[string]any{"name": "b"}},
			"whole": map[string]any{"a": []any{int64(1), 2.5, nil}}, "copy": map[string]any{"deep": json.Number("1")},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	object.Labels = nil
	if got, _ := r.Modify(t.Context(), extensionhost.Request{Object: object}, payload); !cmp.Equal(got, payload) {
		t.Errorf("without the label nothing changes: %v", got)
	}
}

// An error of a payload rule does not quote the payload, which has resolved secrets.
func TestPayloadErrorHidesSecrets(t *testing.T) {
	for name, set := range map[string]string{
		"a conversion":     "set: {properties.n: int(payload.properties.password)}",
		"a condition":      "when: int(payload.properties.password) > 1\n    set: {properties.n: '1'}",
		"an absent member": "set: {'properties.list[name=a].b': '1'}",
	} {
		t.Run(name, func(t *testing.T) {
			_, verdict := registry(t, load(t, one("at: payload", set))).Modify(t.Context(), extensionhost.Request{
				Object: extensiontest.Object(t, childID, `{}`, ""),
			}, map[string]any{"properties": map[string]any{"password": "hunter2", "list": []any{}}})
			if verdict == nil || verdict.Action != resource.ActionError || strings.Contains(verdict.Message, "hunter2") || !strings.Contains(verdict.Message, "rule r (") {
				t.Errorf("got %+v", verdict)
			}
		})
	}
}

// sharedResolver returns one object in each call, as the cache of a worker shares its readings.
type sharedResolver struct{ object *resource.Object }

func (s sharedResolver) Resolve(context.Context, resource.Reference) (extensions.Resolution, error) {
	return extensions.Resolution{Found: true, Ready: true, Object: s.object}, nil
}

// A payload gets copies: a later change of it must not reach what was read.
func TestPayloadHasCopies(t *testing.T) {
	shared := extensiontest.Object(t, envID, "", `{"properties":{"tier":"A","list":[{"n":1}]}}`)
	r := registry(t, load(t, one("at: payload", "read: {env: desired.env}", "set: {properties: env.properties, properties.tier: '\"B\"', 'properties.list[0].n': '2'}")))
	payload, verdict := r.Modify(t.Context(), extensionhost.Request{
		Object: extensiontest.Object(t, childID, `{"env":"`+envID+`"}`, ""), Resolver: sharedResolver{shared},
	}, map[string]any{})
	if verdict != nil || fmt.Sprint(payload) != "map[properties:map[list:[map[n:2]] tier:B]]" {
		t.Errorf("got %v %+v", payload, verdict)
	}
	if tier, _ := shared.StringAt("properties.tier"); tier != "A" {
		t.Errorf("the reading that others share has the tier %q of the payload", tier)
	}
}
