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
	r := start(t, settings(newEndpoint(t)), listenTemporal(t, fake, "127.0.0.1:0"))
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
	process, checks := workflows.SplitIdentity(fake.polls[0].GetIdentity())
	if process == "" || checks == "" || !has(r.log.String(), `"checks":"`+checks+`"`) {
		t.Errorf("polls as %q, want the fingerprint of the log:\n%s", fake.polls[0].GetIdentity(), r.log)
	}
	if diff := cmp.Diff(workflows.SearchAttributes(), fake.attributes); diff != "" {
		t.Errorf("search attributes (-want +registered):\n%s", diff)
	}
	if _, body := r.get(t, "/metrics"); !has(body, "go_goroutines", "temporal_", "process_") {
		t.Errorf("metrics of the SDK, Go or the process are missing:\n%s", body)
	}
	if err := r.stop(); err != nil {
		t.Errorf("a stop by signal returned an error: %v", err)
	}
	if !has(r.log.String(), `"msg":"worker stopped"`) {
		t.Errorf("the log lacks the last line:\n%s", r.log)
	}
}

func TestWorkerVersioning(t *testing.T) {
	t.Setenv("TEMPORAL_DEPLOYMENT_NAME", "armature")
	t.Setenv("TEMPORAL_WORKER_BUILD_ID", "build-7")
	fake := &fakeTemporal{mayRegister: true}
	start(t, settings(newEndpoint(t)), listenTemporal(t, fake, "127.0.0.1:0"))
	eventually(t, "the worker polls", func() bool { fake.mu.Lock(); defer fake.mu.Unlock(); return len(fake.polls) > 0 })
	fake.mu.Lock()
	defer fake.mu.Unlock()
	options := fake.polls[0].GetDeploymentOptions()
	if options.GetDeploymentName() != "armature" || options.GetBuildId() != "build-7" ||
		options.GetWorkerVersioningMode() != enumspb.WORKER_VERSIONING_MODE_VERSIONED {
		t.Errorf("polls with %v", options)
	}
}

