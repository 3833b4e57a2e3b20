package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/payload"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

const (
	// upgradeCopies is the number of resources of each kind of an upgrade.
	upgradeCopies = 10
	// upgradeCopy marks the first copy in names and IDs.
	upgradeCopy = "c0x"
	// upgradeStates has the states that the workflows of an older worker handed over, one
	// of each kind, and what the simulator stored.
	upgradeStates = "testdata/upgrade.json"
	// oldWorkerVariable and oldCLIVariable name the environment variables with the paths
	// of an older worker and CLI.
	oldWorkerVariable, oldCLIVariable = "OLD_WORKER", "OLD_CLI"
)

// upgradeKinds returns one resource of each kind.
func upgradeKinds() []member {
	network := func(kind, body string) member {
		return member{"Microsoft.Network/" + kind + "@2023-11-01", "Microsoft.Network/" + kind + "/" + kind + upgradeCopy, "", body}
	}
	return []member{
		network("virtualNetworks", `{"location":"westus2","properties":{"addressSpace":{"addressPrefixes":["10.0.0.0/16"]},"subnets":[{"name":"a","properties":{"addressPrefix":"10.0.0.0/24"}}]}}`),
		network("networkSecurityGroups", `{"location":"westus2","tags":{"team":"a"},"properties":{"securityRules":[{"name":"r","properties":{"access":"Allow","direction":"Inbound","priority":100,"protocol":"Tcp","sourceAddressPrefix":"*","sourcePortRange":"*","destinationAddressPrefix":"*","destinationPortRange":"443"}}]}}`),
		network("routeTables", `{"location":"westus2","properties":{"disableBgpRoutePropagation":true}}`),
		network("publicIPAddresses", `{"location":"westus2","sku":{"name":"Standard"},"properties":{"publicIPAllocationMethod":"Static"}}`),
		network("natGateways", `{"location":"westus2","sku":{"name":"Standard"},"properties":{"idleTimeoutInMinutes":10}}`),
		{"Microsoft.Storage/storageAccounts@2023-01-01", "Microsoft.Storage/storageAccounts/storage" + upgradeCopy, "", `{"location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"},"properties":{"minimumTlsVersion":"TLS1_2"}}`},
		{"Microsoft.ManagedIdentity/userAssignedIdentities@2023-01-31", "Microsoft.ManagedIdentity/userAssignedIdentities/id" + upgradeCopy, "", `{"location":"westus2"}`},
		{"Microsoft.Compute/disks@2023-10-02", "Microsoft.Compute/disks/disk" + upgradeCopy, "", `{"location":"westus2","sku":{"name":"Premium_LRS"},"properties":{"diskSizeGB":32,"creationData":{"createOption":"Empty"}}}`},
		{"Microsoft.KeyVault/vaults@2023-07-01", "Microsoft.KeyVault/vaults/vault" + upgradeCopy, "", `{"location":"westus2","properties":{"tenantId":"00000000-0000-0000-0000-000000000001","sku":{"family":"A","name":"standard"},"accessPolicies":[],"enableRbacAuthorization":true}}`},
		{"Microsoft.Example/things@2024-01-01", "Microsoft.Example/things/thing" + upgradeCopy, "", `{"location":"westus2","tags":{"team":"a"},"properties":{"size":"small"}}`},
	}
}

// copyOf returns a text about the first copy as one about another copy.
func copyOf(text string, n int) string {
	return strings.ReplaceAll(text, upgradeCopy, fmt.Sprintf("c%dx", n))
}

// handedOver is what an older worker left of one resource.
type handedOver struct {
	ID    string          `json:"id"`
	Body  map[string]any  `json:"body"`
	State json.RawMessage `json:"state"`
}

// TestUpgrade starts 100 workflows with the states of an older worker: recorded specs
// without put and recreate, baselines without the values that others set, no identity.
// They are in sync, and get no PUT.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(upgradeStates)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []handedOver
	if err := json.Unmarshal(text, &kinds); err != nil {
		t.Fatal(err)
	}
	w := harness.New(t, binaries, harness.Options{})
	before := map[string]int64{}
	var ids []string
	for n := range upgradeCopies {
		for _, kind := range kinds {
			raw, err := json.Marshal(kind)
			if err != nil {
				t.Fatal(err)
			}
			var one handedOver
			if err := json.Unmarshal([]byte(copyOf(string(raw), n)), &one); err != nil {
				t.Fatal(err)
			}
			before[one.ID] = resumeFrom(w, one)
			ids = append(ids, one.ID)
		}
	}
	w.Sim.Reset()
	w.StartWorker(harness.WorkerOptions{})
	checkUpgraded(w, ids, before)
	checkCorrected(w, ids[:len(kinds)])
}

