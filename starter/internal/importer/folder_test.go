package importer

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
)

// routes returns route tables of the same name in resource groups.
func routes(t *testing.T, groups ...string) []activities.ImportResourceResult {
	t.Helper()
	var all []activities.ImportResourceResult
	for _, group := range groups {
		id, err := resource.ParseID(subscription + "/resourceGroups/" + group + "/providers/Microsoft.Network/routeTables/main")
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, activities.ImportResourceResult{ID: id, APIVersion: "2023-05-01", Body: json.RawMessage(`{"location":"westus2"}`)})
	}
	return all
}

// write writes manifests and returns "status file" of each, by group.
func write(t *testing.T, folder string, found []activities.ImportResourceResult) map[string]string {
	t.Helper()
	manifests, err := Manifests(found, Reconcile{Adopt: "as-is", Policy: "observe"})
	if err != nil {
		t.Fatal(err)
	}
	f := Folder{Path: folder, Note: func(format string, args ...any) { t.Logf(format, args...) }}
	outcomes, err := f.Write(manifests, func(string, string) {})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, o := range outcomes {
		got[o.ID.ResourceGroup()] = string(o.Status) + " " + filepath.Base(o.File)
	}
	return got
}

// TestFilesAreStable checks that a resource keeps its file when others of the same name are
// added, wherever they are sorted, and when the user moves it to another file.
func TestFilesAreStable(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "stack")
	first := write(t, folder, routes(t, "c"))
	if first["c"] != "imported route-table-main.yaml" {
		t.Fatalf("first import: %v", first)
	}
	second := write(t, folder, routes(t, "a", "b", "c"))
	if second["c"] != "unchanged route-table-main.yaml" || !strings.HasPrefix(second["a"], "imported route-table-main-") || second["a"] == second["b"] {
		t.Errorf("second import: %v", second)
	}
	if err := os.Rename(filepath.Join(folder, "route-table-main.yaml"), filepath.Join(folder, "mine.yaml")); err != nil {
		t.Fatal(err)
	}
	third := write(t, folder, routes(t, "a", "b", "c"))
	if third["c"] != "unchanged mine.yaml" || strings.Replace(second["a"], "imported", "unchanged", 1) != third["a"] || strings.Replace(second["b"], "imported", "unchanged", 1) != third["b"] {
		t.Errorf("third import: %v", third)
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 3 {
		t.Errorf("%d files: %v", len(entries), err)
	}
}

// TestManifestsNameEachOther checks owners and references: by name within a group where the
// name is unique, else by ID; and that what contains the target of an ID is needed.
func TestManifestsNameEachOther(t *testing.T) {
	t.Parallel()
	found := func(id, body string) activities.ImportResourceResult {
		parsed, err := resource.ParseID(subscription + id)
		if err != nil {
			t.Fatal(err)
		}
		return activities.ImportResourceResult{ID: parsed, APIVersion: "2023-05-01", Body: json.RawMessage(body), Unshown: []string{"properties.key"}}
	}
	const one, two = "/resourceGroups/one/providers/Microsoft.Network/", "/resourceGroups/two/providers/Microsoft.Network/"
	manifests, err := Manifests([]activities.ImportResourceResult{
		found("/resourceGroups/one", `{"location":"westus2"}`),
		found(one+"virtualNetworks/net", `{"location":"westus2","properties":{"subnets":[{"name":"apps","properties":{"addressPrefix":"10.0.0.0/24"}}]}}`),
		found(one+"networkSecurityGroups/guard", `{"location":"westus2"}`),
		found(one+"networkSecurityGroups/guard/securityRules/web", `{"properties":{"access":"Allow","direction":"Inbound","priority":100,"protocol":"*"}}`),
		found(one+"networkInterfaces/nic", `{"location":"westus2","properties":{"networkSecurityGroup":{"id":"`+subscription+one+`networkSecurityGroups/GUARD"},"ipConfigurations":[{"name":"a","properties":{"subnet":{"id":"`+subscription+one+`virtualNetworks/net/subnets/apps"}}}]}}`),
		found(two+"routeTables/same", `{"location":"westus2"}`),
		found(one+"routeTables/same", `{"location":"westus2"}`),
		found(one+"routeTables/same/routes/r", `{"properties":{"addressPrefix":"10.0.0.0/8","nextHopType":"None"}}`),
	}, Reconcile{})
	if err != nil {
		t.Fatal(err)
	}
	text := manifestStream(manifests)
	for want, reason := range map[string]string{
		"name: net\nowner: one\n":           "a group of the import is named",
		"name: web\nowner: guard\n":         "a parent is named",
		"$ref: guard":                       "a reference to what is imported",
		"dependsOn:\n    - net\n":           "the network that contains the subnet",
		"/virtualNetworks/net/subnets/apps": "the subnet is no manifest, and stays an ID",
		"owner: " + subscription + "/resourceGroups/one/providers/Microsoft.Network/routeTables/same\n": "an ambiguous name is an ID",
		"# Not shown by Azure: properties.key; state it":                                                "what the user has to state",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s: %q is missing in\n%s", reason, want, text)
		}
	}
}

// TestLeftOutIsNamed checks that a manifest names the values that were left out for their owners,
// and the parts that were not read.
func TestLeftOutIsNamed(t *testing.T) {
	t.Parallel()
	found := routes(t, "a")
	found[0].Owned = []string{"sku.capacity belongs to autoscale setting a1"}
	found[0].Unread = []string{"properties.siteConfig needs Microsoft.Web/sites/config/read"}
	manifests, err := Manifests(found, Reconcile{})
	if err != nil || !strings.Contains(string(manifests[0].Text), "# Not stated: sku.capacity belongs to autoscale setting a1.\n") ||
		!strings.Contains(string(manifests[0].Text), "# Not read: properties.siteConfig needs Microsoft.Web/sites/config/read.\n") {
		t.Errorf("%v:\n%s", err, manifests[0].Text)
	}
}
