package e2e

import (
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/collector"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/internal/leaks"
	"github.com/armature-io/armature/workflows"
)

// TestSecretsOfExports lets a key vault repeat the value that an export writes, and ARM the
// old value in the answer to the action that lists it. Neither is published, spans and audit
// trail included.
func TestSecretsOfExports(t *testing.T) {
	t.Parallel()
	w := exportWorld(t)
	spans := collector.Start(t)
	worker := w.StartWorker(harness.WorkerOptions{Env: append(spans.HTTP(), "ARMATURE_AUDIT_FILE="+filepath.Join(w.Folder, "audit-exports.jsonl"))})
	w.Env = append(w.Env, spans.GRPC()...)
	w.MustCLI("apply", "-f", w.Write("account.yaml", exportManifest), "--wait", "--timeout", "60s")
	old := w.Sim.VaultSecret(exportVault, "app-key1").Versions[0].Value
	var output []string
	refuse := func(fault armsim.Fault, want string) {
		t.Helper()
		round, _, _ := strings.Cut(want, ":")
		w.Sim.Call(http.MethodDelete, "/faults", nil, nil)
		w.Sim.Call(http.MethodPost, "/faults", fault, nil)
		// The audit trail has a refusal once for each generation.
		w.MustCLI("apply", "-f", w.Write("account.yaml", exportManifest+"labels: {round: "+round+"}\n"))
		w.UntilStatus(60*time.Second, exportAccount, "has the message "+want, func(status workflows.Status) bool {
			return strings.Contains(status.Condition.Message, want)
		})
		for _, command := range []string{"describe", "history"} {
			output = append(output, w.MustCLI(command, exportAccount).Out)
		}
	}
	vault := armsim.Fault{Method: http.MethodPut, Path: "/vaults/kv/secrets/app-*", Status: http.StatusForbidden, Message: "planted-rotation"}
	before := madeValues(w)
	regenerate(w, "key1")
	refuse(vault, vault.Message) // the action has returned the new key
	made := slices.DeleteFunc(madeValues(w), func(value string) bool { return slices.Contains(before, value) })
	if len(made) != 1 {
		t.Fatalf("the simulator made the keys %q, want one", made)
	}
	vault.Message = "planted-vault: " + made[0] + " may not follow " + old
	refuse(vault, "planted-vault: (masked) may not follow (masked)")
	refuse(armsim.Fault{
		Method: http.MethodPost, Path: exportAccount, Status: http.StatusBadRequest, Code: "KeyInUse", Message: "planted-action: " + old + " is used",
	}, "planted-action: (masked) is used")
	metrics := worker.OpenMetrics()
	worker.Stop()
	_, trail := auditTrail(t, w.Folder)
	places := map[string]string{
		inTemporal: strings.Join(w.Texts(), "\n"), inLog: worker.Log(), inOutput: strings.Join(output, "\n"),
		inTrail: trail, inSpans: string(spans.Raw()), inMetrics: metrics,
	}
	for place, planted := range map[string]string{
		inTemporal: "planted-vault", inLog: "ExportValues", inOutput: "planted-vault", inTrail: "planted-action: (masked)",
		inSpans: "PUT Microsoft.KeyVault/vaults/secrets", inMetrics: "microsoft.keyvault/vaults/secrets",
	} {
		if !strings.Contains(places[place], planted) {
			t.Errorf("the search does not find %q in %s", planted, place)
		}
	}
	secrets := map[string]string{harness.ClientSecret: "the client secret"}
	for _, value := range madeValues(w) {
		secrets[value] = "a key"
	}
	for _, leak := range leaks.Find(places, secrets) {
		t.Error(leak)
	}
	checkSpans(t, spans.Spans())
}

// madeValues returns the keys that the simulator made or was given.
func madeValues(w *harness.World) []string {
	w.T.Helper()
	var made struct{ Values []string }
	w.Sim.Call(http.MethodGet, "/secrets", nil, &made)
	return made.Values
}
