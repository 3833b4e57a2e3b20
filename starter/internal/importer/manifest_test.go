package importer

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
)

const (
	group    = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg1"
	cluster  = group + "/providers/Microsoft.Kusto/clusters/adx"
	database = cluster + "/databases/telemetry"
)

func TestOwnerText(t *testing.T) {
	for id, want := range map[string]string{
		cluster:  group,
		database: cluster,
		group:    "/subscriptions/11111111-2222-3333-4444-555555555555",
		cluster + "/providers/Microsoft.Authorization/locks/l1":                                                     cluster + "@2023-08-15",
		"/providers/Microsoft.Management/managementGroups/m1":                                                       "/",
		"/subscriptions/11111111-2222-3333-4444-555555555555/providers/Microsoft.Authorization/policyDefinitions/p": "/subscriptions/11111111-2222-3333-4444-555555555555",
	} {
		parsed, err := resource.ParseID(id)
		if err != nil {
			t.Fatal(err)
		}
		result := activities.ImportResourceResult{ID: parsed, APIVersion: "2020-01-01", Body: json.RawMessage(`{}`)}
		if strings.Contains(id, "locks") {
			result.OwnerAPIVersion = "2023-08-15"
		}
		if got := ownerText(result); got != want {
			t.Errorf("%s: owner %q, want %q", id, got, want)
		}
		text, err := Manifest(result, "")
		if err != nil {
			t.Fatal(err)
		}
		set, err := manifest.Load(manifest.Options{Stdin: strings.NewReader(text)}, "-")
		if err != nil || !set.Resources[0].ID.Equal(parsed) {
			t.Errorf("%s: %v of\n%s", id, err, text)
		}
	}
}
