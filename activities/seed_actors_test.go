package activities

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/resource"
)

// actorSeeds are the seed systems that act: modifiers, deleters.
func actorSeeds() map[string]func(t *testing.T) {
	rows := map[string]func(t *testing.T){}
	for resourceType, path := range map[string]string{
		"Microsoft.Network/virtualNetworks":         "subnets",
		"Microsoft.Network/routeTables":             "routes",
		"Microsoft.Network/networkSecurityGroups":   "securityRules",
		"Microsoft.Network/loadBalancers":           "inboundNatRules",
		"Microsoft.Compute/virtualMachineScaleSets": "virtualMachineProfile.extensionProfile.extensions",
	} {
		rows["children kept "+resourceType] = func(t *testing.T) { judgeKept(t, resourceType, path) }
	}
	for name, row := range vaultSeeds() {
		rows["vault "+name] = row.judge
	}
	rows["role by name"] = judgeRoleByName
	rows["role assignment exists"] = judgeOtherAssignment
	rows["alias cancels"] = judgeAlias
	rows["product with subscriptions"] = judgeProduct
	rows["no DELETE"] = judgeNoDelete
	rows["child taken out of the manifest"] = judgeTakenOut
	rows["createMode is for the creation"] = judgeCreateMode
	rows["role by name in sync"] = judgeRoleInSync
	rows["long subnet"] = judgeLongSubnet
	return rows
}

// nested wraps a value into the properties of a path.
func nested(path string, value any) any {
	names := strings.Split(path, ".")
	for i := len(names) - 1; i >= 0; i-- {
		value = map[string]any{names[i]: value}
	}
	return value
}

// judgeKept: a PUT of a parent that names one child of two keeps the other, and
// not one that is being deleted.
func judgeKept(t *testing.T, resourceType, path string) {
	shown := map[string]any{"location": "westus2", "properties": nested(path, []any{
		map[string]any{"name": "a", "properties": map[string]any{"x": "azure"}},
		map[string]any{"name": "B", "properties": map[string]any{"x": "azure"}},
		map[string]any{"name": "c", "properties": map[string]any{"provisioningState": "Deleting"}},
	})}
	var sent map[string]any
	w := newWorld(t, func(s *setup) { s.handler = answering(idOfType(resourceType), shown, &sent) })
	wanted, err := json.Marshal(map[string]any{"location": "westus2", "properties": nested(path, []any{
		map[string]any{"name": "b", "properties": map[string]any{"x": "mine"}},
	})})
	must(t, err)
	got, _ := finish(w, w.acts.PutResource, PutResourceInput{Desired: desired(t, idOfType(resourceType), string(wanted)), Kind: PutUncompared, ObservedAt: w.now()})
	want := nested(path, []any{
		map[string]any{"name": "b", "properties": map[string]any{"x": "mine"}},
		map[string]any{"name": "a", "properties": map[string]any{"x": "azure"}},
	})
	if diff := cmp.Diff(want, sent["properties"]); diff != "" || !got.Sent {
		t.Errorf("sent %v (-want +got)\n%s%+v", got.Sent, diff, got.Verdict)
	}
}

// answering serves one resource and keeps the body of its PUT; the rest is the
// simulator's.
func answering(id string, shown map[string]any, sent *map[string]any) func(http.Handler) http.Handler {
	return func(sim http.Handler) http.Handler {
		return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if !strings.EqualFold(r.URL.Path, id) {
				sim.ServeHTTP(rw, r)
				return
			}
			if r.Method == http.MethodPut {
				raw, _ := io.ReadAll(r.Body)
				_ = json.Unmarshal(raw, sent)
			}
			_ = json.NewEncoder(rw).Encode(shown)
		})
	}
}

// vaultSeed is a KeyVault's createMode for the vaults with its name in Azure.
type vaultSeed struct {
	mode, deleted string
	exists        bool
	// want is the createMode that is sent, "" for none.
	want    string
	action  resource.Action
	class   resource.RetryClass
	message string
	posts   int
}

