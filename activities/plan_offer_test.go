package activities

import (
	"strings"
	"testing"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

func TestPlanOffer(t *testing.T) {
	t.Parallel()
	const account = groupText + "/providers/Microsoft.Storage/storageAccounts/offered21"
	cases := map[string]struct {
		reason, id, location, version string
		given                         func(*world)
		action                        PlanAction
		message, warning              string
		requests                      int
	}{
		"offered": {reason: "the display name is the same location", location: "West US 2", action: PlanCreate, requests: 1},
		"misspelt": {
			reason: "ARM refuses it; the nearest one is named", location: "wetseurope", action: PlanError, requests: 1,
			message: `location "wetseurope" is not offered for Microsoft.Storage/storageAccounts in subscription ` + "SUB" + ` (did you mean westeurope?)`,
		},
		"far off": {
			reason: "without a near one, the first ones are named", location: "atlantis", action: PlanError, requests: 1,
			message: "; offered: australiacentral, ",
		},
		"api-version": {
			reason: "a version that is not listed is a warning, and the newest one is named", location: "westus2", version: "2023-05-02", action: PlanCreate, requests: 1,
			warning: "api-version 2023-05-02 of Microsoft.Storage/storageAccounts is not offered in subscription SUB; the newest one is 2",
		},
		"limited": {
			reason: "what this subscription offers counts", location: "eastus", action: PlanError, requests: 1, message: "did you mean westus?",
			given: func(w *world) {
				w.sim.LimitType(armsim.TypeLimit{Type: "microsoft.storage/storageaccounts", Locations: []string{"West US"}})
			},
		},
		"not registered": {
			reason: "the offers of an unregistered provider say nothing", location: "atlantis", action: PlanCreate, requests: 1,
			given: func(w *world) { w.sim.SetProvider("Microsoft.Storage", "NotRegistered") },
		},
		"not listed": {
			reason: "a type that the provider does not list", id: thingText, location: "atlantis", action: PlanCreate,
		},
		"not readable": {
			reason: "without the list nothing is known", location: "atlantis", action: PlanCreate, requests: 2,
			given: func(w *world) {
				w.sim.AddFault(armsim.Fault{Path: "*/providers/microsoft.storage", Status: 403, Code: "AuthorizationFailed"})
			},
		},
		"exists": {
			reason: "what exists is offered", location: "atlantis", action: PlanNone,
			given: func(w *world) { w.put(account, `{"location":"atlantis"}`) },
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put(groupText, `{"location":"westus2"}`)
			if c.given != nil {
				c.given(w)
			}
			if c.id == "" {
				c.id = account
			}
			d := desired(t, c.id, `{"location":"`+c.location+`"}`)
			d.APIVersion = "2023-05-01"
			if c.version != "" {
				d.APIVersion = c.version
			}
			inSubscription := func(text string) string { return strings.ReplaceAll(text, "SUB", d.ID.Subscription()) }
			for range 2 {
				got, err := finish(w, w.acts.PlanResource, PlanResourceInput{Desired: d})
				if err != nil || got.Action != c.action || !strings.Contains(got.Message, inSubscription(c.message)) {
					t.Errorf("%s: %+v, %v", c.reason, got, err)
				}
				if c.action == PlanError && (got.Reason != "LocationNotAvailableForResourceType" || got.Severity != resource.SeverityError) {
					t.Errorf("%s: %+v", c.reason, got)
				}
				if warnings := strings.Join(got.Warnings, "\n"); !strings.HasPrefix(warnings, inSubscription(c.warning)) || (warnings == "") != (c.warning == "") {
					t.Errorf("%s: warnings %q", c.reason, warnings)
				}
			}
			asked := 0
			for _, request := range w.requests() {
				if request == "GET Microsoft.Storage" {
					asked++
				}
			}
			if asked != c.requests {
				t.Errorf("%s: the provider was read %d times, want %d: %v", c.reason, asked, c.requests, w.requests())
			}
		})
	}
}
