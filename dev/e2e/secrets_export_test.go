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
	before := madeValues(w)
	regenerate(w, "key1")
	made := slices.DeleteFunc(madeValues(w), func(value string) bool { return slices.Contains(before, value) })
	if len(made) != 1 {
		t.Fatalf("the simulator made %d keys, want one", len(made))
	}
	var output []string
	for _, c := range []struct {
		fault armsim.Fault
		want  string
	}{
		{armsim.Fault{Method: http.MethodPut, Path: "/vaults/kv/secrets/app-*", Status: http.StatusForbidden, Message: "planted-vault: " + made[0] + " may not follow " + old}, "planted-vault: (masked) may not follow (masked)"},
		{armsim.Fault{Method: http.MethodPost, Path: exportAccount, Status: http.StatusBadRequest, Code: "KeyInUse", Message: "planted-action: " + old + " is used"}, "planted-action: (masked) is used"},
	} {
		w.Sim.Call(http.MethodDelete, "/faults", nil, nil)
		w.Sim.Call(http.MethodPost, "/faults", c.fault, nil)
		w.MustCLI("reconcile", exportAccount)
		w.UntilStatus(60*time.Second, exportAccount, "has the message "+c.want, func(status workflows.Status) bool {
			return strings.Contains(status.Condition.Message, c.want)
		})
		for _, command := range []string{"describe", "history"} {
			output = append(output, w.MustCLI(command, exportAccount).Out)
		}
	}
	metrics := worker.OpenMetrics()
	worker.Stop()
	_, trail := auditTrail(t, w.Folder)
	places := map[string]string{
		inTemporal: strings.Join(w.Texts(), "\n"), inLog: worker.Log(), inOutput: strings.Join(output, "\n"),
		inTrail: trail, inSpans: string(spans.Raw()), inMetrics: metrics,
	}
	for place, planted := range map[string]string{
		inTemporal: "planted-vault", inLog: "planted-action", inOutput: "planted-vault", inTrail: "planted-vault",
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