func vaultSeeds() map[string]vaultSeed {
	here := fmt.Sprintf(`{"properties":{"vaultId":%q}}`, idOfType("Microsoft.KeyVault/vaults"))
	elsewhere := strings.Replace(here, "/rg1/", "/rg2/", 1)
	const purged = "The deleted KeyVault x1 is being purged"
	return map[string]vaultSeed{
		"nothing deleted":   {mode: "createOrRecover", want: "default", action: resource.ActionProceed},
		"recover":           {mode: "createOrRecover", deleted: here, want: "recover", action: resource.ActionProceed},
		"recover elsewhere": {mode: "createOrRecover", deleted: elsewhere, action: resource.ActionError, class: resource.RetryNone, message: "cannot recover KeyVault: new resourceGroup rg1 does not match old resource group rg2"},
		"purge":             {mode: "purgeThenCreate", deleted: here, action: resource.ActionBlock, class: resource.RetrySlow, message: purged, posts: 1},
		"purge protected":   {mode: "PURGETHENCREATE", deleted: `{"properties":{"purgeProtectionEnabled":true,"scheduledPurgeDate":"2027-01-01"}}`, action: resource.ActionError, class: resource.RetryNone, message: "purge protection is on until 2027-01-01"},
		"purged":            {mode: "purgeThenCreate", want: "default", action: resource.ActionProceed},
		"own word":          {mode: "recover", deleted: here, want: "recover", action: resource.ActionProceed},
		"exists":            {mode: "createOrRecover", deleted: here, exists: true, want: "default", action: resource.ActionProceed},
	}
}

func (s vaultSeed) judge(t *testing.T) {
	vault := idOfType("Microsoft.KeyVault/vaults")
	posts := 0
	w := newWorld(t, func(set *setup) {
		set.handler = func(sim http.Handler) http.Handler {
			return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				switch {
				case !strings.Contains(r.URL.Path, "/locations/westus2/deletedVaults/x1"):
					sim.ServeHTTP(rw, r)
				case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/purge"):
					posts++
					rw.WriteHeader(http.StatusAccepted)
				case s.deleted == "":
					rw.WriteHeader(http.StatusNotFound)
					_, _ = io.WriteString(rw, `{"error":{"code":"DeletedVaultNotFound","message":"none"}}`)
				default:
					_, _ = io.WriteString(rw, s.deleted)
				}
			})
		}
	})
	w.put(groupText, `{"location":"westus2"}`)
	if s.exists {
		w.put(vault, `{"location":"westus2"}`)
	}
	body := fmt.Sprintf(`{"location":"West US 2","properties":{"createMode":%q}}`, s.mode)
	got, _ := finish(w, w.acts.PutResource, PutResourceInput{Desired: desired(t, vault, body), Kind: kindIf(s.exists, PutUncompared, PutCreation), ObservedAt: w.now()})
	want(t, got.Verdict, s.action, got.Verdict.Reason, s.class, s.message)
	mode := ""
	for _, write := range w.sim.Writes() {
		properties, _ := write.Body["properties"].(map[string]any)
		mode, _ = properties["createMode"].(string)
	}
	if mode != s.want || posts != s.posts {
		t.Errorf("sent createMode %q and %d purges, want %q and %d", mode, posts, s.want, s.posts)
	}
}

func judgeRoleByName(t *testing.T) {
	const roleID = "/subscriptions/s/providers/Microsoft.Authorization/roleDefinitions/2a2b9908-6ea1-4ae2-8e65-a410df84e7d1"
	w := newWorld(t, func(s *setup) {
		s.handler = listing("/roleDefinitions", `{"id":"`+roleID+`","properties":{"roleName":"Storage Blob Data Reader"}}`)
	})
	w.put(groupText, `{"location":"westus2"}`)
	assignment := idOfType("Microsoft.Authorization/roleAssignments")
	body := `{"properties":{"roleDefinitionId":"storage blob data reader","principalId":"0f8fad5b-d9cb-469f-a165-70867728950e"}}`
	got, _ := finish(w, w.acts.PutResource, PutResourceInput{Desired: desired(t, assignment, body), Kind: PutCreation, ObservedAt: w.now()})
	properties, _ := w.lastPut()["properties"].(map[string]any)
	if properties["roleDefinitionId"] != roleID {
		t.Errorf("sent %v: %+v", properties, got.Verdict)
	}
}

// listing serves lists with this end of the path.
func listing(end string, items ...string) func(http.Handler) http.Handler {
	return func(sim http.Handler) http.Handler {
		return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, end) {
				_, _ = fmt.Fprintf(rw, `{"value":[%s]}`, strings.Join(items, ","))
				return
			}
			sim.ServeHTTP(rw, r)
		})
	}
}

