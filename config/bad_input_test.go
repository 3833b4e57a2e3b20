package config_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/config"
	"github.com/google/go-cmp/cmp"
)

// badConfig is a configuration that a worker must not start with.
type badConfig struct {
	reason string
	args   []string
	env    map[string]string
	// file is the config file as YAML, unless it has another name.
	file, name string
	// hides is a value that no error may contain.
	hides string
}

// remedyPattern matches the words of a remedy.
var remedyPattern = regexp.MustCompile(`(?i)\b(must|write|takes|mean|use|allowed|set|see|check|required)\b`)

// TestBadInputConfigs compares the errors for invalid configurations with a golden
// file (UPDATE_GOLDEN=1 writes it).
func TestBadInputConfigs(t *testing.T) {
	cases := badConfigs()
	var all strings.Builder
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		tc := cases[name]
		t.Run(name, func(t *testing.T) {
			fmt.Fprintf(&all, "== %s: %s\n%s\n\n", name, tc.reason, refusedConfig(t, tc))
		})
	}
	t.Logf("%d invalid inputs, each refused with its own message", len(cases))
	if len(cases) < 20 {
		t.Errorf("%d cases, want at least 20", len(cases))
	}
	path := filepath.Join("testdata", "bad-configs.txt")
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.MkdirAll("testdata", 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(all.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), all.String()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

func refusedConfig(t *testing.T, tc badConfig) string {
	t.Helper()
	clean(t)
	folder := ""
	if tc.file != "" {
		name := tc.name
		if name == "" {
			name = "worker.yaml"
		}
		path := write(t, name, tc.file)
		folder = filepath.Dir(path)
		t.Setenv(config.FileVariable, path)
	}
	for key, value := range tc.env {
		t.Setenv(key, value)
	}
	_, err := config.Load(tc.args)
	if err == nil {
		t.Fatalf("%s: it was accepted", tc.reason)
	}
	message := err.Error()
	if folder != "" {
		message = strings.ReplaceAll(message, folder, "DIR")
	}
	if !remedyPattern.MatchString(message) {
		t.Errorf("%s: the message names no remedy: %s", tc.reason, message)
	}
	if tc.hides != "" && strings.Contains(message, tc.hides) {
		t.Errorf("%s: the message repeats the value: %s", tc.reason, message)
	}
	if strings.ContainsFunc(message, func(r rune) bool { return r != '\n' && r < ' ' }) || len(message) > 3000 {
		t.Errorf("%s: no terminal should see %q", tc.reason, message)
	}
	return message
}

func badConfigs() map[string]badConfig {
	variable := func(reason, name, value string) badConfig {
		return badConfig{reason: reason, env: map[string]string{name: value}}
	}
	return map[string]badConfig{
		"key misspelled":          {reason: "it would be ignored silently", file: "taskqueue: x\nlog:\n  levle: info\n"},
		"key of nothing":          {reason: "no known key is close", file: "colour: red\n"},
		"credential misspelled":   {reason: "each key below a name is checked", file: "credentials:\n  prod:\n    kind: azure-cli\n    tenantid: x\n    colour: red\n"},
		"credential of nothing":   {reason: "it lists the keys of a credential", file: "credentials:\n  prod: managed-identity\n"},
		"issuer without audience": {reason: "a token for another program must not be accepted", args: []string{"--callers-issuers=https://token.actions.githubusercontent.com"}},
		"key twice":               {reason: "the second would win silently", file: "task-queue: a\ntask-queue: b\n"},
		"section as a value":      {reason: "azure: public sets nothing", file: "azure: public\n"},
		"value as a section":      {reason: "text is required", file: "task-queue: {name: a}\n"},
		"value as a list":         {reason: "text is required", file: "log: {level: [info]}\n"},
		"file broken":             {reason: "half a file is not a file", file: "log: [\n"},
		"file with a tab":         {reason: "tabs are not indentation", file: "log:\n\tlevel: info\n"},
		"file missing":            {reason: "a named file must exist", args: []string{"--config=/does/not/exist.yaml"}},
		"file a folder":           {reason: "a folder is not a file", args: []string{"--config=/"}},
		"file of another kind":    {reason: "the extension selects the format", file: "task-queue = a\n", name: "worker.conf"},
		"file binary":             {reason: "an archive is not a config", file: "\x1f\x8b\x08\x00\x00\x00\x02\xff\x01"},
		"file a manifest":         {reason: "the wrong file", file: "type: Microsoft.Kusto/clusters@2023-08-15\nname: adx\nbody: {location: x}\n"},
		"file JSON cut off":       {reason: "half a file is not a file", file: `{"task-queue": "a"`, name: "worker.json"},
		"flag unknown":            {reason: "a misspelled flag", args: []string{"--tsak-queue=x"}},
		"flag without value":      {reason: "the value is missing", args: []string{"--log-level"}},
		"argument":                {reason: "the worker takes flags only", args: []string{"apply"}},
		"variable misspelled":     variable("it would be ignored silently", "ARMATURE_AZ_CLOUD", "public"),
		"variable of nothing":     variable("no known variable is close", "ARMATURE_COLOUR", "red"),
		"task queue empty":        variable("no task queue would be served", "ARMATURE_TASK_QUEUE", ""),
		"level unknown":           variable("names the allowed ones", "ARMATURE_LOG_LEVEL", "loud"),
		"level in capitals":       variable("names the allowed ones", "ARMATURE_LOG_LEVEL", "INFO"),
		"format unknown":          variable("names the allowed ones", "ARMATURE_LOG_FORMAT", "xml"),
		"cloud unknown":           variable("names the allowed ones", "ARMATURE_AZURE_CLOUD", "mars"),
		"listen without port":     variable("host:port is required", "ARMATURE_HTTP_LISTEN", "here"),
		"listen at port 99999":    variable("no port has this number", "ARMATURE_HTTP_LISTEN", "127.0.0.1:99999"),
		"duration without unit":   {reason: "5 would be five nanoseconds", file: "stop-timeout: 5\n"},
		"duration in days":        variable("days are no unit", "ARMATURE_STOP_TIMEOUT", "1d"),
		"duration negative":       variable("time goes forward", "ARMATURE_REREAD_WINDOW", "-1s"),
		"duration zero":           variable("no activity could end", "ARMATURE_STOP_TIMEOUT", "0s"),
		"budget negative":         variable("a number below zero", "ARMATURE_PUT_BUDGET", "-1"),
		"cache of none":           variable("an idle resource must be kept somewhere", "ARMATURE_WORKFLOW_CACHE", "0"),
		"budget a word":           variable("a number is required", "ARMATURE_PUT_BUDGET", "many"),
		"boolean a word":          variable("true or false is required", "ARMATURE_AZURE_REGISTER_PROVIDERS", "perhaps"),
		"secret in the config":    {reason: "a config is not for secrets", file: "mask-key: hunter22-plain\n", hides: "hunter22-plain"},
		"secrets of all":          variable("every variable could be published", "ARMATURE_SECRETS_ENV_PREFIX", "A"),
		"secrets of the root":     variable("every file could be published", "ARMATURE_SECRETS_DIR", "/"),
		"endpoint with password":  {reason: "it would be logged", env: map[string]string{"ARMATURE_AZURE_CLOUD": "custom", "ARMATURE_AZURE_ENDPOINT": "https://me:hunter22-plain@arm.example"}, hides: "hunter22-plain"},
		"endpoint without TLS":    {reason: "a token would go in plain text", env: map[string]string{"ARMATURE_AZURE_CLOUD": "custom", "ARMATURE_AZURE_ENDPOINT": "http://arm.example"}},
		"endpoint missing":        variable("a custom cloud has no address", "ARMATURE_AZURE_CLOUD", "custom"),
		"all at once":             {reason: "all problems are reported in one run", args: []string{"--log-format=xml", "--stop-timeout=0s", "--http-listen=here"}, env: map[string]string{"ARMATURE_NOPE": "x"}, file: "colour: red\n"},
		"values and durations":    {reason: "a value that cannot be decoded hides no other problem", file: "azure: {cloud: publik}\nlog: {level: verbose}\nstop-timeout: 5\nput-budget: many\ncolour: red\n"},
	}
}
