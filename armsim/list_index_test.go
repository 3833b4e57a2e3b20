package armsim_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
)

// TestResourceGraph checks pages, scope, quota and refusals of Resource Graph.
func TestResourceGraph(t *testing.T) {
	t.Parallel()
	h := newHarness(t, armsim.Options{})
	for i := range 5 {
		h.put(fmt.Sprintf("%s/providers/Microsoft.Example/things/t%d", group, i), map[string]any{"location": "westus2", "tags": map[string]any{"team": fmt.Sprint(i % 2)}})
	}
	h.put(strings.Replace(plain, sub, "99999999-2222-3333-4444-555555555555", 1), map[string]any{"location": "westus2"})
	h.put(plain+"/parts/p", map[string]any{})
	query := func(kql, rest string) response {
		return h.do("POST", "/providers/Microsoft.ResourceGraph/resources?api-version=2022-10-01", fmt.Sprintf(`{"query":%q%s}`, kql, rest))
	}
	cases := map[string]struct {
		reason, kql, rest string
		count, status     int
		token             bool
		truncated         string
	}{
		"all":        {"tracked resources of all subscriptions", "resources | project id", "", 6, 200, false, "false"},
		"scope":      {"one subscription", "resources | project id", `,"subscriptions":["` + sub + `"]`, 5, 200, false, "false"},
		"where":      {"a condition", "resources | where type =~ 'microsoft.EXAMPLE/things' and tags['team'] == '1' | project id", "", 2, 200, false, "false"},
		"page":       {"more rows than the page", "resources | project id | order by id asc", `,"options":{"$top":4}`, 4, 200, true, "false"},
		"no id":      {"without the column there is no next page", "resources | project name", `,"options":{"$top":4}`, 4, 200, false, "true"},
		"invalid":    {"not KQL", "select * from resources", "", 0, 400, false, ""},
		"wrong page": {"a token of another service", "resources | project id", `,"options":{"$skipToken":"x"}`, 0, 400, false, ""},
	}
	for name, c := range cases {
		got := query(c.kql, c.rest)
		data, _ := got.body["data"].([]any)
		_, token := got.body["$skipToken"]
		truncated, _ := got.body["resultTruncated"].(string)
		if got.status != c.status || len(data) != c.count || token != c.token || truncated != c.truncated {
			t.Errorf("%s: %s: %d with %d rows, token %v, truncated %q", name, c.reason, got.status, len(data), token, truncated)
		}
	}
	h.pass(time.Minute)
	for i := range 16 {
		if got := query("resources", ""); (got.status == http.StatusTooManyRequests) != (i == 15) {
			t.Errorf("query %d: %d", i+1, got.status)
		}
	}
	h.pass(6 * time.Second)
	if got := query("resources", ""); got.status != http.StatusOK {
		t.Errorf("after the window: %d", got.status)
	}
}

// TestListLag checks that the index of all resources lags behind, and the resources
// themselves do not.
func TestListLag(t *testing.T) {
	t.Parallel()
	h := newHarness(t, armsim.Options{ListLag: time.Minute})
	h.put(plain, map[string]any{"location": "westus2"})
	listed := func() int {
		list, _ := h.do("GET", group+"/resources"+version, "").body["value"].([]any)
		return len(list)
	}
	if n := listed(); n != 0 {
		t.Errorf("%d resources are listed at once", n)
	}
	h.pass(2 * time.Minute)
	h.Delete(plain)
	if n := listed(); n != 1 || h.do("GET", plain+version, "").status != http.StatusNotFound {
		t.Errorf("%d resources are listed after a deletion", n)
	}
	h.pass(2 * time.Minute)
	if n := listed(); n != 0 {
		t.Errorf("%d resources are listed long after a deletion", n)
	}
}

// TestDiagnosticSettingsOfTypes checks that a type without diagnostic settings refuses their
// list.
func TestDiagnosticSettingsOfTypes(t *testing.T) {
	t.Parallel()
	h := newHarness(t, armsim.Options{})
	routes := group + "/providers/Microsoft.Network/routeTables/r"
	h.put(routes, map[string]any{"location": "westus2"})
	h.put(vnet, map[string]any{"location": "westus2"})
	const settings = "/providers/Microsoft.Insights/diagnosticSettings?api-version=2021-05-01-preview"
	if got := h.do("GET", routes+settings, ""); got.status != http.StatusBadRequest || got.code() != "ResourceTypeNotSupported" {
		t.Errorf("a route table: %d %s", got.status, got.code())
	}
	if got := h.do("GET", vnet+settings, ""); got.status != http.StatusOK {
		t.Errorf("a network: %d %s", got.status, got.code())
	}
}
