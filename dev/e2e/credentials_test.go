package e2e

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// The second tenant, its application, and the subscription that is tied to it.
const (
	otherTenant       = "00000000-0000-0000-0000-00000000b001"
	otherClient       = "00000000-0000-0000-0000-00000000b002"
	otherSecret       = "the-planted-secret-of-the-other-tenant"
	otherSubscription = "/subscriptions/22222222-2222-3333-4444-555555555555"
)

// otherCloud starts the simulator of the other tenant, until the test ends, and returns the
// file with its certificate authority too.
func otherCloud(w *harness.World) (server *armsim.Server, caFile string) {
	w.T.Helper()
	caFile = filepath.Join(w.Folder, "other-ca.pem")
	server, err := armsim.New(armsim.Options{
		TimeScale: 60, RequireAuth: true, TenantID: otherTenant, ClientID: otherClient, ClientSecret: otherSecret,
	}).Listen(armsim.ListenOptions{TLS: true, CAFile: caFile})
	if err != nil {
		w.T.Fatal(err)
	}
	w.T.Cleanup(func() { _ = server.Close() })
	return server, caFile
}

// TestNamedCredentials checks that one worker serves two tenants of two clouds, each
// with its own credential, and that neither uses the rights of the other.
func TestNamedCredentials(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{TLS: true})
	server, caFile := otherCloud(w)
	config := w.Write("worker-credentials.yaml", fmt.Sprintf(`
credentials:
  other:
    kind: client-secret
    tenant-id: %s
    client-id: %s
    client-secret: env:OTHER_SECRET
    subscriptions: [%s]
    cloud: custom
    endpoint: %s
    authority-host: %s
    ca-file: %s
`, otherTenant, otherClient, strings.TrimPrefix(otherSubscription, "/subscriptions/"), server.URL(), server.URL(), caFile))
	w.StartWorker(harness.WorkerOptions{Args: []string{"--config", config}, Env: []string{"OTHER_SECRET=" + otherSecret}})
	elsewhere := func() []armsim.Request { return server.Simulator().Requests() }
	group := func(name, owner, credential string) (id, file string) {
		text := fmt.Sprintf("type: Microsoft.Resources/resourceGroups@2021-04-01\nname: %s\nowner: %s\nbody: {location: westus2}\n", name, owner)
		if credential != "" {
			text += "reconcile: {credential: " + credential + "}\n"
		}
		return owner + "/resourceGroups/" + name, w.Write(name+".yaml", text)
	}

	own, file := group("own", subscription, "")
	w.MustCLI("apply", "-f", file, "--wait", "--timeout", "60s")
	if len(elsewhere()) != 0 || w.Sim.Count(http.MethodPut, own) != 1 {
		t.Errorf("%d requests to the other tenant, %d PUTs in the own one", len(elsewhere()), w.Sim.Count(http.MethodPut, own))
	}

	tied, file := group("tied", otherSubscription, "")
	w.MustCLI("apply", "-f", file, "--wait", "--timeout", "60s")
	if len(elsewhere()) == 0 || w.Sim.Count(http.MethodGet, tied) != 0 {
		t.Error("what lies in a tied subscription did not go by its credential")
	}
	if described := w.MustCLI("get", tied, "-o", "json").Out; strings.Contains(described, otherSecret) {
		t.Error("the secret is in the output")
	}

	for name, c := range map[string]struct{ owner, credential, message string }{
		"borrowed": {subscription, "other", "is restricted to the subscriptions"},
		"unknown":  {subscription, "prod", `the worker has no credential "prod", only default, other`},
	} {
		id, file := group(name, c.owner, c.credential)
		w.MustCLI("apply", "-f", file)
		status := w.UntilStatus(30*time.Second, id, "is refused", func(status workflows.Status) bool {
			return status.Condition.Reason == resource.Reason("CredentialNotUsable")
		})
		if !strings.Contains(status.Condition.Message, c.message) || w.Sim.Count(http.MethodPut, id) != 0 {
			t.Errorf("%s: %s; want %q and no PUT", name, status.Condition.Message, c.message)
		}
		if page := w.MustCLI("describe", id).Out; !strings.Contains(page, "Credential") || !strings.Contains(page, c.credential) {
			t.Errorf("describe does not name the credential:\n%s", page)
		}
	}
	// A change of the manifest corrects it: another credential is a new generation.
	id, file := group("unknown", subscription, "default")
	w.MustCLI("apply", "-f", file, "--wait", "--timeout", "60s")
	if w.Sim.Count(http.MethodPut, id) != 1 {
		t.Errorf("%d PUTs after the manifest named another credential", w.Sim.Count(http.MethodPut, id))
	}
}
