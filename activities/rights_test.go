package activities

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/armature-io/armature/activities/contents"
	"github.com/armature-io/armature/resource"
)

// roleOfDocs is the custom role that docs/security.md shows.
func roleOfDocs(t *testing.T) []string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "docs", "security.md"))
	must(t, err)
	_, block, _ := strings.Cut(string(page), "```json\n")
	block, _, _ = strings.Cut(block, "```")
	var role struct{ Actions []string }
	must(t, json.Unmarshal([]byte(block), &role))
	return role.Actions
}

// actionOf returns the action that Azure requires for a request: the types of its
// path and the verb of its method.
func actionOf(r *http.Request) string {
	verb := map[string]string{http.MethodGet: "read", http.MethodHead: "read", http.MethodPut: "write", http.MethodDelete: "delete"}[r.Method]
	segments := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	at := len(segments) - 1
	for at >= 0 && !strings.EqualFold(segments[at], "providers") {
		at--
	}
	if at < 0 || at == len(segments)-2 { // a group, or a provider of a subscription
		return "Microsoft.Resources/subscriptions/" + segments[len(segments)-2] + "/" + verb
	}
	types := segments[at+1 : at+2]
	for i := at + 2; i < len(segments); i += 2 {
		types = append(types, segments[i])
	}
	return strings.Join(types, "/") + "/" + verb
}

// grants reports whether an action of a role, in which "*" stands for any text, grants
// another one.
func grants(granted, action string) bool {
	before, after, wildcard := strings.Cut(strings.ToLower(granted), "*")
	action = strings.ToLower(action)
	if !wildcard {
		return before == action
	}
	return len(action) >= len(before)+len(after) && strings.HasPrefix(action, before) && strings.HasSuffix(action, after)
}

// TestRightsOfDocs creates and deletes clusters and databases with the role of the
// docs and nothing else: Azure refuses nothing, and needs every action of it.
func TestRightsOfDocs(t *testing.T) {
	t.Parallel()
	role := roleOfDocs(t)
	var mu sync.Mutex
	used, missing := map[string]bool{}, []string{}
	only := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			action := actionOf(r)
			at := slices.IndexFunc(role, func(granted string) bool { return grants(granted, action) })
			mu.Lock()
			defer mu.Unlock()
			if at < 0 {
				missing = append(missing, action)
				w.WriteHeader(http.StatusForbidden)
				_, _ = w.Write([]byte(`{"error":{"code":"AuthorizationFailed","message":"no right to ` + action + `"}}`))
				return
			}
			used[role[at]] = true
			next.ServeHTTP(w, r)
		})
	}
	w := newWorld(t, func(s *setup) { s.handler = only })
	w.put(groupText, `{"location":"westus2"}`)
	for _, step := range []struct{ text, body string }{{clusterText, `{"location":"westus2","sku":{"name":"Standard_D11_v2","tier":"Standard","capacity":2}}`}, {databaseText, `{"location":"westus2","kind":"ReadWrite"}`}} {
		live(w, desired(t, step.text, step.body))
	}
	_, err := w.acts.Client.APIVersion(t.Context(), id(t, clusterText).Subscription(), id(t, clusterText).Type())
	must(t, err)
	remove(w, desired(t, databaseText, `{}`))
	w.put(clusterText+"/providers/Microsoft.Authorization/locks/keep", `{"properties":{"level":"CanNotDelete"}}`)
	w.fresh()
	locked, err := run(w, w.acts.DeleteResource, DeleteResourceInput{Desired: desired(t, clusterText, `{}`)})
	must(t, err)
	if !strings.Contains(locked.Verdict.Message, `"keep"`) {
		t.Errorf("the lock is not named: %s", locked.Verdict.Message)
	}
	w.fresh()
	spec := desired(t, clusterText, `{}`)
	planned, err := run(w, w.acts.PlanDeletion, PlanDeletionInput{ID: spec.ID, Desired: &spec})
	must(t, err)
	if len(planned.Unknown) > 0 || len(planned.Locks) != 1 {
		t.Errorf("with the role of the docs a deletion cannot be planned: %+v", planned)
	}
	if len(missing) > 0 {
		t.Errorf("the role of docs/security.md lacks %v", missing)
	}
	for _, action := range role {
		if !used[action] {
			t.Errorf("the role of docs/security.md grants %s, which nothing needed", action)
		}
	}
}

// live is a pass that creates a resource, and another one that reads it.
func live(w *world, spec resource.Desired) {
	w.t.Helper()
	w.fresh()
	if got := local(w, w.acts.CheckOwner, CheckOwnerInput{Desired: spec}); got.Verdict.Stops() {
		w.t.Fatalf("the owner of %s: %s", spec.ID.Short(), got.Verdict.Message)
	}
	w.fresh()
	put, _ := finish(w, w.acts.PutResource, PutResourceInput{Desired: spec, Kind: PutCreationAgain, ObservedAt: w.now()})
	if !put.Sent {
		w.t.Fatalf("PUT of %s: %s", spec.ID.Short(), put.Verdict.Message)
	}
	w.fresh()
	poll, _ := finish(w, w.acts.PollOperation, PollOperationInput{Target: resource.Target{ID: spec.ID, APIVersion: spec.APIVersion}, Token: put.Token})
	w.fresh()
	get, _ := finish(w, w.acts.GetResource, GetResourceInput{Target: resource.Target{ID: spec.ID, APIVersion: spec.APIVersion}})
	if poll.Verdict.Stops() || !get.Exists {
		w.t.Fatalf("%s: %s, %s", spec.ID.Short(), poll.Verdict.Message, get.Verdict.Message)
	}
}

// remove lists what a DELETE would remove, and sends it.
func remove(w *world, spec resource.Desired) {
	w.t.Helper()
	w.fresh()
	contents, _ := finish(w, w.acts.CheckContents, contents.Request{ID: spec.Owner, APIVersion: "2023-08-15"})
	if len(contents.Verdict.Message) == 0 {
		w.t.Fatalf("the contents of %s were not found", spec.Owner.Short())
	}
	w.fresh()
	sent, _ := finish(w, w.acts.DeleteResource, DeleteResourceInput{Desired: spec})
	if sent.Token != "" {
		w.fresh()
		finish(w, w.acts.PollOperation, PollOperationInput{Target: resource.Target{ID: spec.ID, APIVersion: spec.APIVersion}, Token: sent.Token, Delete: true})
	}
	if sent.Verdict.Stops() || w.sim.Counters().ByMethod[http.MethodDelete] == 0 {
		w.t.Fatalf("DELETE of %s: %s", spec.ID.Short(), sent.Verdict.Message)
	}
}