func judgeOtherAssignment(t *testing.T) {
	other := groupText + "/providers/Microsoft.Authorization/roleAssignments/00000000-1111-2222-3333-444444444444"
	inherited := strings.Split(groupText, "/resourceGroups")[0] + "/providers/Microsoft.Authorization/roleAssignments/00000000-1111-2222-3333-555555555555"
	item := func(id string) string {
		return fmt.Sprintf(`{"id":%q,"properties":{"principalId":"P1","roleDefinitionId":"/x/roleDefinitions/ROLE"}}`, id)
	}
	body := `{"properties":{"roleDefinitionId":"/subscriptions/s/providers/Microsoft.Authorization/roleDefinitions/role","principalId":"p1"}}`
	w := newWorld(t, func(s *setup) { s.handler = listing("/roleAssignments", item(inherited), item(other)) })
	d := desired(t, idOfType("Microsoft.Authorization/roleAssignments"), body)
	want(t, local(w, w.acts.PreCheck, PreCheckInput{Desired: d}).Verdict, resource.ActionBlock, "RoleAssignmentExists", resource.RetryVerySlow, other)
	w = newWorld(t, func(s *setup) { s.handler = listing("/roleAssignments", item(inherited)) })
	want(t, local(w, w.acts.PreCheck, PreCheckInput{Desired: d}).Verdict, resource.ActionProceed, resource.ReasonNotFound, "")
	d = desired(t, groupText+"/providers/Microsoft.Authorization/roleAssignments/reader", body)
	want(t, local(w, w.acts.PreCheck, PreCheckInput{Desired: d}).Verdict, resource.ActionBlock, "InvalidRoleAssignmentId", resource.RetryNone, "must be a GUID")
}

// sentTo records "METHOD path?query If-Match".
func sentTo(sent *[]string, answer func(r *http.Request) (int, string)) func(http.Handler) http.Handler {
	return func(http.Handler) http.Handler {
		return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			*sent = append(*sent, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+r.URL.Query().Get("deleteSubscriptions")+r.Header.Get("If-Match")))
			status, body := answer(r)
			rw.WriteHeader(status)
			_, _ = io.WriteString(rw, body)
		})
	}
}

func judgeAlias(t *testing.T) {
	const alias = "/providers/Microsoft.Subscription/aliases/a1"
	var sent []string
	refuse := ""
	w := newWorld(t, func(s *setup) {
		s.handler = sentTo(&sent, func(r *http.Request) (int, string) {
			switch {
			case r.Method == http.MethodGet:
				return 200, `{"properties":{"subscriptionId":"11111111-1111-1111-1111-111111111111"}}`
			case r.Method == http.MethodPost && refuse != "":
				return 409, fmt.Sprintf(`{"error":{"code":%q,"message":"no"}}`, refuse)
			}
			return 200, ""
		})
	})
	got, err := run(w, w.acts.DeleteResource, DeleteResourceInput{Desired: desired(t, alias, `{}`)})
	must(t, err)
	wantSent := []string{"GET " + alias, "POST /subscriptions/11111111-1111-1111-1111-111111111111/providers/Microsoft.Subscription/cancel", "DELETE " + alias}
	if diff := cmp.Diff(wantSent, sent); diff != "" || !got.Done {
		t.Errorf("requests (-want +got)\n%s%+v", diff, got)
	}
	refuse = "SubscriptionHasResources"
	got, err = run(w, w.acts.DeleteResource, DeleteResourceInput{Desired: desired(t, alias, `{}`)})
	must(t, err)
	if sent[len(sent)-1] == "DELETE "+alias || !got.Verdict.Stops() {
		t.Errorf("a subscription that cannot be canceled keeps its alias: %v %+v", sent, got.Verdict)
	}
}

func judgeProduct(t *testing.T) {
	var sent []string
	product := idOfType("Microsoft.ApiManagement/service/products")
	w := newWorld(t, func(s *setup) {
		s.handler = sentTo(&sent, func(*http.Request) (int, string) { return 200, "" })
	})
	_, err := run(w, w.acts.DeleteResource, DeleteResourceInput{Desired: desired(t, product, `{}`)})
	must(t, err)
	if diff := cmp.Diff([]string{"DELETE " + product + " true*"}, sent); diff != "" {
		t.Error(diff)
	}
}

func judgeNoDelete(t *testing.T) {
	w := newWorld(t)
	got, err := run(w, w.acts.DeleteResource, DeleteResourceInput{Desired: desired(t, idOfType("Microsoft.DBforPostgreSQL/flexibleServers/configurations"), `{}`)})
	must(t, err)
	want(t, got.Verdict, resource.ActionBlock, resource.ReasonDeletionNotSupported, resource.RetryVerySlow, "is deleted with x1")
	if requests := w.requests(); len(requests) != 0 {
		t.Errorf("requests %v for a DELETE that ARM does not have", requests)
	}
}

