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

// TestImportOfStatedItems checks that the import of a managed resource names the items of the
// lists in its manifest, and that of another resource none.
func TestImportOfStatedItems(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(groupText, `{"location":"westus2"}`)
	w.put(thingText, `{"location":"westus2","properties":{"parts":[{"name":"Own"},{"name":"foreign"}]}}`)
	in := ImportResourceInput{ID: id(t, thingText), APIVersion: "2023-08-15"}
	for name, c := range map[string]struct {
		stated string
		want   map[string][]string
	}{
		"unmanaged": {},
		"managed":   {`{"location":"westus2","zones":[{"name":"Z"}],"properties":{"parts":[{"name":"Own"},{"name":{"$secret":"env:X"}}],"texts":["a"]}}`, map[string][]string{"zones": {"z"}, "parts": {"own"}}},
	} {
		w.fleet.memories, w.fleet.managed = nil, nil
		if c.stated != "" {
			spec := desired(t, thingText, c.stated)
			w.fleet.memories = map[string]WorkflowMemory{spec.ID.Key(): {Generation: 1, Desired: &spec}}
			w.manages(thingText, Managed{})
		}
		got, err := run(w, w.acts.ImportResource, in)
		must(t, err)
		if diff := cmp.Diff(c.want, got.StatedItems); diff != "" || got.Managed != (c.stated != "") {
			t.Errorf("%s: managed %v (-want +got)\n%s", name, got.Managed, diff)
		}
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

// TestImportLeavesOwnedOut imports what others have moved: the manifest states no value of a
// switch, no power state, and no image of an upgrade, and its plan is in sync.
func TestImportLeavesOwnedOut(t *testing.T) {
	t.Parallel()
	const (
		aks     = groupText + "/providers/Microsoft.ContainerService/managedClusters/k1"
		pool    = aks + "/agentPools/a"
		vmss    = groupText + "/providers/Microsoft.Compute/virtualMachineScaleSets/s1"
		hubs    = groupText + "/providers/Microsoft.EventHub/namespaces/n1"
		setting = groupText + "/providers/Microsoft.Insights/autoscaleSettings/a1"
		cluster = `{"location":"westus2","properties":{"dnsPrefix":"k","kubernetesVersion":"1.29.9","autoUpgradeProfile":{"upgradeChannel":"none","nodeOSUpgradeChannel":"None"},"agentPoolProfiles":[{"name":"a","count":3,"enableAutoScaling":true,"mode":"System","nodeImageVersion":"AKSUbuntu-202510.19.2","powerState":{"code":"Running"}}]}}`
	)
	for name, c := range map[string]struct {
		reason, id, version, body string
		left, kept                []string
	}{
		"cluster": {
			reason: "also those of the pools in its list; versions of a channel that is off stay", id: aks, version: "2024-02-01", body: cluster,
			left: []string{"count", "nodeImageVersion", "powerState"}, kept: []string{`"kubernetesVersion":"1.29.9"`, `"name":"a"`},
		},
		"pool": {
			reason: "the channel of the cluster is off, so that the version stays", id: pool, version: "2024-02-01",
			body: `{"properties":{"count":3,"vmSize":"Standard_D2s_v3","enableAutoScaling":true,"minCount":1,"maxCount":5,"orchestratorVersion":"1.29.9","nodeImageVersion":"AKSUbuntu-202510.19.2","powerState":{"code":"Running"}}}`,
			left: []string{`"count"`, "nodeImageVersion", "powerState"}, kept: []string{`"orchestratorVersion":"1.29.9"`, `"minCount":1`},
		},
		"scale set": {
			reason: "an autoscale setting targets it", id: vmss, version: "2024-03-01", body: `{"location":"westus2","sku":{"name":"Standard_D2s_v3","tier":"Standard","capacity":7},"properties":{"overprovision":false}}`,
			left: []string{"capacity"}, kept: []string{`"name":"Standard_D2s_v3"`},
		},
		"event hubs": {
			reason: "auto-inflate is on", id: hubs, version: "2024-01-01", body: `{"location":"westus2","sku":{"name":"Standard","tier":"Standard","capacity":7},"properties":{"isAutoInflateEnabled":true,"maximumThroughputUnits":20}}`,
			left: []string{"capacity"}, kept: []string{`"isAutoInflateEnabled":true`},
		},
		"event hubs, off": {
			reason: "nobody else moves the value", id: hubs, version: "2024-01-01", body: `{"location":"westus2","sku":{"name":"Standard","tier":"Standard","capacity":7},"properties":{"isAutoInflateEnabled":false}}`,
			kept: []string{`"capacity":7`},
		},
		"disk": {
			reason: "a size that only grows does no harm, and a creation needs it", id: groupText + "/providers/Microsoft.Compute/disks/d1", version: "2023-10-02",
			body: `{"location":"westus2","sku":{"name":"Premium_LRS"},"properties":{"creationData":{"createOption":"Empty"},"diskSizeGB":128}}`, kept: []string{`"diskSizeGB":128`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put(groupText, `{"location":"westus2"}`)
			if c.id == pool {
				w.put(aks, cluster)
			}
			w.put(c.id, c.body)
			w.put(setting, `{"location":"westus2","properties":{"enabled":true,"targetResourceUri":"`+vmss+`","profiles":[]}}`)
			got, err := run(w, w.acts.ImportResource, ImportResourceInput{ID: id(t, c.id), APIVersion: c.version})
			must(t, err)
			owned := strings.Join(got.Owned, "\n")
			for _, left := range c.left {
				if strings.Contains(string(got.Body), left) || !strings.Contains(owned, strings.Trim(left, `"`)) {
					t.Errorf("%s: %s is in %s, or is not named in %s", c.reason, left, got.Body, owned)
				}
			}
			for _, kept := range c.kept {
				if !strings.Contains(string(got.Body), kept) {
					t.Errorf("%s: %s is not in %s; left out %s", c.reason, kept, got.Body, owned)
				}
			}
			if len(got.Owned) != len(c.left) {
				t.Errorf("%s: left out %q", c.reason, got.Owned)
			}
			spec := desired(t, c.id, string(got.Body))
			spec.APIVersion = c.version
			plan, err := run(w, w.acts.PlanResource, PlanResourceInput{Desired: spec})
			must(t, err)
			if plan.Action != PlanNone || len(plan.Differences) > 0 {
				t.Errorf("%s: the plan of the import is %+v", c.reason, plan)
			}
		})
	}
}
