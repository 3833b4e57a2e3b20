package page

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
)

// TestBodies checks that both bodies stand side by side, without secrets, and that only a new
// reading is a request to Azure.
func TestBodies(t *testing.T) {
	w := blockedWorld(t)
	w.spec = &resource.Desired{ID: mustID(t, database), Body: json.RawMessage(`{"location":"westus2","properties":{"softDeletePeriod":"P30D","adminPassword":"hunter2","key":{"$secret":"env:KEY"},"n":2}}`)}
	w.observed = activities.ImportResourceResult{Body: json.RawMessage(`{"properties":{"softDeletePeriod":"P1D","state":"<b>Running</b>"}}`)}
	b := w.visit(t)
	if page := b.get("/resource?id=" + database).Body.String(); !strings.Contains(page, `hx-get="/resource/bodies?id=`) || w.imports != 0 {
		t.Errorf("the page of the resource reads Azure %d times:\n%s", w.imports, page)
	}
	const path = "/resource/bodies?id=" + database
	for range 3 {
		page := b.get(path).Body.String()
		for want, reason := range map[string]string{
			"location: westus2\nproperties:\n    adminPassword: (masked)\n    key:\n        $secret: env:KEY\n    n: 2\n    softDeletePeriod: P30D": "the manifest, with names in order",
			"softDeletePeriod: P1D":              "Azure",
			"&lt;b&gt;Running&lt;/b&gt;":         "a text of Azure is no HTML",
			"2026-11-21T12:00:00Z":               "the time of the reading",
			`aria-labelledby="body-azure">prope`: "a side that the keyboard scrolls",
		} {
			if !strings.Contains(page, want) {
				t.Errorf("the page has no %q: %s\n%s", want, reason, page)
			}
		}
		if strings.Contains(page, "hunter2") || strings.Contains(page, `hx-trigger="refresh"`) {
			t.Errorf("the page shows a secret, or reads Azure all the time:\n%s", page)
		}
	}
	if w.imports != 1 {
		t.Errorf("three looks read Azure %d times", w.imports)
	}
	w.pass(bodiesEvery)
	w.observed = activities.ImportResourceResult{Verdict: resource.Verdict{Action: resource.ActionBlock, Reason: resource.ReasonThrottled, Message: "try later"}}
	if page := b.get(path).Body.String(); !strings.Contains(page, "Throttled: try later") || !strings.Contains(page, "P30D") {
		t.Errorf("if Azure refuses, the page is\n%s", page)
	}
	w.pass(bodiesEvery)
	w.err = errors.New("no response within 30s")
	sent := w.imports
	if page := b.get(path).Body.String(); !strings.Contains(page, "no response within 30s") || w.imports != sent {
		t.Errorf("without Temporal the page asks it %d times:\n%s", w.imports-sent, page)
	}
}
