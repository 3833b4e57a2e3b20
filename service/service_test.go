package service_test

import (
	"context"
	"encoding/pem"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/armature-io/armature/config"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/service"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
)

func TestServes(t *testing.T) {
	fake := &fakeTemporal{mayRegister: true}
	r := start(t, settings(answering(t)), listenTemporal(t, fake, "127.0.0.1:0"))
	eventually(t, "the worker is ready", func() bool { status, _ := r.get(t, "/readyz"); return status == http.StatusOK })
	if status, _ := r.get(t, "/healthz"); status != http.StatusOK {
		t.Errorf("/healthz gave %d", status)
	}
	if got := service.Main(t.Context(), []string{"probe", "--http-listen", strings.TrimPrefix(r.url, "http://")}, service.Options{Stderr: r.log}); got != service.ExitStopped {
		t.Errorf("probe of a ready worker gave %d", got)
	}
	eventually(t, "the worker polls", func() bool { fake.mu.Lock(); defer fake.mu.Unlock(); return len(fake.polls) > 0 })
	fake.mu.Lock()
	defer fake.mu.Unlock()
	if q := fake.polls[0].GetTaskQueue(); q.GetName() != "armature" && q.GetNormalName() != "armature" {
		t.Errorf("polls %v", q)
	}
	if diff := cmp.Diff(workflows.SearchAttributes(), fake.attributes); diff != "" {
		t.Errorf("search attributes (-want +registered):\n%s", diff)
	}
	if _, body := r.get(t, "/metrics"); !has(body, "go_goroutines", "temporal_", "process_") {
		t.Errorf("metrics lack the SDK's, Go's or the process's:\n%s", body)
	}
	if err := r.stop(); err != nil {
		t.Errorf("a stop by signal is no error: %v", err)
	}
	if !has(r.log.String(), `"msg":"worker stopped"`) {
		t.Errorf("log without its end:\n%s", r.log)
	}
}

func TestVersioned(t *testing.T) {
	t.Setenv("TEMPORAL_DEPLOYMENT_NAME", "armature")
	t.Setenv("TEMPORAL_WORKER_BUILD_ID", "build-7")
	fake := &fakeTemporal{mayRegister: true}
	start(t, settings(answering(t)), listenTemporal(t, fake, "127.0.0.1:0"))
	eventually(t, "the worker polls", func() bool { fake.mu.Lock(); defer fake.mu.Unlock(); return len(fake.polls) > 0 })
	fake.mu.Lock()
	defer fake.mu.Unlock()
	options := fake.polls[0].GetDeploymentOptions()
	if options.GetDeploymentName() != "armature" || options.GetBuildId() != "build-7" ||
		options.GetWorkerVersioningMode() != enumspb.WORKER_VERSIONING_MODE_VERSIONED {
		t.Errorf("polls with %v", options)
	}
}

// A worker starts before its servers, says once what it misses and catches up.
func TestOutOfReach(t *testing.T) {
	temporal, arm := freeAddress(t), freeAddress(t)
	r := start(t, settings("http://"+arm), temporal)
	eventually(t, "both are missed", func() bool {
		status, body := r.get(t, "/readyz")
		return status == http.StatusServiceUnavailable && has(body, `"arm":"ArmUnreachable"`, `"temporal":"TemporalUnreachable"`)
	})
	if status, _ := r.get(t, "/healthz"); status != http.StatusOK {
		t.Errorf("/healthz gave %d: a restart would mend nothing", status)
	}
	if got := service.Main(t.Context(), []string{"probe", "--http-listen", strings.TrimPrefix(r.url, "http://")}, service.Options{Stderr: r.log}); got != service.ExitFailed {
		t.Errorf("probe of a worker that is not ready gave %d", got)
	}
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	listener, err := net.Listen("tcp", arm)
	if err != nil {
		t.Fatal(err)
	}
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	eventually(t, "ARM is there", func() bool { _, body := r.get(t, "/readyz"); return has(body, `"arm":"ok"`) })
	listenTemporal(t, &fakeTemporal{mayRegister: true}, temporal)
	eventually(t, "the worker is ready", func() bool { status, _ := r.get(t, "/readyz"); return status == http.StatusOK })
	text := r.log.String()
	for _, line := range []string{"cannot reach arm", "cannot reach temporal", "reached arm", "reached temporal"} {
		if got := strings.Count(text, `"msg":"`+line); got != 1 {
			t.Errorf("%d lines %q, want 1:\n%s", got, line, text)
		}
	}
	if got := strings.Count(text, `"level":"WARN"`); got != 2 {
		t.Errorf("%d warnings, want 2:\n%s", got, text)
	}
}

// Temporal goes away under a worker that serves: one line, no stream.
func TestTemporalGoesAndComes(t *testing.T) {
	fake := &fakeTemporal{mayRegister: true}
	address, stop := serveTemporal(t, fake, "127.0.0.1:0")
	r := start(t, settings(answering(t)), address)
	eventually(t, "the worker is ready", func() bool { status, _ := r.get(t, "/readyz"); return status == http.StatusOK })
	stop()
	eventually(t, "Temporal is missed", func() bool { _, body := r.get(t, "/readyz"); return has(body, `"temporal":"TemporalUnreachable"`) })
	listenTemporal(t, fake, address)
	eventually(t, "the worker is ready again", func() bool { status, _ := r.get(t, "/readyz"); return status == http.StatusOK })
	text := r.log.String()
	if got := strings.Count(text, `"level":"WARN"`) + strings.Count(text, `"level":"ERROR"`); got != 1 {
		t.Errorf("%d lines about one fault, want 1:\n%s", got, text)
	}
}

