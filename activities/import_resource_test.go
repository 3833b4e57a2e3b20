package activities

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

// An imported manifest has Azure's spelling of the ID, is in sync when planned, and
// contains no secret.
func TestImportResource(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(groupText, `{"location":"westus2"}`)
	w.put(clusterText, `{"location":"westus2","sku":{"name":"S"},"properties":{"a":1,"accessKey":"`+planted+`","provisioningState":"Succeeded"}}`)
	got, err := run(w, w.acts.ImportResource, ImportResourceInput{ID: id(t, strings.ToLower(clusterText)), APIVersion: "2023-08-15"})
	must(t, err)
	if got.Verdict.Stops() || !got.ID.Equal(id(t, clusterText)) || !strings.Contains(got.ID.String(), "Microsoft.Kusto/Clusters/") || strings.Contains(string(got.Body), "provisioningState") || !strings.Contains(string(got.Body), `"a":1`) {
		t.Errorf("imported %+v with body %s", got, got.Body)
	}
	if diff := cmp.Diff([]string{"properties.accessKey"}, got.Secrets); diff != "" {
		t.Errorf("secrets (-want +got)\n%s", diff)
	}
	w.leaks(planted, got)
	plan, err := run(w, w.acts.PlanResource, PlanResourceInput{Desired: desired(t, clusterText, string(got.Body))})
	must(t, err)
	if plan.Action != PlanNone {
		t.Errorf("the plan of an import is %+v", plan)
	}
}

// The import of a managed resource shows no secret that its manifest states under a neutral
// name, and nothing while its workflow cannot be asked.
//
//guard:masks-come-from-the-body
func TestImportOfManagedSecrets(t *testing.T) {
	t.Setenv("ARMATURE_SECRET_IMPORTED", planted)
	w := newWorld(t)
	w.put(groupText, `{"location":"westus2"}`)
	w.put(thingText, `{"location":"westus2","properties":{"setting":"`+planted+`","copy":"`+planted+`","size":1}}`)
	spec := desired(t, thingText, `{"location":"westus2","properties":{"setting":{"$secret":"env:ARMATURE_SECRET_IMPORTED"},"size":1}}`)
	w.fleet.memories = map[string]WorkflowMemory{spec.ID.Key(): {Generation: 1, Desired: &spec}}
	got, err := run(w, w.acts.ImportResource, ImportResourceInput{ID: spec.ID, APIVersion: spec.APIVersion})
	must(t, err)
	if diff := cmp.Diff([]string{"properties.copy", "properties.setting"}, slices.Sorted(slices.Values(got.Secrets))); diff != "" || !strings.Contains(string(got.Body), `"size":1`) {
		t.Errorf("imported %s, secrets (-want +got)\n%s", got.Body, diff)
	}
	w.leaks(planted, got)
	w.fleet.err = errors.New("no worker answers the query")
	unknown, _ := finish(w, w.acts.ImportResource, ImportResourceInput{ID: spec.ID, APIVersion: spec.APIVersion})
	if unknown.Verdict.Reason != resource.ReasonCheckFailed || unknown.Body != nil {
		t.Errorf("without the spec: %+v", unknown)
	}
}

// offering serves the list of the provider of things.
func offering(list string) func(http.Handler) http.Handler {
	return func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/providers/Contoso.Things") {
				_, _ = w.Write([]byte(list))
				return
			}
			h.ServeHTTP(w, r)
		})
	}
}

func TestImportFails(t *testing.T) {
	t.Parallel()
	provider := offering(`{"resourceTypes":[{"resourceType":"things","apiVersions":["2023-08-15","2024-01-01-preview"]}]}`)
	cases := map[string]struct {
		reason  string
		id      string
		version string
		exists  bool
		change  []func(*setup)
		fault   *armsim.Fault
		action  resource.Action
		why     resource.Reason
		says    string
	}{
		"Newest":    {reason: "the newest stable api-version is taken", id: thingText, exists: true, change: []func(*setup){func(s *setup) { s.handler = provider }}, action: resource.ActionProceed},
		"Unknown":   {reason: "no api-version is listed", id: thingText, exists: true, change: []func(*setup){func(s *setup) { s.handler = offering(`{}`) }}, action: resource.ActionError, why: resource.ReasonFailed, says: "write ID@api-version"},
		"Absent":    {reason: "it does not exist", id: thingText, version: "2023-08-15", action: resource.ActionError, why: resource.ReasonNotFound, says: "does not exist"},
		"Forbidden": {reason: "no right", id: thingText, version: "2023-08-15", exists: true, fault: &armsim.Fault{Method: http.MethodGet, Path: thingText, Status: 403, Code: "AuthorizationFailed"}, action: resource.ActionError, why: "AuthorizationFailed"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.change...)
			w.put(groupText, `{"location":"westus2"}`)
			if c.exists {
				w.put(c.id, plannedBody)
			}
			if c.fault != nil {
				w.sim.AddFault(*c.fault)
			}
			got, _ := finish(w, w.acts.ImportResource, ImportResourceInput{ID: id(t, c.id), APIVersion: c.version})
			if got.Verdict.Action != c.action || got.Verdict.Reason != c.why || !strings.Contains(got.Verdict.Message, c.says) {
				t.Errorf("%s: %+v", c.reason, got.Verdict)
			}
			if c.action == resource.ActionProceed && got.APIVersion != "2023-08-15" {
				t.Errorf("%s: read with %s", c.reason, got.APIVersion)
			}
		})
	}
}
