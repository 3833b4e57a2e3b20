package activities

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/activities/importing"
	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

const subscriptionText = "/subscriptions/11111111-1111-1111-1111-111111111111"

// everything calls ImportResource until nothing is left over, and returns all that it found
// by key, and the number of calls.
func everything(t *testing.T, w *world, in ImportResourceInput) (items map[string]importing.Item, unlisted []importing.Unlisted, calls int) {
	t.Helper()
	items = map[string]importing.Item{}
	for more := true; more; {
		got, _ := finish(w, w.acts.ImportResource, in)
		if got.Contents == nil || got.Verdict.Stops() {
			t.Fatalf("no contents: %+v", got)
		}
		if calls++; calls > 20 {
			t.Fatal("the lists have no end")
		}
		for _, item := range got.Contents.Items {
			if _, twice := items[item.ID.Key()]; twice {
				t.Errorf("%s is listed twice", item.ID)
			}
			items[item.ID.Key()] = item
		}
		unlisted = append(unlisted, got.Contents.Unlisted...)
		next := *in.Contents
		next.Only, next.Lists, next.Page = true, got.Contents.Lists, got.Contents.Page
		in.Contents = &next
		more = len(next.Lists) > 0 || next.Page != ""
	}
	return items, unlisted, calls
}

// TestImportPages checks that nothing of a long list is lost: a call ends with about a
// thousand items, and the next one continues.
func TestImportPages(t *testing.T) {
	t.Parallel()
	const resources = 2345
	for name, c := range map[string]struct {
		reason string
		in     importing.Request
		calls  int
	}{
		"subscription": {"pages of the flat list", importing.Request{Only: true}, 2},
		"query":        {"pages of Resource Graph", importing.Request{Query: "resources | where type =~ 'contoso.things/things'", Only: true}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(s *setup) { s.sim.PageSize = 300 })
			w.put(groupText, `{"location":"westus2"}`)
			for i := range resources {
				must(t, w.sim.Put(fmt.Sprintf("%s/providers/Contoso.Things/things/t%d", groupText, i), map[string]any{"location": "westus2"}))
			}
			items, _, calls := everything(t, w, ImportResourceInput{ID: id(t, subscriptionText), Contents: &c.in})
			things := 0
			for _, item := range items {
				if strings.HasSuffix(strings.ToLower(item.ID.Type()), "things") {
					things++
				}
			}
			if things != resources || calls < c.calls {
				t.Errorf("%s: %d of %d resources in %d calls, want at least %d calls", c.reason, things, resources, calls, c.calls)
			}
		})
	}
}

// TestImportUnlisted checks what becomes of a collection that is not listed.
func TestImportUnlisted(t *testing.T) {
	t.Parallel()
	list := clusterText + "/databases"
	for name, c := range map[string]struct {
		reason        string
		fault         *armsim.Fault
		listed        bool
		why           string
		refused, none bool
	}{
		"listed":      {reason: "the usual case", listed: true},
		"no list":     {reason: "the type has no list", fault: &armsim.Fault{Method: http.MethodGet, Path: list, Status: 405, Code: "MethodNotAllowed"}, why: "name the IDs"},
		"forbidden":   {reason: "the list exists", fault: &armsim.Fault{Method: http.MethodGet, Path: list, Status: 403, Code: "AuthorizationFailed"}, why: "AuthorizationFailed", refused: true},
		"later":       {reason: "a list that is readable a little later is read", fault: &armsim.Fault{Method: http.MethodGet, Path: list, Status: 429, Code: "TooManyRequests", Headers: map[string]string{"Retry-After": "1"}, Count: 2}, listed: true},
		"unavailable": {reason: "a list that stays unreadable is named, and the others are read", fault: &armsim.Fault{Method: http.MethodGet, Path: list, Status: 503, Code: "ServerTimeout"}, why: "ServerTimeout", refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put(groupText, `{"location":"westus2"}`)
			w.put(clusterText, `{"location":"westus2","sku":{"name":"S"}}`)
			w.put(databaseText, `{"location":"westus2","kind":"ReadWrite"}`)
			w.put(clusterText+"/principalAssignments/p", `{"properties":{}}`)
			if c.fault != nil {
				w.sim.AddFault(*c.fault)
			}
			items, unlisted, _ := everything(t, w, ImportResourceInput{ID: id(t, clusterText), APIVersion: "2023-08-15", Contents: &importing.Request{Root: true}})
			if _, found := items[id(t, databaseText).Key()]; found != c.listed {
				t.Errorf("%s: the database is listed: %v", c.reason, found)
			}
			if _, found := items[strings.ToLower(clusterText)+"/principalassignments/p"]; !found {
				t.Errorf("%s: the other collections are not listed", c.reason)
			}
			var named []importing.Unlisted
			for _, u := range unlisted {
				if strings.EqualFold(u.Type, "Microsoft.Kusto/clusters/databases") {
					named = append(named, u)
				}
			}
			if c.listed != (len(named) == 0) || !c.listed && (named[0].Refused != c.refused || !strings.Contains(named[0].Why, c.why)) {
				t.Errorf("%s: %+v", c.reason, named)
			}
		})
	}
}

