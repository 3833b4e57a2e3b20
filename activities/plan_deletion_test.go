package activities

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

// principalID is the object ID in the token of the worker.
const principalID = "99999999-0000-0000-0000-000000000001"

type principalToken struct{}

func (principalToken) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	claims := base64.RawURLEncoding.EncodeToString([]byte(`{"oid":"` + principalID + `"}`))
	return azcore.AccessToken{Token: "e30." + claims + ".x", ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// TestPlanDeletion checks that everything that can be asked before a DELETE is asked, that
// nothing is written, and that a question without an answer is reported.
func TestPlanDeletion(t *testing.T) {
	t.Parallel()
	const locks = "/providers/Microsoft.Authorization/locks/"
	deny := func(scope string, principals, excluded string) (string, string) {
		return scope + "/providers/Microsoft.Authorization/denyAssignments/d1", fmt.Sprintf(
			`{"properties":{"denyAssignmentName":"stack","scope":%q,"permissions":[{"actions":["*/delete"],"notActions":[]}],"principals":[%s],"excludePrincipals":[%s]}}`,
			scope, principals, excluded)
	}
	const everyone = `{"id":"00000000-0000-0000-0000-000000000000","type":"SystemDefined"}`
	const ourselves = `{"id":"` + principalID + `","type":"ServicePrincipal"}`
	const somebody = `{"id":"99999999-0000-0000-0000-000000000002","type":"Group"}`
	cases := map[string]struct {
		reason string
		given  func(*world)
		id     string
		want   []string
		not    []string
	}{
		"nothing": {
			reason: "a resource that nothing holds", id: thingText,
			want: []string{`"exists":true`, `"managed":true`, `"apiVersion":"2024-01-01"`}, not: []string{"unknown", "denied", "locks", "unmanaged"},
		},
		"absent": {
			reason: "nothing else is asked", id: thingText + "-other",
			given: func(w *world) { w.put(groupText+locks+"l", `{"properties":{"level":"ReadOnly"}}`) },
			not:   []string{"exists", "locks"},
		},
		"locks": {
			reason: "at, above and below it, and not beside it", id: clusterText,
			given: func(w *world) {
				w.put(groupText+locks+"above", `{"properties":{"level":"ReadOnly"}}`)
				w.put(clusterText+locks+"at", `{"properties":{"level":"CanNotDelete","notes":"ask ada"}}`)
				w.put(databaseText+locks+"below", `{"properties":{"level":"CanNotDelete"}}`)
				w.put(thingText+locks+"beside", `{"properties":{"level":"CanNotDelete"}}`)
			},
			want: []string{"locks/above", "locks/at", "ask ada", "locks/below"}, not: []string{"beside"},
		},
		"no right to list locks": {
			reason: "it is not known whether there is a lock", id: thingText,
			given: func(w *world) {
				w.sim.AddFault(armsim.Fault{Method: http.MethodGet, Type: "Microsoft.Authorization/locks", Status: 403})
			},
			want: []string{`"unknown":["the management locks: `},
		},
		"no right to delete": {
			reason: "the DELETE would be refused", id: thingText,
			given: func(w *world) { w.sim.Deny(armsim.Denial{Scope: groupText + "*", Method: http.MethodDelete}) },
			want:  []string{"the credential has no right to contoso.things/things/delete"},
		},
		"a deny assignment for everyone": {
			reason: "it denies whatever roles allow", id: thingText,
			given: func(w *world) { w.put(deny(groupText, everyone, "")) },
			want:  []string{`deny assignment \"stack\" on ` + groupText + " denies contoso.things/things/delete"},
		},
		"a deny assignment for others": {
			reason: "the credential is excluded", id: thingText,
			given: func(w *world) { w.put(deny(groupText, everyone, ourselves)) },
			not:   []string{"denied", "unknown"},
		},
		"a deny assignment for a group": {
			reason: "whether the credential is a member is not known", id: thingText,
			given: func(w *world) { w.put(deny(groupText, somebody, "")) },
			want:  []string{`"unknown":["whether deny assignment`}, not: []string{"denied"},
		},
		"contents": {
			reason: "all of them, and which hold data", id: clusterText,
			given: func(w *world) {
				w.put(databaseText, `{"location":"westus2","kind":"ReadWrite"}`)
				w.put(clusterText+"/databases/db2", `{"location":"westus2","kind":"ReadWrite"}`)
			},
			want: []string{`"name":"c1/db1 (Microsoft.Kusto/Clusters/Databases)"},{`, `"unmanaged":[{"id":"`, `"data":[{"id":"`, `"restore":"ask Azure support","within":"14 days"`},
		},
		"managed contents": {
			reason: "they are dependents, whatever is deleted with it", id: clusterText,
			given: func(w *world) {
				w.put(databaseText, `{"location":"westus2","kind":"ReadWrite"}`)
				w.fleet.managed = map[string]Managed{strings.ToLower(databaseText): {ID: id(w.t, databaseText)}}
				w.fleet.dependents = Dependents{Listed: []Managed{{ID: id(w.t, databaseText), Policy: resource.PolicyProtect}}}
			},
			want: []string{`"dependents":[{"id":"` + databaseText + `","policy":"protect"}]`}, not: []string{"unmanaged"},
		},
		"Temporal fails": {
			reason: "what needs it is not known", id: thingText,
			given: func(w *world) { w.fleet.dependentsErr = errors.New("visibility is away") },
			want:  []string{`"unknown":["the managed resources that need it: visibility is away"]`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(s *setup) {
				s.sim.ClientID = principalID
				s.client = func(o *arm.Options) { o.Credential = principalToken{} }
			})
			w.put(thingText, thingBody)
			w.put(clusterText, `{"location":"westus2","sku":{"name":"Dev(No SLA)_Standard_D11_v2","tier":"Basic","capacity":1}}`)
			if tc.given != nil {
				tc.given(w)
			}
			of := id(t, tc.id)
			version := "2024-01-01"
			if strings.Contains(tc.id, "Kusto") {
				version = "2023-08-15"
			}
			w.fleet.memories = map[string]WorkflowMemory{of.Key(): {Generation: 1, Desired: &resource.Desired{ID: of, APIVersion: version}}}
			before := len(w.sim.Requests())
			result, err := run(w, w.acts.PlanDeletion, PlanDeletionInput{ID: of})
			if err != nil {
				t.Fatal(err)
			}
			text := jsonOf(result)
			for _, part := range tc.want {
				if !strings.Contains(text, part) {
					t.Errorf("%s: the result lacks %s:\n%s", tc.reason, part, text)
				}
			}
			for _, part := range tc.not {
				if strings.Contains(text, part) {
					t.Errorf("%s: the result has %s:\n%s", tc.reason, part, text)
				}
			}
			requests := w.sim.Requests()[before:]
			for _, r := range requests {
				if r.Method != http.MethodGet {
					t.Errorf("a plan sent %s %s", r.Method, r.ID)
				}
			}
			t.Logf("%d requests", len(requests))
		})
	}
}
