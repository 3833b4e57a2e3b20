package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
)

// The estate of the conversions: 14 resources, written for five tools and as manifests.
const (
	estateGroup    = subscription + "/resourceGroups/shop-prod"
	estateIdentity = estateGroup + "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/shop-app"
	estateCount    = 14
	estateSecret   = "ARMATURE_SECRET_SHOP_PROD_DB_ADMINISTRATOR_LOGIN_PASSWORD=e2e-shop-4711"
)

// TestConvert converts an estate that exists from the files of five tools. Each result
// validates without a finding, plans as in sync even if nothing is adopted as it is, is
// adopted without a PUT, and plans as in sync afterwards.
func TestConvert(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{Simulator: armsim.Options{TimeScale: 1200}})
	quickPolls(w)
	w.StartWorker(harness.WorkerOptions{Env: []string{estateSecret}})
	root, err := harness.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	estate := filepath.Join(root, "starter", "internal", "convert", "testdata", "estate")
	w.MustCLI("apply", "-f", filepath.Join(estate, "estate.yaml"), "--wait", "--timeout", "120s")
	forgetAll(w)
	state := stateOf(w, filepath.Join(estate, "terraform.tfstate"))
	id := strings.TrimPrefix(subscription, "/subscriptions/")
	for _, source := range []struct{ format, path string }{
		{"bicep-snapshot", filepath.Join(estate, "main.snapshot.json")},
		{"azapi", filepath.Join(estate, "azapi")},
		{"terraform-state", state},
		{"aso", filepath.Join(estate, "cluster.yaml")},
		{"ids", filepath.Join(estate, "resources.json")},
	} {
		t.Run(source.format, func(t *testing.T) {
			w := w.On(t)
			fresh, adopted := source.format+"-always", source.format+"-as-is"
			w.MustCLI("convert", "--from", source.format, source.path, "--subscription", id, "--adopt", "always", "-o", fresh)
			w.MustCLI("validate", "--strict", "-f", fresh)
			inSync(w, fresh)
			w.MustCLI("convert", "--from", source.format, source.path, "--subscription", id, "-o", adopted)
			w.Sim.Reset()
			w.MustCLI("apply", "-f", adopted, "--wait", "--timeout", "60s")
			inSync(w, adopted)
			counters := w.Sim.Counters()
			for _, method := range []string{http.MethodPut, http.MethodPatch, http.MethodDelete} {
				if n := counters.ByMethod[method]; n != 0 {
					t.Errorf("%d %ss, want none: %v", n, method, counters.ByID)
				}
			}
			forgetAll(w)
		})
	}
}

// forgetAll ends the management of everything and waits until it has ended.
func forgetAll(w *harness.World) {
	w.T.Helper()
	w.MustCLI("forget", "--all", "--yes")
	w.Until(30*time.Second, "nothing is managed", func() (bool, string) {
		list := strings.TrimSpace(w.MustCLI("get", "-o", "json").Out)
		return list == "[]", list
	})
}

// inSync checks that a plan of a folder changes none of the estate.
func inSync(w *harness.World, folder string) {
	w.T.Helper()
	changes := plan(w, 0, "-f", folder)
	if len(changes) != estateCount {
		w.T.Errorf("%s has %d resources, want %d", folder, len(changes), estateCount)
	}
	for _, c := range changes {
		if c.Action != "none" {
			w.T.Errorf("the plan of %s: %+v", folder, c)
		}
	}
}

// stateOf returns a copy of a state of Terraform with the principal that the simulator gave
// to the identity: a state has observed values.
func stateOf(w *harness.World, path string) string {
	w.T.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		w.T.Fatal(err)
	}
	identity := stored(w, estateIdentity)
	if len(identity) != 1 {
		w.T.Fatalf("%d identities, want 1", len(identity))
	}
	properties, _ := identity[0].Body["properties"].(map[string]any)
	principal, _ := properties["principalId"].(string)
	return w.Write("terraform.tfstate", strings.ReplaceAll(string(text), "PRINCIPAL", principal))
}
