package repo

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.temporal.io/sdk/contrib/envconfig"
	"go.yaml.in/yaml/v3"

	"github.com/armature-io/armature/resource"
)

// composeCommands are the docker compose commands of the pages, by page.
func composeCommands(t *testing.T) map[string][]string {
	t.Helper()
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	line := regexp.MustCompile("(?:^|`)docker compose ([^`#>\n]+)")
	for _, page := range append(pages, "README.md", "docker-compose.yml", "deploy/compose.azure.yml", "deploy/compose.ui.yml") {
		for text := range strings.Lines(fileText(t, page)) {
			text = strings.TrimLeft(text, "# ")
			if match := line.FindStringSubmatch(text); match != nil {
				found[page] = append(found[page], strings.TrimSpace(match[1]))
			}
		}
	}
	return found
}

// Every docker compose command that a page shows names files and services that
// exist, and nothing else that a typing error could hide in.
func TestComposeCommandsOfThePages(t *testing.T) {
	flags := []string{"--build", "--wait", "--follow", "-T", "-d", "--no-deps"}
	commands := []string{"up", "down", "stop", "logs", "exec", "cp", "build", "run"}
	services := compose(t).Services
	count := 0
	for page, all := range composeCommands(t) {
		for _, command := range all {
			count++
			words := strings.Fields(command)
			for len(words) > 1 && words[0] == "-f" {
				fileText(t, words[1])
				words = words[2:]
			}
			if !slices.Contains(commands, words[0]) {
				t.Errorf("%s: docker compose %s: %q is no command that this test knows", page, command, words[0])
			}
			for i := 1; i < len(words); i++ {
				name, _, _ := strings.Cut(words[i], ":")
				switch {
				case words[i] == "--scale" && i+1 < len(words):
					i++
					name, _, _ = strings.Cut(words[i], "=")
				case words[i] == "--name" && i+1 < len(words):
					i++ // any name
					continue
				case slices.Contains(flags, words[i]) || words[i] == ".":
					continue
				}
				if _, found := services[name]; !found {
					t.Errorf("%s: docker compose %s: %q is neither a service nor a flag that this test knows", page, command, name)
				}
				if words[0] == "exec" {
					break // what follows runs inside
				}
			}
		}
	}
	if count < 8 {
		t.Errorf("only %d commands were found", count)
	}
}

// Every profile of the example is one that CLI and worker take.
func TestTemporalProfiles(t *testing.T) {
	cases := map[string]struct {
		reason, address, key string
		tls                  bool
	}{
		"default": {reason: "a server of one's own", address: "127.0.0.1:7233"},
		"mtls":    {reason: "client certificate", address: "temporal.example.com:7233", tls: true},
		"cloud":   {reason: "API key of the environment", address: "us-east-1.aws.api.temporal.io:7233", key: "key-4711", tls: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			profile, err := envconfig.LoadClientConfigProfile(envconfig.LoadClientConfigProfileOptions{
				ConfigFilePath: "deploy/temporal.toml", ConfigFileProfile: name, ConfigFileStrict: true,
				EnvLookup: lookup{"TEMPORAL_API_KEY=" + c.key},
			})
			if err != nil {
				t.Fatal(err)
			}
			if profile.Address != c.address || profile.Namespace == "" || profile.APIKey != c.key || (profile.TLS != nil) != c.tls {
				t.Errorf("%s: %+v", c.reason, profile)
			}
		})
	}
	profiles := regexp.MustCompile(`(?m)^\[profile\.(\w+)\]$`).FindAllStringSubmatch(fileText(t, "deploy/temporal.toml"), -1)
	if len(profiles) != len(cases) {
		t.Errorf("%d profiles in the file, %d in this test", len(profiles), len(cases))
	}
}

// lookup is an environment.
type lookup []string

func (l lookup) Environ() []string { return l }

func (l lookup) LookupEnv(name string) (string, bool) {
	for _, variable := range l {
		if value, found := strings.CutPrefix(variable, name+"="); found && value != "" {
			return value, true
		}
	}
	return "", false
}

