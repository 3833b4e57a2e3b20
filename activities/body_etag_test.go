package activities

import (
	"strings"
	"testing"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
)

// TestBodyETag sends the ETag of the read in the body of types that compare it there, in every
// mode, and in no other body.
func TestBodyETag(t *testing.T) {
	t.Parallel()
	const budget = groupText + "/providers/Microsoft.Consumption/budgets/b1"
	const account = groupText + "/providers/Microsoft.Storage/storageAccounts/acct"
	const budgetBody = `{"properties":{"category":"Cost","amount":100,"timeGrain":"Monthly","timePeriod":{"startDate":"2026-11-01T00:00:00Z"}}}`
	cases := map[string]struct {
		reason, id, version, before, body string
		put                               resource.Put
		sent                              bool
	}{
		"budget":          {"its shape has a writable ETag", budget, "2023-05-01", budgetBody, `{"properties":{"amount":200}}`, "", true},
		"budget, replace": {"so it has in every mode", budget, "2023-05-01", budgetBody, strings.Replace(budgetBody, "100", "300", 1), resource.PutReplace, true},
		"storage account": {"its ETag is not in its shape", account, "2023-01-01", `{"location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"}}`, `{"location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"},"tags":{"a":"1"}}`, "", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put(groupText, `{"location":"westus2"}`)
			w.put(c.id, c.before)
			spec := desired(t, c.id, c.body)
			spec.APIVersion, spec.Put = c.version, c.put
			finish(w, w.acts.PutResource, PutResourceInput{Desired: spec, Kind: PutChange, ObservedAt: w.now()})
			if _, etag, sent := jsontree.Member(w.lastPut(), "etag"); sent != c.sent {
				t.Errorf("%s: ETag %v in %v", c.reason, etag, w.lastPut())
			}
		})
	}
}
