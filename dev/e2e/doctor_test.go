package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
)

// diagnosis is a set-up, usually broken, and the finding that doctor reports.
type diagnosis struct {
	reason string
	// world is the set-up; credentials is added to the worker's file.
	world       harness.Options
	credentials func(w *harness.World) string
	noWorker    bool
	// spoil breaks a set-up that runs; env and args are the CLI's.
	spoil func(w *harness.World)
	env   []string
	args  []string
	code  int
	// check and state identify the finding; "" for standard error. text has parts of
	// its message and advice.
	check string
	state activities.FindingState
	text  []string
}

// named returns the config of one named credential for the world's simulator.
func named(w *harness.World, extra string) string {
	return fmt.Sprintf("credentials:\n  other:\n    kind: client-secret\n    cloud: custom\n    endpoint: %s\n    authority-host: %s\n%s", w.Sim.URL(), w.Sim.URL(), extra)
}

// identity returns the tenant, application and secret of a named credential.
func identity(tenant, secret, caFile string) string {
	text := fmt.Sprintf("    tenant-id: %s\n    client-id: %s\n    client-secret: env:%s\n", tenant, harness.ClientID, secret)
	if caFile != "" {
		text += "    ca-file: " + caFile + "\n"
	}
	return text
}

func TestDoctor(t *testing.T) {
	t.Parallel()
	const cluster = subscription + "/resourceGroups/later/providers/Microsoft.Kusto/clusters/adx"
	ca := func(w *harness.World) string { return filepath.Join(w.Folder, "armsim-ca.pem") }
	tls := harness.Options{TLS: true}
	cases := map[string]diagnosis{
		"healthy": {
			reason: "nothing is broken", check: "credential default", state: activities.FindingOK,
			world: harness.Options{TLS: true, Simulator: armsim.Options{Subscriptions: []string{strings.TrimPrefix(subscription, "/subscriptions/")}}},
			text:  []string{"client-secret " + harness.ClientID, "answers", "visible subscriptions: 1"},
		},
		"healthy with a resource": {
			reason: "doctor checks the rights on it", args: []string{cluster}, check: "rights", state: activities.FindingOK,
			text: []string{"read, write and delete of adx are granted"},
		},
		"no Temporal": {
			reason: "no server listens at the address", noWorker: true, env: []string{"TEMPORAL_ADDRESS=127.0.0.1:1"}, code: 3,
			text: []string{"reach Temporal at 127.0.0.1:1", "start it or set TEMPORAL_ADDRESS"},
		},
		"no namespace": {
			reason: "the server does not know it", noWorker: true, env: []string{"TEMPORAL_NAMESPACE=nowhere"}, code: 1,
			check: "namespace", state: activities.FindingError,
			text: []string{"has no namespace nowhere", "set TEMPORAL_NAMESPACE, or create it"},
		},
		"no search attributes": {
			reason: "a workflow that writes one fails", noWorker: true, world: harness.Options{NoSearchAttributes: true}, code: 1,
			check: "search attributes", state: activities.FindingError,
			text: []string{"missing in namespace", "ReconcilePhase", "run `armature setup`"},
		},
		"no worker": {
			reason: "no worker runs", noWorker: true, code: 1, check: "worker", state: activities.FindingError,
			text: []string{"no worker polls task queue", "start a worker", "it does not start with a wrong configuration"},
		},
		"wrong secret": {
			reason: "of a named credential; a wrong one of the worker would stop it", world: tls, code: 1,
			credentials: func(w *harness.World) string { return named(w, identity(harness.TenantID, "WRONG_SECRET", ca(w))) },
			check:       "credential other", state: activities.FindingError,
			text: []string{"AADSTS7000215", "give the worker the secret's value (not its ID)"},
		},
		"wrong tenant": {
			reason: "the authority knows no such tenant", world: tls, code: 1,
			credentials: func(w *harness.World) string {
				return named(w, identity("99999999-0000-0000-0000-000000000000", "OWN_SECRET", ca(w)))
			},
			check: "credential other", state: activities.FindingError, text: []string{"AADSTS", "check tenant-id"},
		},
		"untrusted certificate": {
			reason: "no trusted authority signed it", world: tls, code: 1,
			credentials: func(w *harness.World) string { return named(w, identity(harness.TenantID, "OWN_SECRET", "")) },
			check:       "credential other", state: activities.FindingError, text: []string{"certificate", "set ca-file in the worker's config to a PEM file with the authority of that certificate"},
		},
		"ARM out of reach": {
			reason: "the network is down", code: 1, spoil: func(w *harness.World) { w.Sim.Stop() },
			check: "credential default", state: activities.FindingError, text: []string{"let the worker reach http://127.0.0.1", "firewall"},
		},
		"no rights": {
			reason: "reading is allowed, writing is not", args: []string{cluster}, code: 1,
			spoil: func(w *harness.World) {
				w.Sim.Call(http.MethodPost, "/deny", armsim.Denial{Scope: "*", Method: "PUT"}, nil)
			},
			check: "rights", state: activities.FindingError, text: []string{"not granted at adx: Microsoft.Kusto/clusters/write", "docs/security.md"},
		},
		"refused subscription": {
			reason: "the credential may not read its own subscription", world: tls, code: 1,
			credentials: func(w *harness.World) string {
				return named(w, identity(harness.TenantID, "OWN_SECRET", ca(w))+"    subscriptions: [99999999-9999-9999-9999-999999999999]\n")
			},
			spoil: func(w *harness.World) {
				w.Sim.Call(http.MethodPost, "/deny", armsim.Denial{Scope: "/subscriptions/99999999*"}, nil)
			},
			check: "credential other", state: activities.FindingError, text: []string{"AuthorizationFailed", "give the credential a role there"},
		},
		"clock": {
			reason: "tokens would be refused", world: harness.Options{Simulator: armsim.Options{Clock: func() time.Time { return time.Now().Add(-10 * time.Minute) }}}, code: 1,
			check: "clock", state: activities.FindingError, text: []string{"ahead of that of", "10m", "NTP"},
		},
		"provider not registered": {
			reason: "the first PUT would be refused", args: []string{cluster},
			world: harness.Options{Simulator: armsim.Options{RequireRegistration: true}},
			check: "provider", state: activities.FindingWarn, text: []string{"Microsoft.Kusto is NotRegistered", "the first PUT registers it"},
		},
		"different checks": {
			reason: "a second worker has rules that the first one lacks", code: 1,
			spoil: func(w *harness.World) {
				rules := "rules:\n- name: r\n  type: Microsoft.Kusto/clusters\n  when: observed.properties.state == \"None\"\n  block: never\n"
				w.StartWorker(harness.WorkerOptions{Args: []string{"--rules-path", w.Write("more.rules.yaml", rules)}})
			},
			check: "checks", state: activities.FindingError, text: []string{"the workers without a version on task queue armature have different checks", "1 worker ("},
		},
		"a task queue of its own": {
			reason: "the deployment of another task queue is not judged", noWorker: true, env: []string{"ARMATURE_TASK_QUEUE=mine"},
			spoil: func(w *harness.World) {
				w.StartWorker(harness.WorkerOptions{Env: []string{"ARMATURE_WORKER_DEPLOYMENT=demo"}})
				w.StartWorker(harness.WorkerOptions{Args: []string{"--task-queue", "mine"}})
			},
			check: "versions", state: activities.FindingOK, text: []string{"the workers have no versions"},
		},
		"frozen": {
			reason: "an operator stopped all writes", spoil: func(w *harness.World) { w.MustCLI("freeze", "--reason", "drill") },
			check: "freeze", state: activities.FindingWarn, text: []string{"writes are frozen: everything by", "armature unfreeze"},
		},
	}
	tests := map[string]func(*testing.T){}
	for name, c := range cases {
		tests[name] = func(t *testing.T) { playDoctor(t, c) }
	}
	sideBySide(t, 4, tests)
}

