package repo

import (
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/config"
	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

// No Docker engine may be at hand, so the compose file is parsed as Docker
// Compose parses it, and what can go wrong between its services is checked.

func compose(t *testing.T) *types.Project { return composeFiles(t, nil, "docker-compose.yml") }

// composeFiles is what docker compose -f FILE -f FILE reads; variables are
// what the caller's environment holds, as NAME=value.
func composeFiles(t *testing.T, variables []string, files ...string) *types.Project {
	t.Helper()
	options, err := cli.NewProjectOptions(files, cli.WithEnv(variables))
	if err != nil {
		t.Fatal(err)
	}
	project, err := options.LoadProject(t.Context())
	if err != nil {
		t.Fatalf("docker compose would refuse the file: %v", err)
	}
	return project
}

func service(t *testing.T, name string) types.ServiceConfig {
	t.Helper()
	found, err := compose(t).GetService(name)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// variable is a service's environment variable.
func variable(t *testing.T, s types.ServiceConfig, name string) string {
	t.Helper()
	value := s.Environment[name]
	if value == nil {
		t.Fatalf("%s has no %s", s.Name, name)
	}
	return *value
}

// flag is the value of a --name=value argument.
func flag(t *testing.T, s types.ServiceConfig, name string) string {
	t.Helper()
	for _, argument := range s.Command {
		if value, found := strings.CutPrefix(argument, "--"+name+"="); found {
			return value
		}
	}
	t.Fatalf("%s has no flag --%s", s.Name, name)
	return ""
}

func TestComposeServices(t *testing.T) {
	pinned := regexp.MustCompile(`:v?\d+(\.\d+)+(@sha256:[0-9a-f]{64})?$`)
	want := []string{
		"armsim", "codec", "grafana", "postgresql", "prometheus",
		"temporal", "temporal-namespace", "temporal-schema", "web-ui", "worker",
	}
	var names []string
	for name, s := range compose(t).Services {
		names = append(names, name)
		if s.Build == nil && !pinned.MatchString(s.Image) {
			t.Errorf("%s: image %q is not pinned to a version", name, s.Image)
		}
		for _, port := range s.Ports {
			if at, err := netip.ParseAddr(port.HostIP); err != nil || !at.IsLoopback() {
				t.Errorf("%s publishes port %s to %q, not to loopback", name, port.Published, port.HostIP)
			}
		}
		if s.NetworkMode == "host" || s.Privileged {
			t.Errorf("%s is not kept apart from its host", name)
		}
		for dependency, how := range s.DependsOn {
			other := service(t, dependency)
			if how.Condition == types.ServiceConditionHealthy && other.HealthCheck == nil {
				t.Errorf("%s waits for the health of %s, which has no check", name, dependency)
			}
		}
	}
	slices.Sort(names)
	if !slices.Equal(want, names) {
		t.Errorf("services %v, want %v", names, want)
	}
}

// What runs on has a health check and is started again; ours hold nothing but
// what they need.
func TestComposeServicesAreWatchedAndHeld(t *testing.T) {
	for name, s := range compose(t).Services {
		ends := strings.HasPrefix(s.Restart, types.RestartPolicyOnFailure)
		if !ends && (s.HealthCheck == nil || s.Restart != types.RestartPolicyUnlessStopped) {
			t.Errorf("%s runs on without a health check, or is not started again", name)
		}
		if !slices.Contains(s.CapDrop, "ALL") || !slices.Contains(s.SecurityOpt, "no-new-privileges:true") || s.MemLimit == 0 {
			t.Errorf("%s has capabilities, may gain some, or has no limit of memory", name)
		}
		if s.Build == nil {
			continue
		}
		if !s.ReadOnly || len(s.CapAdd) > 0 {
			t.Errorf("%s may write to its root, or has capabilities", name)
		}
		if len(s.Configs) > 0 {
			t.Errorf("%s has inline configs: Docker Compose copies them in, which a read-only root refuses", name)
		}
		for _, secret := range s.Secrets {
			if compose(t).Secrets[secret.Source].File == "" {
				t.Errorf("%s: secret %s is no file: Docker Compose copies it in, which a read-only root refuses", name, secret.Source)
			}
		}
	}
}

// The file holds no secret but the simulator's own.
func TestComposeHoldsNoSecrets(t *testing.T) {
	allowed := map[string]string{
		"POSTGRES_PASSWORD": "temporal", "POSTGRES_PWD": "temporal", "SQL_PASSWORD": "temporal",
		"ARMSIM_CLIENT_SECRET": "simulator-only", "ARMATURE_SECRET_POSTGRES_PASSWORD": "Simulator-0nly",
	}
	secret := regexp.MustCompile(`PASSWORD|PWD|SECRET|TOKEN|KEY`)
	for name, s := range compose(t).Services {
		for variable, value := range s.Environment {
			if secret.MatchString(variable) && !strings.HasPrefix(*value, "file:/run/secrets/") && *value != allowed[variable] {
				t.Errorf("%s: %s=%s is a literal secret", name, variable, *value)
			}
		}
	}
}

// The worker's variables are read as the worker reads them.
func TestComposeWorkerConfig(t *testing.T) {
	worker := service(t, "worker")
	for name, value := range worker.Environment {
		t.Setenv(name, *value)
	}
	loaded, err := config.Load(nil)
	if err != nil {
		t.Fatalf("the worker would end with exit code 2: %v", err)
	}
	if loaded.Azure.Credential != config.CredentialClientSecret || !strings.HasPrefix(loaded.Azure.Endpoint, "https://") {
		t.Errorf("the worker talks to %s with %s, want HTTPS and a client secret", loaded.Azure.Endpoint, loaded.Azure.Credential)
	}
	for _, reference := range []config.Reference{loaded.Azure.ClientSecret, loaded.MaskKey} {
		source, isFile := strings.CutPrefix(reference.String(), "file:/run/secrets/")
		if !isFile || !slices.ContainsFunc(worker.Secrets, func(s types.ServiceSecretConfig) bool { return s.Source == source }) {
			t.Errorf("nothing is mounted at %s", reference)
		}
	}
	if grace := worker.StopGracePeriod; grace == nil || time.Duration(*grace) <= loaded.StopTimeout {
		t.Errorf("the worker is killed after %v, before its activities may end (%s)", grace, loaded.StopTimeout)
	}
	if _, port, _ := strings.Cut(variable(t, worker, "TEMPORAL_ADDRESS"), ":"); port != "7233" {
		t.Errorf("the worker looks for Temporal at port %s", port)
	}
}

// Certificate, tenant, client and secret of worker and simulator fit together.
func TestComposeSimulatorAndWorkerAgree(t *testing.T) {
	project, worker, armsim := compose(t), service(t, "worker"), service(t, "armsim")
	endpoint := variable(t, worker, "ARMATURE_AZURE_ENDPOINT")
	_, port, _ := strings.Cut(flag(t, armsim, "listen"), ":")
	if want := "https://" + flag(t, armsim, "hosts") + ":" + port; endpoint != want || armsim.Name != flag(t, armsim, "hosts") {
		t.Errorf("endpoint %s, want %s with the service's name", endpoint, want)
	}
	pairs := map[string][2]string{
		"tenant":    {variable(t, worker, "ARMATURE_AZURE_TENANT_ID"), flag(t, armsim, "tenant")},
		"client":    {variable(t, worker, "ARMATURE_AZURE_CLIENT_ID"), flag(t, armsim, "client-id")},
		"authority": {variable(t, worker, "ARMATURE_AZURE_AUTHORITY_HOST"), endpoint},
		"CA":        {variable(t, worker, "ARMATURE_AZURE_CA_FILE"), flag(t, armsim, "cert-dir") + "/ca.pem"},
		"secret":    {fileText(t, project.Secrets["client-secret"].File), variable(t, armsim, "ARMSIM_CLIENT_SECRET")},
	}
	for name, pair := range pairs {
		if pair[0] != pair[1] {
			t.Errorf("%s: the worker has %q, the simulator %q", name, pair[0], pair[1])
		}
	}
	for _, argument := range []string{"--https", "--require-auth"} {
		if !slices.Contains(armsim.Command, argument) {
			t.Errorf("the simulator runs without %s", argument)
		}
	}
	if a, b := mounted(armsim, "/tls"), mounted(worker, "/tls"); a == nil || b == nil || a.Source != b.Source || !b.ReadOnly {
		t.Errorf("the CA's volume is %v in the simulator and %v in the worker (want read-only)", a, b)
	}
}

func fileText(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func mounted(s types.ServiceConfig, target string) *types.ServiceVolumeConfig {
	for i := range s.Volumes {
		if s.Volumes[i].Target == target {
			return &s.Volumes[i]
		}
	}
	return nil
}
