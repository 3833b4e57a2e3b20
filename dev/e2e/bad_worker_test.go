package e2e

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
)

// badWorker is a worker that must not start.
type badWorker struct {
	reason string
	args   []string
	// env overrides; file is the content of a config file.
	env  []string
	file string
	// want has essential parts of its log.
	want []string
}

// wrongSecret is a client secret that the authority does not accept.
const wrongSecret = "e2e-wrong-secret-0815"

// TestBadWorker checks that a wrong configuration, credential or CA ends the worker
// with exit code 2 and all problems in its log, before anything runs.
func TestBadWorker(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{TLS: true})
	otherCA := filepath.Join(t.TempDir(), "other.pem")
	other, err := armsim.New(armsim.Options{}).Listen(armsim.ListenOptions{TLS: true, CAFile: otherCA})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	noPEM := w.Write("no.pem", "no certificate\n")
	for name, tc := range map[string]badWorker{
		"unknown key in the file": {
			reason: "a misspelt key would have no effect",
			file:   "azure: {clowd: public}\ntaskqueue: q\n",
			want:   []string{"unknown key azure.clowd", "unknown key taskqueue"},
		},
		"unknown variable": {
			reason: "a misspelt variable would have no effect",
			env:    []string{"ARMATURE_AZ_CLOUD=public"},
			want:   []string{"unknown variable ARMATURE_AZ_CLOUD (did you mean ARMATURE_AZURE_CLOUD?)"},
		},
		"unknown flag": {
			reason: "a misspelt flag would have no effect",
			args:   []string{"--azure-clowd=public"},
			want:   []string{"unknown flag: --azure-clowd"},
		},
		"all at once": {
			reason: "problems of file, variables, flags and values are reported together",
			args:   []string{"--nope"},
			env:    []string{"ARMATURE_NOPE=1", "ARMATURE_LOG_LEVEL=loud", "ARMATURE_STOP_TIMEOUT=2h", "ARMATURE_HTTP_LISTEN=here"},
			file:   "nope: 1\n",
			want: []string{
				"unknown flag: --nope", "unknown variable ARMATURE_NOPE", "unknown key nope",
				"log.level: must be one of debug, info, warn, error", "stop-timeout: must be more than 0s and at most 1h", "http.listen: must be host:port",
			},
		},
		"bad values": {
			reason: "a duration without a unit would be nanoseconds",
			env:    []string{"ARMATURE_REREAD_WINDOW=5"},
			want:   []string{"reread-window", "invalid duration"},
		},
		"no such file": {
			reason: "a named file must be there",
			args:   []string{"--config", "/does/not/exist.yaml"},
			want:   []string{"read config file /does/not/exist.yaml"},
		},
		"credential without values": {
			reason: "every missing value is named",
			env:    []string{"AZURE_TENANT_ID=", "AZURE_CLIENT_ID=", "AZURE_CLIENT_SECRET="},
			want: []string{
				"azure.tenant-id: must be the tenant's GUID for client-secret (or set AZURE_TENANT_ID)", "azure.client-id: must be the application's ID for client-secret (or set AZURE_CLIENT_ID)",
				"azure.client-secret: must be env:NAME or file:PATH for client-secret (or set AZURE_CLIENT_SECRET)",
			},
		},
		"client secret in the config": {
			reason: "the secret itself is never part of a config, and not repeated",
			env:    []string{"ARMATURE_AZURE_CLIENT_SECRET=" + wrongSecret},
			want:   []string{"azure.client-secret: must be env:NAME or file:PATH, never the secret itself"},
		},
		"client secret that is not there": {
			reason: "the variable is named",
			env:    []string{"ARMATURE_AZURE_CLIENT_SECRET=env:NOT_SET"},
			want:   []string{"azure.client-secret: read env:NOT_SET: variable not set or empty"},
		},
		"wrong client secret": {
			reason: "a refusal of the authority is permanent",
			env:    []string{"AZURE_CLIENT_SECRET=" + wrongSecret},
			want:   []string{"azure.credential: ", "401 Unauthorized AuthenticationFailed", "AADSTS7000215"},
		},
		"wrong tenant": {
			reason: "a wrong tenant is permanent too",
			env:    []string{"AZURE_TENANT_ID=aaaaaaaa-0000-0000-0000-00000000000f"},
			want:   []string{"azure.credential: ", "AADSTS90002"},
		},
		"no credential beyond this machine": {
			reason: "none is for simulators alone",
			env:    []string{"ARMATURE_AZURE_CREDENTIAL=none", "ARMATURE_AZURE_ENDPOINT=https://arm.example.com"},
			want:   []string{"azure.credential: none is allowed for a custom cloud on this machine (loopback) only"},
		},
		"CA file that is not there": {
			reason: "the file is named",
			env:    []string{"ARMATURE_AZURE_CA_FILE=/does/not/exist.pem"},
			want:   []string{"azure.ca-file: ", "/does/not/exist.pem"},
		},
		"CA file that is no PEM, and no mask key": {
			reason: "problems of different parts are reported together",
			env:    []string{"ARMATURE_AZURE_CA_FILE=" + noPEM, "ARMATURE_MASK_KEY=env:NOT_SET", "TEMPORAL_WORKER_BUILD_ID=1"},
			want: []string{
				"azure.ca-file: ", noPEM, "mask-key: read env:NOT_SET",
				"a build ID without a deployment has no effect: set worker.deployment or TEMPORAL_DEPLOYMENT_NAME too",
			},
		},
		"CA that did not sign": {
			reason: "the server and its token authority are not trusted",
			env:    []string{"ARMATURE_AZURE_CA_FILE=" + otherCA},
			want: []string{
				"azure.ca-file: no trusted authority signed the certificate of " + w.Sim.URL(), "the certificate of the token authority",
				"x509: certificate signed by unknown authority",
			},
		},
		"secrets that cover the worker's own": {
			reason: "a manifest could publish the worker's credentials",
			env:    []string{"ARMATURE_SECRETS_ENV_PREFIX=AZURE_"},
			want:   []string{`secrets.env-prefix: "AZURE_" would let manifests read the worker's own AZURE_*`},
		},
	} {
		t.Run(name, func(t *testing.T) { refusesToWork(w.On(t), tc) })
	}
	if counters := w.Sim.Counters(); len(counters.ByID) > 0 {
		t.Errorf("workers that did not start made requests: %v", counters.ByID)
	}
}

func refusesToWork(w *harness.World, tc badWorker) {
	w.T.Helper()
	env := tc.env
	if tc.file != "" {
		env = append(env, "ARMATURE_CONFIG="+w.Write("bad.yaml", tc.file))
	}
	worker := w.StartWorker(harness.WorkerOptions{Args: tc.args, Env: env, NotReady: true})
	code, log := worker.WaitExit(20*time.Second), worker.Log()
	if code != 2 {
		w.T.Errorf("%s: exit code %d, want 2", tc.reason, code)
	}
	for _, want := range tc.want {
		if !strings.Contains(log, want) {
			w.T.Errorf("%s: the worker's log lacks %q", tc.reason, want)
		}
	}
	for _, never := range []string{"worker serves", wrongSecret, harness.ClientSecret} {
		if strings.Contains(log, never) {
			w.T.Errorf("%s: the worker's log has %q", tc.reason, never)
		}
	}
}
