package e2e

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

const (
	systemsGroup  = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/systems"
	systemsDomain = systemsGroup + "/providers/Microsoft.Cdn/profiles/front/customDomains/www"
	systemsRoute  = systemsGroup + "/providers/Microsoft.Cdn/profiles/front/afdEndpoints/web/routes/all"
	systemsBatch  = systemsGroup + "/providers/Microsoft.Batch/batchAccounts/farm"
	systemsPool   = systemsBatch + "/pools/large"
	systemsAPIM   = systemsGroup + "/providers/Microsoft.ApiManagement/service/gate"
	systemsKey    = systemsAPIM + "/subscriptions/key"
)

const systemsManifests = `type: Microsoft.Resources/resourceGroups@2021-04-01
name: systems
owner: /subscriptions/11111111-2222-3333-4444-555555555555
body: {location: westus2}
---
type: Microsoft.Cdn/profiles@2023-05-01
name: front
owner: systems
body: {location: Global, sku: {name: Standard_AzureFrontDoor}}
---
type: Microsoft.Cdn/profiles/customDomains@2023-05-01
name: www
owner: front
body: {properties: {hostName: www.contoso.com}}
---
type: Microsoft.Cdn/profiles/afdEndpoints@2023-05-01
name: web
owner: front
body: {location: Global}
---
type: Microsoft.Cdn/profiles/afdEndpoints/routes@2023-05-01
name: all
owner: web
body: {properties: {customDomains: [{id: ` + systemsDomain + `}]}}
---
type: Microsoft.Batch/batchAccounts@2023-05-01
name: farm
owner: systems
body: {location: westus2, properties: {}}
---
type: Microsoft.ApiManagement/service@2022-08-01
name: gate
owner: systems
body: {location: westus2, sku: {name: Developer, capacity: 1}, properties: {publisherEmail: a@contoso.com, publisherName: a}}
---
type: Microsoft.ApiManagement/service/subscriptions@2022-08-01
name: key
owner: gate
body: {properties: {scope: /products/gold, displayName: key}}
`

const (
	systemsPoolManifest = `type: Microsoft.Batch/batchAccounts/pools@2023-05-01
name: large
owner: ` + systemsBatch + `
body: {properties: {vmSize: STANDARD_D4S_V3, scaleSettings: {fixedScale: {targetDedicatedNodes: 6}}}}
`
	systemsProductManifest = `type: Microsoft.ApiManagement/service/products@2022-08-01
name: gold
owner: ` + systemsAPIM + `
body: {properties: {displayName: gold, state: published}}
`
)

// TestSystems checks three systems that only rules describe: a route of Front Door waits for its
// domain, a pool of Batch for its quota, a subscription of API Management for its product. Each
// is blocked, explained by a trial with the values of the condition, and released.
func TestSystems(t *testing.T) {
	t.Parallel()
	rules := filepath.Join(examplesFolder(t), "..", "extensions", "rules", "testdata", "parts")
	w := harness.New(t, binaries, harness.Options{})
	w.StartWorker(harness.WorkerOptions{Args: []string{"--rules-path", rules}})
	w.MustCLI("apply", "-f", w.Write("systems.yaml", systemsManifests))
	w.UntilPhase(90*time.Second, systemsBatch, workflows.PhaseReady)
	w.Sim.Patch(systemsBatch, map[string]any{"properties": map[string]any{"dedicatedCoreQuota": 20}})
	w.MustCLI("reconcile", systemsBatch, "--wait")
	w.MustCLI("apply", "-f", w.Write("pool.yaml", systemsPoolManifest))

	for id, want := range map[string]struct {
		reason  resource.Reason
		says    []string
		release func()
	}{
		systemsRoute: {
			"DomainNotValidated", []string{`blocks (DomainNotValidated): Domains not approved yet: ["www.contoso.com"]`, `domains is [{`},
			func() {
				w.Sim.Patch(systemsDomain, map[string]any{"properties": map[string]any{"domainValidationState": "Approved"}})
			},
		},
		systemsPool: {
			"QuotaExceeded", []string{"blocks (QuotaExceeded): Account farm has 20", "number(owner.properties.dedicatedCoreQuota, 0) is 20"},
			func() {
				w.Sim.Patch(systemsBatch, map[string]any{"properties": map[string]any{"dedicatedCoreQuota": 64}})
				w.MustCLI("reconcile", systemsBatch, "--wait")
				w.MustCLI("reconcile", systemsPool)
			},
		},
		systemsKey: {
			resource.ReasonReferenceNotFound, []string{`blocks (ReferenceNotFound): The resource "gate/gold"`},
			func() { w.MustCLI("apply", "-f", w.Write("product.yaml", systemsProductManifest)) },
		},
	} {
		w.UntilStatus(90*time.Second, id, string(want.reason), func(s workflows.Status) bool { return s.Condition.Reason == want.reason })
		result := w.CLI("rules", "try", id, "-f", rules)
		for _, text := range want.says {
			if !strings.Contains(result.Out, text) {
				t.Errorf("no %q in %s", text, result)
			}
		}
		want.release()
		w.UntilPhase(120*time.Second, id, workflows.PhaseReady)
	}
}
