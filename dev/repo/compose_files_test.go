package repo

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/armature-io/armature/config"
	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"go.yaml.in/yaml/v3"
)

// stages are the texts of the Dockerfile's stages by name.
func stages(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, part := range strings.Split("\n"+fileText(t, "Dockerfile"), "\nFROM ")[1:] {
		head, _, _ := strings.Cut(part, "\n")
		if _, name, ok := strings.Cut(head, " AS "); ok {
			found[name] = part
		}
	}
	return found
}

// Our images contain and start their program, by the name that it has in a release, and else
// nothing but certificates. They start from nothing, bring no shell, and have a user that is
// not root. The stage build has the flags of make dist; compose builds targets and arguments
// that exist.
func TestImages(t *testing.T) {
	user := regexp.MustCompile(`(?m)^USER [1-9]\d*:[1-9]\d*$`)
	copied := regexp.MustCompile(`(?m)^(?:COPY|ADD) .*$`)
	const certificates, platform = "COPY --from=debian /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/", "-${TARGETOS}-${TARGETARCH} "
	entry := map[string]string{"worker": "/worker", "cli": "/armature", "armsim": "/armsim"}
	contents := map[string][]string{
		"worker": {certificates, "COPY --from=build --chmod=755 /armature-worker" + platform + "/worker"},
		"cli":    {certificates, "COPY --from=build --chmod=755 /armature" + platform + "/armature"},
		"armsim": {"COPY --from=build --chmod=755 /armsim" + platform + "/armsim", "COPY --from=debian --chown=65532:65532 /srv /tls"},
	}
	all := stages(t)
	for name, stage := range all {
		if name == "build" || name == "debian" {
			continue
		}
		if !user.MatchString(stage) || !strings.HasPrefix(stage, "scratch ") {
			t.Errorf("target %s runs as root, or has a base with a shell", name)
		}
		if !strings.Contains(stage, `ENTRYPOINT ["`+entry[name]+`"]`) {
			t.Errorf("target %s does not start %q", name, entry[name])
		}
		if strings.Contains(stage, "\nRUN ") {
			t.Errorf("target %s runs a command, and has no shell", name)
		}
		if got := copied.FindAllString(stage, -1); !slices.Equal(got, contents[name]) {
			t.Errorf("target %s contains\n%q, want\n%q", name, got, contents[name])
		}
	}
	makefile := fileText(t, "Makefile")
	for _, flags := range []string{"-trimpath", "-X main.version=", "CGO_ENABLED=0", "-buildvcs=false"} {
		if !strings.Contains(all["build"], flags) || !strings.Contains(makefile, flags) {
			t.Errorf("image and release do not both have %s: their programs differ", flags)
		}
	}
	for image, program := range map[string]string{"worker": "./worker", "cli": "./starter/cmd", "armsim": "./armsim/cmd"} {
		if all[image] == "" || !strings.Contains(all["build"], program+" ") && !strings.Contains(all["build"], program+"\n") {
			t.Errorf("the image %s is missing, or %s is not built", image, program)
		}
	}
	for name, s := range compose(t).Services {
		if s.Build == nil {
			continue
		}
		if _, found := all[s.Build.Target]; !found {
			t.Errorf("%s: target %s is missing", name, s.Build.Target)
		}
		for argument := range s.Build.Args {
			if !strings.Contains(all["build"], "\nARG "+argument) {
				t.Errorf("%s: the Dockerfile has no argument %s", name, argument)
			}
		}
	}
	module := regexp.MustCompile(`(?m)^go (\S+)$`).FindStringSubmatch(fileText(t, "go.mod"))
	if image := regexp.MustCompile(`^(?:--platform=\S+ )?golang:(\d+\.\d+)`).FindStringSubmatch(all["debian"]); image == nil || !strings.HasPrefix(module[1], image[1]) {
		t.Errorf("the image is built with %v, the module wants Go %s", image, module[1])
	}
	if !strings.Contains(all["build"], "CGO_ENABLED=0") {
		t.Error("the programs are not static: an empty image has no loader")
	}
}

// The context of an image has every package that its program links.
func TestImageContext(t *testing.T) {
	ignored := strings.Fields(fileText(t, ".dockerignore"))
	list, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{.ImportPath}}", "./worker", "./starter/cmd", "./armsim/cmd").Output()
	if err != nil {
		t.Fatal(err)
	}
	own := 0
	for _, path := range strings.Fields(string(list)) {
		folder, found := strings.CutPrefix(path, module+"/")
		if !found {
			continue
		}
		own++
		if slices.ContainsFunc(ignored, func(name string) bool { return folder == name || strings.HasPrefix(folder, name+"/") }) {
			t.Errorf("the programs link %s, which .dockerignore leaves out", folder)
		}
	}
	if own < 10 {
		t.Errorf("the programs link only %d packages of this module", own)
	}
}