func playDoctor(t *testing.T, c diagnosis) {
	w := harness.New(t, binaries, c.world)
	if !c.noWorker {
		var options harness.WorkerOptions
		if c.credentials != nil {
			options.Args = []string{"--config", w.Write("worker-doctor.yaml", c.credentials(w))}
			options.Env = []string{"WRONG_SECRET=not-the-secret", "OWN_SECRET=" + harness.ClientSecret}
		}
		w.StartWorker(options)
	}
	if c.spoil != nil {
		c.spoil(w)
	}
	result := w.CLIWith("", c.env, append([]string{"doctor", "-o", "json"}, c.args...)...)
	if result.Code != c.code {
		t.Fatalf("%s: want exit code %d of %s", c.reason, c.code, result)
	}
	if strings.Contains(result.Out+result.Err, harness.ClientSecret) {
		t.Error("the secret is in the output")
	}
	text := result.Err
	if c.check != "" {
		var findings []activities.Finding
		if err := json.Unmarshal([]byte(result.Out), &findings); err != nil {
			t.Fatalf("%v: %s", err, result)
		}
		at := slices.IndexFunc(findings, func(f activities.Finding) bool { return f.Check == c.check && f.State == c.state })
		if at < 0 {
			t.Fatalf("%s: no finding %s %s in %s", c.reason, c.state, c.check, result)
		}
		text = findings[at].Message + "\n" + findings[at].Advice
		for _, f := range findings {
			if c.code == 0 && f.State == activities.FindingError {
				t.Errorf("%s: %+v", c.reason, f)
			}
		}
	}
	for _, part := range c.text {
		if !strings.Contains(text, part) {
			t.Errorf("%s: %q is not in\n%s", c.reason, part, text)
		}
	}
}