// TestServersUnreachableAtStart checks that a worker starts before its servers, logs
// each unreachable server once, and becomes ready when both are reachable.
func TestServersUnreachableAtStart(t *testing.T) {
	temporal, arm := freeAddress(t), freeAddress(t)
	r := start(t, settings("http://"+arm), temporal)
	eventually(t, "both servers are reported as unreachable", func() bool {
		status, body := r.get(t, "/readyz")
		return status == http.StatusServiceUnavailable && has(body, `"arm":"ArmUnreachable"`, `"temporal":"TemporalUnreachable"`)
	})
	if status, _ := r.get(t, "/healthz"); status != http.StatusOK {
		t.Errorf("/healthz gave %d: a restart would fix nothing", status)
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
	eventually(t, "ARM is reachable", func() bool { _, body := r.get(t, "/readyz"); return has(body, `"arm":"ok"`) })
	listenTemporal(t, &fakeTemporal{mayRegister: true}, temporal)
	eventually(t, "the worker is ready", func() bool { status, _ := r.get(t, "/readyz"); return status == http.StatusOK })
	text := r.log.String()
	for _, message := range []string{"cannot reach server, retrying", "reached server"} {
		for _, server := range []string{"arm", "temporal"} {
			line := `"msg":"` + message + `","server":"` + server + `"`
			if got := strings.Count(text, line); got != 1 {
				t.Errorf("%d lines with %s, want 1:\n%s", got, line, text)
			}
		}
	}
	if got := strings.Count(text, `"level":"WARN"`); got != 2 {
		t.Errorf("%d warnings, want 2:\n%s", got, text)
	}
}

// TestTemporalOutage checks that a worker that is serving logs an outage of Temporal in
// one line.
func TestTemporalOutage(t *testing.T) {
	fake := &fakeTemporal{mayRegister: true}
	address, stop := serveTemporal(t, fake, "127.0.0.1:0")
	r := start(t, settings(newEndpoint(t)), address)
	eventually(t, "the worker is ready", func() bool { status, _ := r.get(t, "/readyz"); return status == http.StatusOK })
	stop()
	eventually(t, "Temporal is reported as unreachable", func() bool { _, body := r.get(t, "/readyz"); return has(body, `"temporal":"TemporalUnreachable"`) })
	listenTemporal(t, fake, address)
	eventually(t, "the worker is ready again", func() bool { status, _ := r.get(t, "/readyz"); return status == http.StatusOK })
	text := r.log.String()
	if got := strings.Count(text, `"level":"WARN"`) + strings.Count(text, `"level":"ERROR"`); got != 1 {
		t.Errorf("%d lines about one outage, want 1:\n%s", got, text)
	}
}

func TestSearchAttributeRegistrationDenied(t *testing.T) {
	c := settings(newEndpoint(t))
	temporal := listenTemporal(t, &fakeTemporal{}, "127.0.0.1:0")
	err := service.Run(context.Background(), c, service.Options{Temporal: &client.Options{HostPort: temporal}, Stderr: &log{}})
	if err == nil || !has(err.Error(), "ArmOwner", "may not register", "armature setup") {
		t.Errorf("got %v, want an error with the command to run", err)
	}
	if isConfigError(err) {
		t.Error("the error is a ConfigError, but the configuration is valid")
	}
}

// TestOldServerPreventsStart checks that a worker ends if its server is too old, with the
// next step.
func TestOldServerPreventsStart(t *testing.T) {
	c := settings(newEndpoint(t))
	temporal := listenTemporal(t, &fakeTemporal{version: "1.27.4", mayRegister: true}, "127.0.0.1:0")
	err := service.Run(context.Background(), c, service.Options{Temporal: &client.Options{HostPort: temporal}, Stderr: &log{}})
	if err == nil || !has(err.Error(), "version 1.27.4", "needs 1.28", "upgrade the Temporal server") {
		t.Errorf("got %v, want an error with the version and the next step", err)
	}
}

//guard:masks-without-a-key-show-nothing
func TestInvalidConfigPreventsStart(t *testing.T) {
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secure.Close)
	occupied := newEndpoint(t)
	cases := map[string]struct {
		reason  string
		change  func(c *config.Config)
		env     map[string]string
		entries []extensions.Entry
		want    []string
	}{
		"invalid values": {
			reason: "a Config built in Go is validated too, and all problems are reported together",
			change: func(c *config.Config) { c.TaskQueue, c.Log.Level = "", "loud" },
			want:   []string{"task-queue", "log.level"},
		},
		"missing CA file": {
			reason: "the other problems are reported with it",
			change: func(c *config.Config) {
				c.Azure.CAFile, c.MaskKey = "/does/not/exist.pem", "env:NOT_SET"
			},
			want: []string{"azure.ca-file", "/does/not/exist.pem", "mask-key", "NOT_SET"},
		},
		"CA file without a certificate": {
			reason: "a file without a PEM certificate cannot be a CA",
			change: func(c *config.Config) { c.Azure.CAFile = write(t, "ca.pem", "none") },
			want:   []string{"azure.ca-file", "no PEM certificate"},
		},
		"wrong CA": {
			reason: "retries do not fix it",
			change: func(c *config.Config) { c.Azure.Endpoint = secure.URL },
			want:   []string{"azure.ca-file", "no trusted authority"},
		},
		"short mask key": {
			reason: "its hashes could be guessed",
			change: func(c *config.Config) { c.MaskKey = config.Reference("file:" + write(t, "key", "short")) },
			want:   []string{"mask-key: must have at least 16 bytes"},
		},
		"a cloud without a mask key": {
			reason: "a worker of a cloud states that it needs none",
			change: func(c *config.Config) {
				c.Credentials = map[string]config.Credential{"china": {Kind: config.CredentialAzureCLI, CloudSettings: config.CloudSettings{Cloud: config.CloudChina}}}
			},
			want: []string{"mask-key: required outside of this machine", "openssl rand -hex 32", "or to none"},
		},
		"build without deployment": {
			reason: "the worker would silently poll unversioned",
			env:    map[string]string{"TEMPORAL_WORKER_BUILD_ID": "7"},
			want:   []string{"TEMPORAL_DEPLOYMENT_NAME"},
		},
		"extension without extension points": {
			reason:  "a method with a wrong signature would never be called",
			entries: []extensions.Entry{{Type: "Microsoft.X/y", Link: struct{}{}}},
			want:    []string{"implements no extension point"},
		},
		"port in use": {
			reason: "without health an operator could not monitor the worker",
			change: func(c *config.Config) { c.HTTP.Listen = strings.TrimPrefix(occupied, "http://") },
			want:   []string{"http.listen", "address already in use"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for key, value := range tc.env {
				t.Setenv(key, value)
			}
			c := settings(newEndpoint(t))
			if tc.change != nil {
				tc.change(&c)
			}
			err := service.Run(context.Background(), c, service.Options{
				Temporal: &client.Options{HostPort: freeAddress(t)}, Extensions: tc.entries, Stderr: &log{},
			})
			if !isConfigError(err) || !has(err.Error(), tc.want...) {
				t.Errorf("got %v, want a ConfigError with %q: %s", err, tc.want, tc.reason)
			}
		})
	}
}

// TestClientSecretRefused checks that a worker with the right CA reports the error of the
// token endpoint, without the secret that the endpoint quotes.
func TestClientSecretRefused(t *testing.T) {
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
	output := &log{}
	err := service.Run(context.Background(), c, service.Options{Temporal: &client.Options{HostPort: freeAddress(t)}, Stderr: output})
	if !isConfigError(err) || !has(err.Error(), "azure.credential", "AADSTS7000215") {
		t.Errorf("got %v, want a ConfigError with the response of the authority", err)
	}
	if text := err.Error() + output.String(); strings.Contains(text, secret) {
		t.Errorf("error or log contain the secret: %s", text)
	}
}

func TestMainExitCodes(t *testing.T) {
	cases := map[string]struct {
		reason         string
		args           []string
		want           int
		stdout, stderr string
	}{
		"help":         {reason: "help was requested", args: []string{"--help"}, want: service.ExitStopped, stdout: "ARMATURE_AZURE_CLOUD"},
		"unknown flag": {reason: "the configuration is invalid", args: []string{"--nope"}, want: service.ExitConfig, stderr: "unknown flag: --nope"},
		"invalid file": {reason: "the configuration is invalid", args: []string{"--config", write(t, "c.yaml", "nope: 1")}, want: service.ExitConfig, stderr: "unknown key nope"},
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

func isConfigError(err error) bool {
	_, ok := errors.AsType[*service.ConfigError](err)
	return ok
}

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