// Every file of this repository that a service mounts is there.
func TestComposeMountsExist(t *testing.T) {
	project := compose(t)
	for name, s := range project.Services {
		for _, volume := range s.Volumes {
			switch volume.Type {
			case types.VolumeTypeBind:
				if _, err := os.Stat(volume.Source); err != nil || !volume.ReadOnly {
					t.Errorf("%s: %s is not there, or not mounted read-only (%v)", name, volume.Source, err)
				}
			case types.VolumeTypeVolume:
				if _, found := project.Volumes[volume.Source]; !found {
					t.Errorf("%s: volume %s is not declared", name, volume.Source)
				}
			}
		}
	}
	for _, path := range []string{variable(t, service(t, "temporal"), "DYNAMIC_CONFIG_FILE_PATH"), variable(t, service(t, "grafana"), "GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH")} {
		found := false
		for _, s := range project.Services {
			for _, volume := range s.Volumes {
				if below, ok := strings.CutPrefix(path, volume.Target+"/"); ok && volume.Type == types.VolumeTypeBind {
					_, err := os.Stat(filepath.Join(volume.Source, below))
					found = found || err == nil
				}
			}
		}
		if !found {
			t.Errorf("nothing is mounted at %s", path)
		}
	}
}

// A browser on this machine reaches Web UI and codec server where each says the
// other is.
func TestComposeWebUIReadsPayloads(t *testing.T) {
	ui, codec := service(t, "web-ui"), service(t, "codec")
	published := func(s types.ServiceConfig) string { return s.Ports[0].HostIP + ":" + s.Ports[0].Published }
	if got, want := variable(t, ui, "TEMPORAL_CODEC_ENDPOINT"), "http://"+published(codec); got != want {
		t.Errorf("the Web UI asks %s, the codec server is published at %s", got, want)
	}
	origins := strings.Split(flag(t, codec, "origins"), ",")
	if want := "http://" + published(ui); !slices.Contains(origins, want) {
		t.Errorf("the codec server answers %v, the Web UI is published at %s", origins, want)
	}
	if got := variable(t, ui, "TEMPORAL_CORS_ORIGINS"); got != flag(t, codec, "origins") {
		t.Errorf("the Web UI takes %s, the codec server %s", got, flag(t, codec, "origins"))
	}
	_, port, _ := strings.Cut(flag(t, codec, "listen"), ":")
	if strconv.Itoa(int(codec.Ports[0].Target)) != port || codec.HealthCheck.Test[len(codec.HealthCheck.Test)-1] != "--listen="+flag(t, codec, "listen") {
		t.Errorf("the codec server listens at port %s; published %d, checked %v", port, codec.Ports[0].Target, codec.HealthCheck.Test)
	}
}

// Prometheus asks the services where they serve metrics; Grafana asks Prometheus.
func TestComposeMetricsAreScraped(t *testing.T) {
	var scrape struct {
		Rules []string `yaml:"rule_files"`
		Jobs  []struct {
			Name   string `yaml:"job_name"`
			Static []struct{ Targets []string }
			DNS    []struct {
				Names []string
				Port  int
			} `yaml:"dns_sd_configs"`
		} `yaml:"scrape_configs"`
	}
	readYAML(t, "deploy/prometheus/prometheus.yml", &scrape)
	targets := map[string]string{}
	for _, job := range scrape.Jobs {
		for _, dns := range job.DNS {
			targets[job.Name] = dns.Names[0] + ":" + strconv.Itoa(dns.Port)
		}
	}
	_, port, _ := strings.Cut(variable(t, service(t, "worker"), "ARMATURE_HTTP_LISTEN"), ":")
	if want := "worker:" + port; targets["worker"] != want {
		t.Errorf("the workers' metrics are at %s, scraped is %q", want, targets["worker"])
	}
	_, port, _ = strings.Cut(variable(t, service(t, "temporal"), "PROMETHEUS_ENDPOINT"), ":")
	if content := fileText(t, "deploy/prometheus/prometheus.yml"); !strings.Contains(content, `"temporal:`+port+`"`) {
		t.Errorf("Temporal's metrics at port %s are not scraped", port)
	}
	for _, rules := range scrape.Rules {
		if _, err := os.Stat(filepath.Join("deploy/prometheus", rules)); err != nil {
			t.Error(err)
		}
	}
	var sources struct{ Datasources []struct{ UID, URL string } }
	readYAML(t, "deploy/grafana/provisioning/datasources/prometheus.yml", &sources)
	parsed, err := url.Parse(sources.Datasources[0].URL)
	if err != nil || strconv.Itoa(int(service(t, parsed.Hostname()).Ports[0].Target)) != parsed.Port() {
		t.Errorf("Grafana asks %s (%v)", sources.Datasources[0].URL, err)
	}
	for _, dashboard := range []string{"deploy/grafana/dashboards/armature.json"} {
		if !strings.Contains(fileText(t, dashboard), `"value": "`+sources.Datasources[0].UID+`"`) {
			t.Errorf("%s does not begin with the data source %s", dashboard, sources.Datasources[0].UID)
		}
	}
}