func TestSearchAttributesNotAllowed(t *testing.T) {
	c := settings(answering(t))
	temporal := listenTemporal(t, &fakeTemporal{}, "127.0.0.1:0")
	err := service.Run(context.Background(), c, service.Options{Temporal: &client.Options{HostPort: temporal}, Stderr: &log{}})
	if err == nil || !has(err.Error(), "ArmOwner", "may not register", "armature setup") {
		t.Errorf("want a sentence that says what to run, got %v", err)
	}
	if refused := (*service.ConfigError)(nil); errors.As(err, &refused) {
		t.Error("it is no fault of the configuration")
	}
}

func TestRefusesBeforeAnythingRuns(t *testing.T) {
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secure.Close)
	occupied := answering(t)
	cases := map[string]struct {
		reason  string
		change  func(c *config.Config)
		env     map[string]string
		entries []extensions.Entry
		want    []string
	}{
		"faulty values": {
			reason: "a Config that was made in Go is checked too, all faults at once",
			change: func(c *config.Config) { c.TaskQueue, c.Log.Level = "", "loud" },
			want:   []string{"task-queue", "log.level"},
		},
		"a CA file that is missing": {
			reason: "and every other fault is told beside it",
			change: func(c *config.Config) {
				c.Azure.CAFile, c.MaskKey = "/does/not/exist.pem", "env:NOT_SET"
			},
			want: []string{"azure.ca-file", "/does/not/exist.pem", "mask-key", "NOT_SET"},
		},
		"a CA file without a certificate": {
			reason: "a key is no certificate",
			change: func(c *config.Config) { c.Azure.CAFile = write(t, "ca.pem", "none") },
			want:   []string{"azure.ca-file", "no PEM certificate"},
		},
		"the wrong CA": {
			reason: "time does not mend it",
			change: func(c *config.Config) { c.Azure.Endpoint = secure.URL },
			want:   []string{"azure.ca-file", "no authority that is trusted"},
		},
		"a short mask key": {
			reason: "its hashes could be guessed",
			change: func(c *config.Config) { c.MaskKey = config.Reference("file:" + write(t, "key", "short")) },
			want:   []string{"mask-key: want at least 16 bytes"},
		},
		"half a version": {
			reason: "a build without a deployment would poll unversioned in silence",
			env:    map[string]string{"TEMPORAL_WORKER_BUILD_ID": "7"},
			want:   []string{"TEMPORAL_DEPLOYMENT_NAME"},
		},
		"an extension that implements nothing": {
			reason:  "a wrong signature would never be called",
			entries: []extensions.Entry{{Type: "Microsoft.X/y", Link: struct{}{}}},
			want:    []string{"implements no extension point"},
		},
		"an occupied port": {
			reason: "without health nobody would see the worker",
			change: func(c *config.Config) { c.HTTP.Listen = strings.TrimPrefix(occupied, "http://") },
			want:   []string{"http.listen", "address already in use"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for key, value := range tc.env {
				t.Setenv(key, value)
			}
			c := settings(answering(t))
			if tc.change != nil {
				tc.change(&c)
			}
			err := service.Run(context.Background(), c, service.Options{
				Temporal: &client.Options{HostPort: freeAddress(t)}, Extensions: tc.entries, Stderr: &log{},
			})
			if refused := (*service.ConfigError)(nil); !errors.As(err, &refused) || !has(err.Error(), tc.want...) {
				t.Errorf("got %v, want a ConfigError with %q: %s", err, tc.want, tc.reason)
			}
		})
	}
}

// A refused client secret, and a CA that is right, by a token endpoint.
func TestCredential(t *testing.T) {
	const secret = "hunter2-hunter2-hunter2"
	authority := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"error":"invalid_client","error_description":"AADSTS7000215: Invalid client secret ` + secret + `"}`))
	}))
	t.Cleanup(authority.Close)
	t.Setenv("OWN_SECRET", secret)
	c := settings(authority.URL)
	c.Azure.CAFile = write(t, "ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority.Certificate().Raw})))
	c.Azure.AuthorityHost = authority.URL
	c.Azure.Credential = config.CredentialClientSecret
	c.Azure.TenantID, c.Azure.ClientID, c.Azure.ClientSecret = "00000000-0000-0000-0000-000000000001", "app", "env:OWN_SECRET"
	written := &log{}
	err := service.Run(context.Background(), c, service.Options{Temporal: &client.Options{HostPort: freeAddress(t)}, Stderr: written})
	if refused := (*service.ConfigError)(nil); !errors.As(err, &refused) || !has(err.Error(), "azure.credential", "AADSTS7000215") {
		t.Errorf("got %v, want what the authority said", err)
	}
	if shown := err.Error() + written.String(); strings.Contains(shown, secret) {
		t.Errorf("the secret is shown: %s", shown)
	}
}

func TestMainExitCodes(t *testing.T) {
	cases := map[string]struct {
		reason         string
		args           []string
		want           int
		stdout, stderr string
	}{
		"help":          {reason: "help is what was asked for", args: []string{"--help"}, want: service.ExitStopped, stdout: "ARMATURE_AZURE_CLOUD"},
		"unknown flag":  {reason: "nothing ran", args: []string{"--nope"}, want: service.ExitConfig, stderr: "unknown flag: --nope"},
		"a faulty file": {reason: "nothing ran", args: []string{"--config", write(t, "c.yaml", "nope: 1")}, want: service.ExitConfig, stderr: "unknown key nope"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			stdout, stderr := &log{}, &log{}
			got := service.Main(context.Background(), tc.args, service.Options{Stdout: stdout, Stderr: stderr})
			if got != tc.want || !has(stdout.String(), tc.stdout) || !has(stderr.String(), tc.stderr) {
				t.Errorf("exit %d, want %d: %s\nstdout: %s\nstderr: %s", got, tc.want, tc.reason, stdout, stderr)
			}
		})
	}
}

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
