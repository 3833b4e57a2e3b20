package extensionhost_test

import (
	"strings"
	"testing"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/extensions/extensiontest"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

// factSource is a link whose facts come from elsewhere, as those of rules do.
type factSource struct{}

func (factSource) Links(string) []any { return nil }

func (factSource) Facts(resourceType string) extensions.Facts {
	if resourceType != "Contoso.Things/parents" {
		return extensions.Facts{}
	}
	return extensions.Facts{Stopped: []extensions.StoppedState{{Path: "properties.power", State: "Off", Start: "with contoso start", HoldsReferences: true}}}
}

// Facts about the states of a type hold the resource, its children and what refers to it.
func TestBusyAndStoppedFacts(t *testing.T) {
	const parent = "/subscriptions/s/resourceGroups/rg/providers/Contoso.Things/parents/p1"
	registry, err := extensionhost.New(
		extensions.Entry{Type: "Contoso.Things/parents", Facts: extensions.Facts{Busy: []extensions.BlockingState{{Path: "properties.provisioningState", States: []string{"Baking"}}}}},
		extensions.Entry{Type: extensions.AllTypes, Link: factSource{}},
		extensions.Entry{Type: "Contoso.Things/rests", Facts: extensions.Facts{Stopped: []extensions.StoppedState{{Path: "properties.power", State: "Off"}}}},
	)
	if err != nil {
		t.Fatal(err)
	}
	reference := func(id, body string) extensionhost.Request {
		object := extensiontest.Object(t, id, "", body)
		return extensionhost.Request{
			Object: extensiontest.Object(t, "/subscriptions/s/resourceGroups/rg/providers/Contoso.Others/others/o1", "{}", ""),
			References: []extensionhost.ResolvedReference{{
				Reference: resource.Reference{ID: object.ID}, Resolution: extensions.Resolution{Found: true, Object: object, Ready: object.Ready()},
			}},
		}
	}
	owned := func(body string) extensionhost.Request {
		return extensionhost.Request{Object: extensiontest.Object(t, parent+"/children/c1", "{}", ""), Owner: extensiontest.Object(t, parent, "", body)}
	}
	self := func(body string) extensionhost.Request {
		return extensionhost.Request{Object: extensiontest.Object(t, parent, `{"tags":{"a":"1"}}`, body)}
	}
	const busy, off, on = `{"properties":{"provisioningState":"baking"}}`, `{"properties":{"power":"off"}}`, `{"properties":{"power":"On","provisioningState":"Succeeded"}}`
	check, pre, post := registry.CheckOwner, registry.PreCheck, registry.PostCheck
	cases := map[string]struct {
		reason string
		got    resource.Verdict
		action resource.Action
		text   string
	}{
		"child of a busy one":       {"the parent refuses changes", check(t.Context(), owned(busy)), resource.ActionBlock, `is busy: properties.provisioningState is "baking"`},
		"child of a stopped one":    {"facts of a source count", check(t.Context(), owned(off)), resource.ActionBlock, "start it with contoso start"},
		"child of a running one":    {"other states hold nothing", check(t.Context(), owned(on)), resource.ActionProceed, ""},
		"reference to a busy one":   {"its operation is in progress", check(t.Context(), reference(parent, busy)), resource.ActionBlock, `is not ready: properties.provisioningState is "baking"`},
		"reference to a stopped":    {"the fact says so", check(t.Context(), reference(parent, off)), resource.ActionBlock, "it is stopped"},
		"reference to one at rest":  {"a stopped resource can be referred to by default", check(t.Context(), reference(strings.Replace(parent, "parents", "rests", 1), off)), resource.ActionProceed, ""},
		"busy itself":               {"no PUT interferes", pre(t.Context(), self(busy)), resource.ActionBlock, "The resource is busy"},
		"stopped itself":            {"no PUT starts it", pre(t.Context(), self(off)), resource.ActionBlock, "it was stopped outside Armature"},
		"busy after the operation":  {"it is not usable", post(t.Context(), self(busy)), resource.ActionFailure, "The resource is busy"},
		"ready after the operation": {"other states are fine", post(t.Context(), self(on)), resource.ActionSuccess, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if c.got.Action != c.action || !strings.Contains(c.got.Message, c.text) {
				t.Errorf("%s: got %s %q, want %s %q", c.reason, c.got.Action, c.got.Message, c.action, c.text)
			}
		})
	}
	t.Run("a link resolves a busy resource as not ready", func(t *testing.T) {
		request := self(on)
		request.Resolver = &extensiontest.Resolver{Resources: map[string]string{parent: busy}}
		asks, err := extensionhost.New(
			extensions.Entry{Type: "Contoso.Things/parents", Link: resolves{}},
			extensions.Entry{Type: "Contoso.Things/parents", Facts: extensions.Facts{Busy: []extensions.BlockingState{{Path: "properties.provisioningState", States: []string{"Baking"}}}}},
		)
		if err != nil {
			t.Fatal(err)
		}
		if got := asks.PostCheck(t.Context(), request); got.Message != `false properties.provisioningState is "baking"` {
			t.Errorf("got %q", got.Message)
		}
	})
}