// With the override for Azure nothing of the simulator is left.
func TestComposeAzure(t *testing.T) {
	variables := []string{"AZURE_TENANT_ID=00000000-0000-0000-0000-00000000a003", "AZURE_CLIENT_ID=00000000-0000-0000-0000-00000000a004", "CLIENT_SECRET_FILE=/c", "MASK_KEY_FILE=/m", "POSTGRES_PASSWORD=p", "TEMPORAL_TLS_DIR=/tls"}
	project := composeFiles(t, variables, "docker-compose.yml", "deploy/compose.azure.yml")
	content, err := project.MarshalYAML()
	if err != nil {
		t.Fatal(err)
	}
	if at := regexp.MustCompile(`(?i).*(armsim|simulator).*`).FindString(string(content)); at != "" {
		t.Errorf("the simulator is left in: %s", at)
	}
	worker, err := project.GetService("worker")
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range worker.Environment {
		t.Setenv(name, *value)
	}
	loaded, err := config.Load(nil)
	if err != nil {
		t.Fatalf("the worker would end with exit code 2: %v", err)
	}
	if loaded.Azure.Cloud != config.CloudPublic || loaded.Azure.Endpoint != "" || !worker.ReadOnly {
		t.Errorf("the worker talks to %s %s", loaded.Azure.Cloud, loaded.Azure.Endpoint)
	}
	base := service(t, "worker").Environment
	for name := range worker.Environment {
		if _, found := base[name]; !found && !strings.HasPrefix(name, "TEMPORAL_TLS_") {
			t.Errorf("%s is new in the override: both files should say the same of what is no matter of Azure", name)
		}
	}
}

// With the override for Azure no client without a certificate reaches Temporal, the Web
// UI writes nothing, and no password is published.
func TestComposeAzureIsClosed(t *testing.T) {
	variables := []string{"AZURE_TENANT_ID=t", "AZURE_CLIENT_ID=c", "CLIENT_SECRET_FILE=/c", "MASK_KEY_FILE=/m", "POSTGRES_PASSWORD=p-4711", "TEMPORAL_TLS_DIR=/tls"}
	files := []string{"docker-compose.yml", "deploy/compose.azure.yml"}
	project := composeFiles(t, variables, files...)
	for service, wanted := range map[string]map[string]string{
		"postgresql": {"POSTGRES_PASSWORD": "p-4711"},
		"temporal":   {"TEMPORAL_TLS_REQUIRE_CLIENT_AUTH": "true", "POSTGRES_PWD": "p-4711"},
		"web-ui":     {"TEMPORAL_DISABLE_WRITE_ACTIONS": "true", "TEMPORAL_TLS_ENABLE_HOST_VERIFICATION": "true"},
	} {
		for name, value := range wanted {
			if got := project.Services[service].Environment[name]; got == nil || *got != value {
				t.Errorf("%s has %s=%v, want %s", service, name, got, value)
			}
		}
	}
	for name, s := range project.Services {
		for variable, value := range s.Environment {
			if secret, found := strings.CutPrefix(*value, "/run/secrets/"); found && !slices.ContainsFunc(s.Secrets, func(c types.ServiceSecretConfig) bool { return c.Source == secret }) {
				t.Errorf("%s reads %s for %s, which is not mounted", name, *value, variable)
			}
		}
	}
	for i := range variables {
		name, _, _ := strings.Cut(variables[i], "=")
		options, err := cli.NewProjectOptions(files, cli.WithEnv(slices.Delete(slices.Clone(variables), i, i+1)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := options.LoadProject(t.Context()); err == nil {
			t.Errorf("docker compose starts without %s", name)
		}
	}
}

// The pages for a team start with settings that the CLI knows, only this machine reaches them,
// and nothing is left out in silence.
func TestComposeUI(t *testing.T) {
	variables := []string{"UI_BASE_URL=https://a", "UI_OIDC_ISSUER=https://i", "UI_OIDC_CLIENT_ID=c", "UI_READ=groups=g", "UI_OIDC_CLIENT_SECRET_FILE=/c"}
	files := []string{"docker-compose.yml", "deploy/compose.ui.yml"}
	ui, err := composeFiles(t, variables, files...).GetService("ui")
	if err != nil {
		t.Fatal(err)
	}
	if ui.Build.Target != "cli" || !ui.ReadOnly || len(ui.CapDrop) != 1 || ui.MemLimit == 0 || len(ui.Ports) != 1 || ui.Ports[0].HostIP != "127.0.0.1" {
		t.Errorf("the pages run as %+v", ui)
	}
	help := fileText(t, "docs/cli-reference.md")
	for name := range ui.Environment {
		if strings.HasPrefix(name, "ARMATURE_") && !strings.Contains(help, "(environment: "+name+")") {
			t.Errorf("the CLI knows no %s", name)
		}
	}
	if got := flag(t, ui, "oidc-client-secret"); got != "/run/secrets/"+ui.Secrets[0].Source {
		t.Errorf("the secret is read from %s", got)
	}
	for i := range variables {
		options, err := cli.NewProjectOptions(files, cli.WithEnv(slices.Delete(slices.Clone(variables), i, i+1)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := options.LoadProject(t.Context()); err == nil {
			t.Errorf("docker compose starts without %s", variables[i])
		}
	}
}

func readYAML(t *testing.T, path string, into any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(fileText(t, path)), into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}
