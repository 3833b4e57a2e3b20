package armature_test

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

func compose(t *testing.T) *types.Project {
	t.Helper()
	options, err := cli.NewProjectOptions([]string{"docker-compose.yml"})
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
	pinned := regexp.MustCompile(`:\d+(\.\d+)+`)
	want := []string{"armsim", "postgresql", "temporal", "temporal-namespace", "temporal-schema", "web-ui", "worker"}
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
	for _, name := range []string{"postgresql", "temporal", "armsim", "worker"} {
		if service(t, name).HealthCheck == nil {
			t.Errorf("%s has no health check", name)
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
		path, isFile := strings.CutPrefix(reference.String(), "file:")
		if !isFile || !slices.ContainsFunc(worker.Configs, func(c types.ServiceConfigObjConfig) bool { return c.Target == path }) {
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
		"secret":    {project.Configs["client-secret"].Content, variable(t, armsim, "ARMSIM_CLIENT_SECRET")},
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

func mounted(s types.ServiceConfig, target string) *types.ServiceVolumeConfig {
	for i := range s.Volumes {
		if s.Volumes[i].Target == target {
			return &s.Volumes[i]
		}
	}
	return nil
}

// Our images have the targets that compose builds and a user that is not root.
func TestImagesAreNotRoot(t *testing.T) {
	content, err := os.ReadFile("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	user := regexp.MustCompile(`(?m)^USER [1-9]\d*:[1-9]\d*$`)
	for name, s := range compose(t).Services {
		if s.Build == nil {
			continue
		}
		_, stage, found := strings.Cut(string(content), " AS "+s.Build.Target+"\n")
		stage, _, _ = strings.Cut(stage, "\nFROM ")
		if !found || !user.MatchString(stage) {
			t.Errorf("%s: target %s is missing or runs as root", name, s.Build.Target)
		}
		if !strings.Contains(stage, `ENTRYPOINT ["/`+s.Build.Target+`"]`) {
			t.Errorf("%s: target %s starts something else", name, s.Build.Target)
		}
	}
}