// TestImportSkips checks which listed children need no manifest, and why, and which exist by
// themselves.
func TestImportSkips(t *testing.T) {
	t.Parallel()
	server := groupText + "/providers/Microsoft.DBforPostgreSQL/flexibleServers/pg"
	w := newWorld(t)
	w.put(groupText, `{"location":"westus2"}`)
	w.put(server, `{"location":"westus2","properties":{}}`)
	for name, body := range map[string]string{
		"databases/orders": `{"properties":{}}`, "databases/postgres": `{"properties":{}}`,
		"configurations/max_connections": `{"properties":{"source":"user-override","value":"500"}}`,
		"configurations/work_mem":        `{"properties":{"source":"system-default","value":"4096"}}`,
	} {
		w.put(server+"/"+name, body)
	}
	items, unlisted, _ := everything(t, w, ImportResourceInput{ID: id(t, server), APIVersion: "2022-12-01", Contents: &importing.Request{}})
	for name, want := range map[string]importing.Item{
		"databases/orders": {}, "databases/postgres": {BuiltIn: true, Skipped: "the service creates it by itself"},
		"configurations/max_connections": {BuiltIn: true}, "configurations/work_mem": {BuiltIn: true, Skipped: "a setting with the value that the service gives it"},
	} {
		item, found := items[strings.ToLower(server+"/"+name)]
		if !found || item.Skipped != want.Skipped || item.BuiltIn != want.BuiltIn {
			t.Errorf("%s: found %v, got %+v, want %+v", name, found, item, want)
		}
	}
	for _, u := range unlisted {
		if strings.HasSuffix(u.Type, "/privateEndpointConnections") != u.Derived {
			t.Errorf("views alone are derived: %+v", u)
		}
	}
	if len(unlisted) == 0 {
		t.Error("no views of the server are named")
	}
}

// TestImportOfManagementGroup checks that groups and subscriptions of all levels are found,
// each as a place of its own.
func TestImportOfManagementGroup(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	root := "/providers/Microsoft.Management/managementGroups/root"
	inGroup := func(parent string) string {
		return fmt.Sprintf(`{"properties":{"details":{"parent":{"id":"/providers/Microsoft.Management/managementGroups/%s"}}}}`, parent)
	}
	w.put(root, `{"properties":{}}`)
	w.put("/providers/Microsoft.Management/managementGroups/team", inGroup("root"))
	w.put("/providers/Microsoft.Management/managementGroups/part", inGroup("team"))
	w.put("/providers/Microsoft.Management/managementGroups/part"+subscriptionText, `{"properties":{}}`)
	w.put("/providers/Microsoft.Management/managementGroups/other", inGroup("elsewhere"))
	w.put(root+"/providers/Microsoft.Authorization/policyDefinitions/p", `{"properties":{}}`)
	items, _, _ := everything(t, w, ImportResourceInput{ID: id(t, root), Contents: &importing.Request{Root: true}})
	for text, isRoot := range map[string]bool{
		"/providers/Microsoft.Management/managementGroups/team": true, "/providers/Microsoft.Management/managementGroups/part": true, subscriptionText: true,
		root + "/providers/Microsoft.Authorization/policyDefinitions/p": false,
	} {
		if item, found := items[strings.ToLower(text)]; !found || item.Root != isRoot {
			t.Errorf("%s: found %v, %+v", text, found, item)
		}
	}
	if len(items) != 4 {
		t.Errorf("%d items, want 4: %v", len(items), items)
	}
}

// TestImportFollowsOwnLinks checks that the link of a page leads to the page of the same list
// and nowhere else, because it comes from outside of the worker.
func TestImportFollowsOwnLinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(groupText, `{"location":"westus2"}`)
	for name, link := range map[string]string{
		"another list":         subscriptionText + "/providers/Microsoft.Authorization/locks?api-version=2020-05-01",
		"another subscription": "/subscriptions/99999999-2222-3333-4444-555555555555/resourcegroups?api-version=2021-04-01",
		"another host":         "http://127.0.0.1:1" + subscriptionText + "/resourcegroups?api-version=2021-04-01",
	} {
		before := len(w.sim.Requests())
		in := ImportResourceInput{ID: id(t, subscriptionText), Contents: &importing.Request{Only: true, Lists: []importing.List{{
			Collection: "resourcegroups", Type: resource.TypeResourceGroup, APIVersion: resource.ResourceGroupAPIVersion, Page: link,
		}}}}
		got, _ := finish(w, w.acts.ImportResource, in)
		if got.Contents == nil || len(got.Contents.Items) > 0 || len(got.Contents.Unlisted) != 1 || len(w.sim.Requests()) != before {
			t.Errorf("%s: %+v after %d requests", name, got.Contents, len(w.sim.Requests())-before)
		}
	}
}