func judgeLongSubnet(t *testing.T) {
	subnet := idOfType("Microsoft.Network/virtualNetworks/subnets")
	read := func(n int) map[string]any {
		list := make([]any, n)
		for i := range list {
			list[i] = map[string]any{"id": fmt.Sprint(i)}
		}
		shown := map[string]any{"properties": map[string]any{"ipConfigurations": list, "addressPrefix": "10.0.0.0/8"}}
		w := newWorld(t, func(s *setup) { s.handler = answering(subnet, shown, nil) })
		got, err := run(w, w.acts.GetResource, GetResourceInput{Target: resource.Target{ID: id(t, subnet), APIVersion: "2020-11-01"}})
		must(t, err)
		body, err := resource.DecodeBody(got.Observed)
		must(t, err)
		return body["properties"].(map[string]any)
	}
	if long := read(2001); long["ipConfigurations"] != nil || long["addressPrefix"] == nil {
		t.Errorf("want only the list left out that is too long for a history: %v", long)
	}
	if short := read(2); short["ipConfigurations"] == nil {
		t.Error("a short list stays")
	}
}

func judgeCreateMode(t *testing.T) {
	w := newWorld(t)
	d := desired(t, idOfType("Microsoft.KeyVault/vaults"), `{"location":"westus2","properties":{"createMode":"createOrRecover","x":1}}`)
	check := func(observed string) resource.Verdict {
		return local(w, w.acts.PreCheck, PreCheckInput{Desired: d, Observed: json.RawMessage(observed)}).Verdict
	}
	want(t, check(`{"location":"westus2","properties":{"x":1}}`), resource.ActionSkip, resource.ReasonInSync, "")
	want(t, check(`{"location":"westus2","properties":{"x":2}}`), resource.ActionProceed, resource.ReasonDrift, "")
	want(t, check(``), resource.ActionProceed, resource.ReasonNotFound, "")
}

func judgeRoleInSync(t *testing.T) {
	w := newWorld(t, func(s *setup) {
		s.handler = listing("/roleDefinitions", `{"id":"/x/roleDefinitions/ABC","properties":{"roleName":"Reader"}}`)
	})
	d := desired(t, idOfType("Microsoft.Authorization/roleAssignments"), `{"properties":{"roleDefinitionId":"Reader","principalId":"p1"}}`)
	check := func(role string) resource.Verdict {
		observed := fmt.Sprintf(`{"properties":{"roleDefinitionId":%q,"principalId":"p1"}}`, role)
		return local(w, w.acts.PreCheck, PreCheckInput{Desired: d, Observed: json.RawMessage(observed)}).Verdict
	}
	want(t, check("/subscriptions/s/providers/Microsoft.Authorization/roleDefinitions/abc"), resource.ActionSkip, resource.ReasonInSync, "", "the role Reader")
	want(t, check("/subscriptions/s/providers/Microsoft.Authorization/roleDefinitions/other"), resource.ActionProceed, resource.ReasonDrift, "")
}

// judgeTakenOut: a child that the manifest no longer states is removed; one
// that another tool created stays.
func judgeTakenOut(t *testing.T) {
	network := idOfType("Microsoft.Network/virtualNetworks")
	subnets := func(names ...string) map[string]any {
		list := []any{}
		for _, name := range names {
			list = append(list, map[string]any{"name": name, "properties": map[string]any{"addressPrefix": "10.0.0.0/24"}})
		}
		return map[string]any{"location": "westus2", "properties": map[string]any{"subnets": list}}
	}
	encoded := func(body map[string]any) json.RawMessage {
		raw, err := json.Marshal(body)
		must(t, err)
		return raw
	}
	var sent map[string]any
	w := newWorld(t, func(s *setup) { s.handler = answering(network, subnets("mine", "old", "foreign"), &sent) })
	before := desired(t, network, string(encoded(subnets("mine", "old"))))
	memory := local(w, w.acts.PostCheck, PostCheckInput{Desired: before, Observed: encoded(subnets("mine", "old", "foreign")), Put: true}).Memory
	now := desired(t, network, string(encoded(subnets("mine"))))
	_, _ = finish(w, w.acts.PutResource, PutResourceInput{Desired: now, Kind: PutUncompared, Memory: memory, ObservedAt: w.now()})
	if diff := cmp.Diff(subnets("mine", "foreign")["properties"], sent["properties"]); diff != "" {
		t.Errorf("sent (-want +got)\n%s", diff)
	}
}