// checkCorrected changes what some manifests state: one PUT corrects each, and what
// another tool had set before the upgrade stays.
func checkCorrected(w *harness.World, ids []string) {
	w.T.Helper()
	changes := map[string]map[string]any{
		"routetables": {"disableBgpRoutePropagation": false}, "natgateways": {"idleTimeoutInMinutes": 4},
		"storageaccounts": {"minimumTlsVersion": "TLS1_0"}, "vaults": {"enableRbacAuthorization": false}, "things": {"size": "large"},
	}
	w.Sim.Reset()
	corrected := 0
	for _, text := range ids {
		id, err := resource.ParseID(text)
		if err != nil {
			w.T.Fatal(err)
		}
		_, kind, _ := strings.Cut(strings.ToLower(id.Type()), "/")
		change, known := changes[kind]
		if !known {
			continue
		}
		corrected++
		w.Sim.Patch(text, map[string]any{"properties": change})
		sendAll(w, "reconcile", text, "--wait", "--timeout", "180s")
		tags, _ := stored(w, text)[0].Body["tags"].(map[string]any)
		if puts := w.Sim.Count(http.MethodPut, text); puts != 1 || tags["cost-center"] == nil {
			w.T.Errorf("%s got %d PUTs and has the tags %v, want one PUT and those of others", text, puts, tags)
		}
	}
	if corrected != len(changes) {
		w.T.Errorf("%d of %d kinds were changed", corrected, len(changes))
	}
}

// resumeFrom starts the workflow of a resource with a state, and returns the number of
// its passes.
func resumeFrom(w *harness.World, one handedOver) int64 {
	w.T.Helper()
	w.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": one.ID, "body": one.Body}, nil)
	var state workflows.State
	if err := json.Unmarshal(one.State, &state); err != nil {
		w.T.Fatal(err)
	}
	desired := *state.Desired
	// The recorded text is the input, not what the types of today make of it.
	input := struct {
		State json.RawMessage `json:"state"`
	}{one.State}
	if _, err := w.Client.ExecuteWorkflow(w.T.Context(), client.StartWorkflowOptions{
		ID: desired.ID.WorkflowID(), TaskQueue: workflows.TaskQueue, Memo: workflows.Memo(desired), TypedSearchAttributes: workflows.IdentityAttributes(desired),
	}, workflows.ReconcileResourceWorkflow, input); err != nil {
		w.T.Fatal(err)
	}
	return state.Pass
}

// checkUpgraded requests two passes of each resource and checks that they send no PUT.
func checkUpgraded(w *harness.World, ids []string, before map[string]int64) {
	w.T.Helper()
	for round := int64(1); round <= 2; round++ {
		sendAll(w, "reconcile", "--all", "--yes", "--wait", "--timeout", "300s")
		for _, id := range ids {
			w.UntilStatus(60*time.Second, id, "had another pass", func(s workflows.Status) bool {
				return s.Condition.Ready && s.Pass >= before[id]+round
			})
		}
	}
	puts := 0
	for _, id := range ids {
		if n := w.Sim.Count(http.MethodPut, id); n > 0 {
			puts += n
			status, err := w.Status(id)
			w.T.Errorf("%s got %d PUTs: %+v %v", id, n, status.Decisions, err)
		}
	}
	w.T.Logf("%d workflows of an older worker had two passes and %d PUTs", len(ids), puts)
}

// TestUpgradeOfWorkers applies 100 resources with an older worker and CLI, replaces the
// worker, and counts the PUTs: once the new worker replays the histories, once it takes
// over the states. HISTORIES names a folder for upgrade.json.
func TestUpgradeOfWorkers(t *testing.T) {
	oldWorker, oldCLI := os.Getenv(oldWorkerVariable), os.Getenv(oldCLIVariable)
	if oldWorker == "" || oldCLI == "" {
		t.Skipf("set %s and %s to programs that were built from an older commit (git worktree add, go build ./worker ./starter); TestUpgrade runs the states that they left", oldWorkerVariable, oldCLIVariable)
	}
	for name, versioned := range map[string]bool{"replay": false, "versions": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			playUpgrade(t, harness.WorkerOptions{Binary: oldWorker}, oldCLI, versioned)
		})
	}
}

