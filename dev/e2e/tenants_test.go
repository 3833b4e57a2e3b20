package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/workflows"
)

// TestTwoTenants applies and plans manifests of two tenants by one worker. Neither reaches
// the resources or the secrets of the other one, whatever the manifest names.
//
//guard:tenants-are-separate
func TestTwoTenants(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{TLS: true})
	server, caFile := otherCloud(w)
	config := w.Write("worker-tenants.yaml", fmt.Sprintf(`
secrets: {env-prefix: ARMATURE_SECRET_}
credentials:
  other:
    kind: client-secret
    tenant-id: %s
    client-id: %s
    client-secret: env:CLIENT_SECRET_OF_OTHER
    subscriptions: [%s]
    tied: strict
    secrets: {env-prefix: OTHER_SECRET_}
    cloud: custom
    endpoint: %s
    authority-host: %s
    ca-file: %s
`, otherTenant, otherClient, strings.TrimPrefix(otherSubscription, "/subscriptions/"), server.URL(), server.URL(), caFile))
	const ownValue, otherValue, label = "Zq7-own-value", "Zq7-other-value", "private-label-of-own"
	w.StartWorker(harness.WorkerOptions{Args: []string{"--config", config}, Env: []string{
		"CLIENT_SECRET_OF_OTHER=" + otherSecret, "ARMATURE_SECRET_DB=" + ownValue, "OTHER_SECRET_DB=" + otherValue,
	}})
	const inOwn, inOther = subscription + "/resourceGroups/tenants", otherSubscription + "/resourceGroups/tenants"
	w.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": inOwn, "body": map[string]any{"location": "westus2", "tags": map[string]any{"label": label}}}, nil)
	if err := server.Simulator().Put(inOther, map[string]any{"location": "westus2"}); err != nil {
		t.Fatal(err)
	}
	thingOf := func(name, group, credential, property string) (id, file string) {
		text := fmt.Sprintf("type: Microsoft.Example/things@2024-01-01\nname: %s\nowner: %s\nbody: {location: westus2, properties: {%s}}\n", name, group, property)
		if credential != "" {
			text += "reconcile: {credential: " + credential + "}\n"
		}
		return group + "/providers/Microsoft.Example/things/" + name, w.Write(name+".yaml", text)
	}
	const reference = `note: {$ref: "` + inOwn + `@2021-04-01", path: tags.label}`
	for name, c := range map[string]struct{ reason, group, credential, property, message string }{
		"own-secret":    {"its own secret", inOwn, "", "adminPassword: {$secret: env:ARMATURE_SECRET_DB}", ""},
		"other-secret":  {"its own secret", inOther, "", "adminPassword: {$secret: env:OTHER_SECRET_DB}", ""},
		"own-borrows":   {"a secret of the other tenant", inOwn, "", "adminPassword: {$secret: env:OTHER_SECRET_DB}", "allows only variables that begin with ARMATURE_SECRET_"},
		"other-borrows": {"a secret of the worker", inOther, "", "adminPassword: {$secret: env:ARMATURE_SECRET_DB}", "change credentials.other.secrets.env-prefix"},
		"other-default": {"the credential of the worker", inOther, "default", "size: 1", "is tied to the credential other alone"},
		"own-other":     {"the credential of the other tenant", inOwn, "other", "size: 1", "is restricted to the subscriptions"},
		"own-refers":    {"a value of its own subscription", inOwn, "", reference, ""},
		"other-refers":  {"a value of the other subscription", inOther, "", reference, "is restricted to the subscriptions"},
	} {
		id, file := thingOf(name, c.group, c.credential, c.property)
		planned := w.CLI("plan", "-f", file)
		w.MustCLI("apply", "-f", file)
		if c.message == "" {
			w.UntilPhase(60*time.Second, id, workflows.PhaseReady)
			continue
		}
		status := w.UntilStatus(60*time.Second, id, "has message "+c.message, func(status workflows.Status) bool {
			return strings.Contains(status.Condition.Message, c.message)
		})
		shown := planned.Out + planned.Err + fmt.Sprintf("%+v", status)
		for _, value := range []string{ownValue, otherValue, label} {
			if strings.Contains(shown, value) {
				t.Errorf("%s: %s is shown:\n%s", c.reason, value, shown)
			}
		}
		if w.Sim.Count(http.MethodPut, id) != 0 {
			t.Errorf("%s was written", c.reason)
		}
	}
	// Each simulator refuses the tokens of the other tenant, and would count such requests.
	for _, request := range server.Simulator().Requests() {
		if request.Status == http.StatusUnauthorized || strings.Contains(request.Path, subscription) {
			t.Errorf("the other tenant received %+v", request)
		}
		if request.Method == http.MethodPut && !strings.HasSuffix(request.Path, "/other-secret") {
			t.Errorf("the other tenant received the write %+v", request)
		}
	}
	for _, request := range w.Sim.Requests("") {
		if strings.Contains(request.Path, otherSubscription) {
			t.Errorf("a request about the other tenant came with the worker's own credential: %+v", request)
		}
	}
}
