package e2e

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// systems is a world whose worker has the rules of the examples, with a group.
type systems struct {
	*harness.World
	group string
}

// TestSystemsInRules plays the systems that no check in Go knows: each resource is blocked
// with a message, and becomes Ready when the other one changes.
func TestSystemsInRules(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	w.StartWorker(harness.WorkerOptions{Args: []string{"--rules-path", filepath.Join(examplesFolder(t), "rules", "systems")}})
	on := func(name string, play func(systems)) func(*testing.T) {
		return func(t *testing.T) {
			s := systems{World: w.On(t), group: subscription + "/resourceGroups/" + name}
			s.put(s.group, `{"location":"westus2"}`)
			play(s)
		}
	}
	sideBySide(t, 3, map[string]func(*testing.T){
		"redis": on("redis", playLinkedServers), "apps": on("apps", playContainerApps), "sql": on("sql", playFailoverGroups),
	})
}

// put makes a resource without a workflow.
func (s systems) put(id, body string) {
	s.T.Helper()
	decoded, err := resource.DecodeBody([]byte(body))
	if err != nil {
		s.T.Fatal(err)
	}
	s.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": id, "body": decoded}, nil)
}

// apply applies one resource and returns its ID.
func (s systems) apply(armType, owner, name, body string) string {
	s.T.Helper()
	path := s.Write(fmt.Sprintf("%s-%s.yaml", filepath.Base(s.group), name),
		fmt.Sprintf("type: %s\nname: %s\nowner: %s\nreconcile: {interval: 1h}\nbody: %s\n", armType, name, owner, body))
	s.MustCLI("apply", "-f", path)
	plain, _, _ := strings.Cut(armType, "@")
	if strings.Count(plain, "/") == 1 {
		return owner + "/providers/" + plain + "/" + name
	}
	return owner + "/" + plain[strings.LastIndex(plain, "/")+1:] + "/" + name
}

// waits checks that a resource is not Ready for a reason, with a text, and that it got the
// given number of PUTs.
func (s systems) waits(id string, reason resource.Reason, text string, puts int) {
	s.T.Helper()
	s.UntilStatus(90*time.Second, id, string(reason)+": "+text, func(status workflows.Status) bool {
		return status.Condition.Reason == reason && strings.Contains(status.Condition.Message, text)
	})
	if got := s.Sim.Count(http.MethodPut, id); got != puts {
		s.T.Errorf("%s got %d PUTs, want %d", id, got, puts)
	}
}

// ready requests a pass after a change that no workflow of Armature made, and waits until
// the resource is Ready.
func (s systems) ready(id string) {
	s.T.Helper()
	s.MustCLI("reconcile", id)
	s.UntilPhase(90*time.Second, id, workflows.PhaseReady)
}

// waitsLong waits until the next try of a resource is so far away that a wake comes before it.
func (s systems) waitsLong(id string) {
	s.T.Helper()
	s.UntilStatus(90*time.Second, id, "waits for seconds", func(status workflows.Status) bool {
		return time.Until(status.NextTry) > 3*time.Second
	})
}

// woken checks that a wake reached a resource.
func (s systems) woken(id string) {
	s.T.Helper()
	if lines := s.HistoryLines(id); !strings.Contains(lines, "wake") {
		s.T.Errorf("no wake reached %s:\n%s", id, lines)
	}
}

func playLinkedServers(s systems) {
	const cache = `{location: westus2, properties: {sku: {name: %s, family: P, capacity: 1}}}`
	a := s.apply("Microsoft.Cache/redis@2024-11-01", s.group, "a", fmt.Sprintf(cache, "Premium"))
	s.UntilPhase(60*time.Second, a, workflows.PhaseReady)
	b := s.group + "/providers/Microsoft.Cache/redis/b"
	link := s.apply("Microsoft.Cache/redis/linkedServers@2024-11-01", a, "b",
		fmt.Sprintf(`{properties: {linkedRedisCacheId: %s, linkedRedisCacheLocation: eastus, serverRole: Secondary}}`, b))
	s.waits(link, resource.ReasonReferenceNotFound, `The resource "b" (Microsoft.Cache/redis), which this check reads as peer, does not exist in Azure`, 0)

	// The other cache is created: its wake starts the link.
	s.waitsLong(link)
	s.apply("Microsoft.Cache/redis@2024-11-01", s.group, "b", strings.Replace(fmt.Sprintf(cache, "Premium"), "westus2", "eastus", 1))
	s.waits(link, resource.ReasonPostReconciliationFailure, `Cache "b" does not show the link to "a" yet`, 1)
	s.woken(link)
	s.Sim.Patch(b, map[string]any{"properties": map[string]any{"linkedServers": []any{map[string]any{"id": b + "/linkedServers/a"}}}})
	s.ready(link)

	// While a cache is being linked, what is in it gets no request. A pass may proceed on a
	// reading from up to 2 s before its request.
	s.Sim.Call(http.MethodPut, "/state", map[string]any{"id": a, "provisioningState": "Linking"}, nil)
	<-time.After(2500 * time.Millisecond)
	rule := s.apply("Microsoft.Cache/redis/firewallRules@2024-11-01", a, "office", `{properties: {startIP: 10.0.0.1, endIP: 10.0.0.2}}`)
	s.waits(rule, resource.ReasonReconciliationBlocked, `is busy: properties.provisioningState is "Linking"`, 0)
	s.Sim.Call(http.MethodPut, "/state", map[string]any{"id": a, "provisioningState": "Succeeded"}, nil)
	s.MustCLI("reconcile", a)
	s.ready(rule)
}