func playUpgrade(t *testing.T, old harness.WorkerOptions, oldCLI string, versioned bool) {
	const deployment = "armature-upgrade"
	w := harness.New(t, binaries, harness.Options{Simulator: armsim.Options{TimeScale: 300}})
	quickPolls(w)
	var next harness.WorkerOptions
	if versioned {
		old.Env = []string{"TEMPORAL_DEPLOYMENT_NAME=" + deployment, "TEMPORAL_WORKER_BUILD_ID=old"}
		next.Env = []string{"TEMPORAL_DEPLOYMENT_NAME=" + deployment, "TEMPORAL_WORKER_BUILD_ID=new"}
	}
	group := subscription + "/resourceGroups/upgrade"
	var members []member
	var ids []string
	for n := range upgradeCopies {
		for _, m := range upgradeKinds() {
			m.path = copyOf(m.path, n)
			members, ids = append(members, m), append(ids, m.id(group))
		}
	}
	folder := writeStack(w, group, members)
	first := w.StartWorker(old)
	if versioned {
		setCurrent(w, deployment, "old")
	}
	newCLI := w.Binaries.CLI
	w.Binaries.CLI = oldCLI
	sendAll(w, "apply", "-f", folder, "--wait", "--timeout", "300s")
	for i, id := range ids {
		w.Sim.Patch(id, map[string]any{"tags": map[string]any{"cost-center": fmt.Sprint(i)}})
	}
	sendAll(w, "reconcile", "--all", "--wait", "--timeout", "180s")
	before := map[string]int64{}
	for _, id := range ids {
		before[id] = w.UntilPhase(30*time.Second, id, workflows.PhaseReady).Pass
	}
	w.Sim.Reset()
	w.Binaries.CLI = newCLI
	if versioned {
		w.StartWorker(next)
		setCurrent(w, deployment, "new")
		w.Until(120*time.Second, "all runs moved to the new version", func() (bool, string) {
			w.CLI("reconcile", "--all", "--yes")
			moved := 0
			for _, id := range ids {
				if runsOn(w, id) == "new" {
					moved++
				}
			}
			return moved == len(ids), fmt.Sprintf("%d of %d", moved, len(ids))
		})
	}
	first.Stop()
	if !versioned {
		w.StartWorker(next)
	}
	checkUpgraded(w, ids, before)
	if versioned {
		recordStates(w, group)
	}
}

// runsOn returns the build ID of the worker version of a workflow.
func runsOn(w *harness.World, id string) string {
	description, err := w.Client.DescribeWorkflowExecution(w.T.Context(), w.WorkflowID(id), "")
	if err != nil {
		return err.Error()
	}
	return description.GetWorkflowExecutionInfo().GetVersioningInfo().GetDeploymentVersion().GetBuildId()
}

// recordStates writes the states with which the runs of the new version started.
func recordStates(w *harness.World, group string) {
	w.T.Helper()
	output := os.Getenv(harness.HistoriesVariable)
	if output == "" {
		return
	}
	var kinds []handedOver
	for _, m := range upgradeKinds() {
		one := handedOver{ID: m.id(group)}
		input := w.History(one.ID).GetEvents()[0].GetWorkflowExecutionStartedEventAttributes().GetInput()
		var started struct {
			State json.RawMessage `json:"state"`
		}
		if err := payload.DataConverter().FromPayloads(input, &started); err != nil {
			w.T.Fatal(err)
		}
		one.State = started.State
		if found := stored(w, one.ID); len(found) == 1 {
			one.Body = found[0].Body
		}
		if _, err := resource.ParseID(one.ID); err != nil || one.Body == nil {
			w.T.Fatalf("%s is not recorded: %v", one.ID, err)
		}
		kinds = append(kinds, one)
	}
	text, err := json.MarshalIndent(kinds, "", " ")
	if err != nil {
		w.T.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(output, "upgrade.json"), append(text, '\n'), 0o644); err != nil {
		w.T.Fatal(err)
	}
}