// TestImportOfEndlessPages checks that a list whose page leads to itself ends, and is named.
func TestImportOfEndlessPages(t *testing.T) {
	t.Parallel()
	lists := 0
	w := newWorld(t, func(s *setup) {
		s.handler = func(sim http.Handler) http.Handler {
			return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				if !strings.HasSuffix(strings.ToLower(r.URL.Path), "/resourcegroups") {
					sim.ServeHTTP(rw, r)
					return
				}
				lists++
				_, _ = fmt.Fprintf(rw, `{"value": [], "nextLink": "http://%s%s"}`, r.Host, r.URL)
			})
		}
	})
	in := ImportResourceInput{ID: id(t, subscriptionText), Contents: &importing.Request{Only: true, Lists: []importing.List{{
		Collection: "resourcegroups", Type: resource.TypeResourceGroup, APIVersion: resource.ResourceGroupAPIVersion,
	}}}}
	got, _ := finish(w, w.acts.ImportResource, in)
	if got.Contents == nil || len(got.Contents.Unlisted) != 1 || !strings.Contains(got.Contents.Unlisted[0].Why, "lead to themselves") || lists != 2 {
		t.Errorf("%+v after %d lists", got.Contents, lists)
	}
}

// TestImportBeforeTheIndex checks that the list of all resources is not the truth: what it
// still has is not there, and what it lacks yet is not found.
func TestImportBeforeTheIndex(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *setup) { s.sim.ListLag = 5 * time.Minute })
	w.put(groupText, `{"location":"westus2"}`)
	w.put(thingText, plannedBody)
	in := ImportResourceInput{ID: id(t, subscriptionText), Contents: &importing.Request{Only: true}}
	if items, _, _ := everything(t, w, in); len(items) != 1 {
		t.Errorf("a new resource is listed at once: %v", items)
	}
	w.advance(10 * time.Minute)
	w.sim.Delete(thingText)
	items, _, _ := everything(t, w, in)
	if _, found := items[id(t, thingText).Key()]; !found {
		t.Errorf("a deleted resource is not listed any more: %v", items)
	}
	got, _ := finish(w, w.acts.ImportResource, ImportResourceInput{ID: id(t, thingText), APIVersion: "2023-08-15"})
	if got.Verdict.Reason != resource.ReasonNotFound {
		t.Errorf("read: %+v", got.Verdict)
	}
}

// TestImportWithinBudget checks that an import of many lists waits for a small read budget,
// loses nothing, and asks little more often than the budget allows.
func TestImportWithinBudget(t *testing.T) {
	t.Parallel()
	server := groupText + "/providers/Microsoft.Sql/servers/s"
	var w *world
	w = newWorld(t, func(s *setup) {
		s.options.Pause = func(_ context.Context, delay time.Duration) bool {
			w.advance(delay)
			return true
		}
	})
	w.put(groupText, `{"location":"westus2"}`)
	w.put(server, `{"location":"westus2","properties":{}}`)
	w.put(server+"/databases/a", `{"location":"westus2","properties":{}}`)
	w.put(server+"/virtualNetworkRules/z", `{"properties":{}}`)
	w.sim.SetThrottle(armsim.Throttle{Reads: armsim.Bucket{Capacity: 5, RefillPerSecond: 1}})
	items, unlisted, _ := everything(t, w, ImportResourceInput{ID: id(t, server), APIVersion: "2021-11-01", Contents: &importing.Request{Root: true}})
	for _, want := range []string{"/databases/a", "/virtualnetworkrules/z"} {
		if _, found := items[strings.ToLower(server)+want]; !found {
			t.Errorf("%s is not found", want)
		}
	}
	for _, u := range unlisted {
		if u.Refused {
			t.Errorf("not read: %+v", u)
		}
	}
	reads, refused := 0, 0
	for _, request := range w.sim.Requests() {
		reads++
		if request.Status == http.StatusTooManyRequests {
			refused++
		}
	}
	if refused == 0 || refused > reads/2 {
		t.Errorf("%d of %d reads were refused, want some and at most half", refused, reads)
	}
}