// Every alert says how bad it is and what to do, in the rules and in its section of the page,
// and has links to both pages.
func TestAlertsSayWhatToDo(t *testing.T) {
	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr         string
				Labels, Annotations map[string]string
			}
		}
	}
	readYAML(t, "deploy/prometheus/alerts.yml", &rules)
	const page, overview = "docs/troubleshooting.md", "http://127.0.0.1:8420/"
	sections, count := regexp.MustCompile(`(?m)^#### (Armature\w+)$`).FindAllString(fileText(t, page), -1), 0
	for _, group := range rules.Groups {
		for _, rule := range group.Rules {
			count++
			if !slices.Contains([]string{"critical", "warning", "info"}, rule.Labels["severity"]) {
				t.Errorf("%s has severity %q", rule.Alert, rule.Labels["severity"])
			}
			if rule.Annotations["summary"] == "" || rule.Annotations["description"] == "" || rule.Expr == "" {
				t.Errorf("%s does not say what to do", rule.Alert)
			}
			if open, closed := strings.Count(rule.Expr, "("), strings.Count(rule.Expr, ")"); open != closed {
				t.Errorf("%s: %d brackets open and %d close", rule.Alert, open, closed)
			}
			if !slices.Contains(sections, "#### "+rule.Alert) {
				t.Errorf("%s has no section in %s", rule.Alert, page)
			}
			if want := "https://github.com/armature-io/armature/blob/main/" + page + "#" + strings.ToLower(rule.Alert); rule.Annotations["runbook_url"] != want {
				t.Errorf("%s has the runbook_url %s, want %s", rule.Alert, rule.Annotations["runbook_url"], want)
			}
			link, below := strings.CutPrefix(rule.Annotations["page_url"], overview)
			if reason, filtered := strings.CutPrefix(link, "?reason="); !below || link != "" && !filtered {
				t.Errorf("%s has the page_url %s, want %s, or that of a reason", rule.Alert, rule.Annotations["page_url"], overview)
			} else if filtered && reason != "{{ $labels.reason }}" && !slices.ContainsFunc(resource.Reasons(), func(info resource.ReasonInfo) bool { return string(info.Reason) == reason }) {
				t.Errorf("%s links to the reason %s, which does not exist", rule.Alert, reason)
			}
		}
	}
	if len(sections) != count || count == 0 {
		t.Errorf("%d alerts on %s, %d in the rules", len(sections), page, count)
	}
}

// The rules fire when they should: on a counter's first value too, and not for
// ever.
func TestAlertsFire(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not here (Debian's package prometheus brings it)")
	}
	for _, args := range [][]string{
		{"check", "config", "deploy/prometheus/prometheus.yml"},
		{"test", "rules", "deploy/prometheus/alerts_test.yml"},
	} {
		if said, err := exec.CommandContext(t.Context(), promtool, args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v\n%s", args, err, said)
		}
	}
}

// The example of Alertmanager's configuration uses annotations and receivers that exist, and
// amtool accepts it.
func TestAlertmanagerExample(t *testing.T) {
	example := fileText(t, "deploy/prometheus/alertmanager.example.yml")
	path := filepath.Join(t.TempDir(), "alertmanager.yml")
	if err := os.WriteFile(path, []byte(example), 0o600); err != nil {
		t.Fatal(err)
	}
	type route struct {
		Receiver string
		Routes   []route
	}
	var config struct {
		Route     route
		Receivers []map[string]any
	}
	if err := yaml.Unmarshal([]byte(example), &config); err != nil || len(config.Receivers) != 2 {
		t.Fatalf("the example has %d receivers: %v\n%s", len(config.Receivers), err, example)
	}
	for _, r := range append(config.Route.Routes, config.Route) {
		if !slices.ContainsFunc(config.Receivers, func(receiver map[string]any) bool { return receiver["name"] == r.Receiver }) {
			t.Errorf("there is no receiver %q", r.Receiver)
		}
	}
	for _, match := range regexp.MustCompile(`Annotations\.(\w+)`).FindAllStringSubmatch(example, -1) {
		if !strings.Contains(fileText(t, "deploy/prometheus/alerts.yml"), " "+match[1]+": ") {
			t.Errorf("no alert has the annotation %s", match[1])
		}
	}
	amtool, err := exec.LookPath("amtool")
	if err != nil {
		t.Skip("amtool is not here (go install github.com/prometheus/alertmanager/cmd/amtool@v0.35.0 brings it)")
	}
	if said, err := exec.CommandContext(t.Context(), amtool, "check-config", path).CombinedOutput(); err != nil {
		t.Errorf("amtool: %v\n%s", err, said)
	}
}