func playContainerApps(s systems) {
	env := s.group + "/providers/Microsoft.App/managedEnvironments/env"
	const body = `{location: westus2, properties: {environmentId: %s, configuration: {secrets: [%s]}, template: {containers: [{name: web, image: nginx, env: [{name: TOKEN, secretRef: token}]}]}}}`
	app := s.apply("Microsoft.App/containerApps@2024-03-01", s.group, "app", fmt.Sprintf(body, env, ""))
	s.waits(app, "SecretNotDefined", `Containers name secrets that properties.configuration.secrets does not define: ["web"]`, 0)
	s.apply("Microsoft.App/containerApps@2024-03-01", s.group, "app", fmt.Sprintf(body, env, "{name: token, keyVaultUrl: https://v.vault.azure.net/secrets/token, identity: system}"))
	s.waits(app, resource.ReasonReferenceNotFound, `The resource "env" (Microsoft.App/managedEnvironments), which this check reads as env, does not exist in Azure`, 0)

	s.put(env, `{"location":"westus2","properties":{}}`)
	s.Sim.Call(http.MethodPut, "/state", map[string]any{"id": env, "provisioningState": "UpgradeRequested"}, nil)
	s.MustCLI("reconcile", app)
	s.waits(app, resource.ReasonReferenceNotReady, `properties.provisioningState is "UpgradeRequested"`, 0)
	s.waitsLong(app)
	s.Sim.Call(http.MethodPut, "/state", map[string]any{"id": env, "provisioningState": "Succeeded"}, nil)
	s.apply("Microsoft.App/managedEnvironments@2024-03-01", s.group, "env", `{location: westus2, properties: {zoneRedundant: false}}`)
	s.waits(app, resource.ReasonPostReconciliationFailure, `the last one that was is ""`, 1)
	s.woken(app)
	s.Sim.Patch(app, map[string]any{"properties": map[string]any{"latestRevisionName": "app--1", "latestReadyRevisionName": "app--1"}})
	s.ready(app)
}

func playFailoverGroups(s systems) {
	const server = `{location: %s, properties: {administratorLogin: sa1, version: "12.0"}}`
	a := s.apply("Microsoft.Sql/servers@2023-08-01", s.group, "a", fmt.Sprintf(server, "westus2"))
	s.UntilPhase(60*time.Second, a, workflows.PhaseReady)
	b := s.group + "/providers/Microsoft.Sql/servers/b"
	const body = `{properties: {partnerServers: [{id: %s}], readWriteEndpoint: {failoverPolicy: Manual}, databases: [%s]}}`
	group := s.apply("Microsoft.Sql/servers/failoverGroups@2023-08-01", a, "g", fmt.Sprintf(body, b, b+"/databases/d"))
	s.waits(group, "ForeignDatabase", "A failover group contains databases of its own server alone", 0)
	s.apply("Microsoft.Sql/servers/failoverGroups@2023-08-01", a, "g", fmt.Sprintf(body, b, a+"/databases/d"))
	s.waits(group, resource.ReasonReferenceNotFound, `The resource "b" (Microsoft.Sql/servers), which this check reads as partner, does not exist in Azure`, 0)

	// The partner is created, in the same region at first.
	s.apply("Microsoft.Sql/servers@2023-08-01", s.group, "b", fmt.Sprintf(server, "westus2"))
	s.waits(group, "SameRegion", "the partner of a failover group has to be in another region", 0)
	s.Sim.Call(http.MethodDelete, "/resources?id="+b, nil, nil)
	s.put(b, `{"location":"eastus","properties":{"administratorLogin":"sa1","version":"12.0","state":"Ready"}}`)
	s.MustCLI("reconcile", group)
	s.waits(group, resource.ReasonReferenceNotFound, "which this check reads as twin, does not exist in Azure", 1)

	// The partner shows its side while the first copy is under way.
	s.Sim.Patch(group, map[string]any{"properties": map[string]any{"replicationRole": "Primary", "replicationState": "SEEDING"}})
	s.put(b+"/failoverGroups/g", `{"properties":{"replicationRole":"Secondary"}}`)
	s.MustCLI("reconcile", group)
	s.waits(group, resource.ReasonPostReconciliationFailure, `Replication is "SEEDING"`, 1)
	s.Sim.Patch(group, map[string]any{"properties": map[string]any{"replicationState": "CATCH_UP"}})
	s.ready(group)
}
