package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/config"
	"github.com/google/go-cmp/cmp"
)

const tenant = "00000000-0000-0000-0000-000000000001"

// clean unsets the variables of the environment that the configuration reads.
func clean(t *testing.T) {
	t.Helper()
	for _, assignment := range os.Environ() {
		name, value, _ := strings.Cut(assignment, "=")
		if strings.HasPrefix(name, "ARMATURE_") || strings.HasPrefix(name, "AZURE_") || name == "KUBERNETES_SERVICE_HOST" {
			t.Setenv(name, value) // restores it after the test
			if err := os.Unsetenv(name); err != nil {
				t.Fatal(err)
			}
		}
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

func TestPrecedence(t *testing.T) {
	clean(t)
	path := write(t, "worker.yaml", "task-queue: from-file\nlog:\n  level: debug\n  format: text\nreread-window: 5s\n")
	t.Setenv(config.FileVariable, path)
	t.Setenv("ARMATURE_TASK_QUEUE", "from-variable")
	t.Setenv("ARMATURE_LOG_FORMAT", "json")
	t.Setenv("ARMATURE_STOP_TIMEOUT", "7s")
	t.Setenv("ARMATURE_HTTP_LISTEN", "")
	got, err := config.Load([]string{"--task-queue=from-flag"})
	if err != nil {
		t.Fatal(err)
	}
	want := config.Default()
	want.TaskQueue = "from-flag"
	want.Log = config.Log{Level: "debug", Format: "json"}
	want.HTTP.Listen = ""
	want.RereadWindow = 5 * time.Second
	want.StopTimeout = 7 * time.Second
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("flags over variables over file over defaults (-want +got):\n%s", diff)
	}
}

func TestDefaultIsValid(t *testing.T) {
	clean(t)
	if err := config.Default().Validate(); err != nil {
		t.Errorf("the defaults are invalid: %v", err)
	}
	if got := config.Default().StopTimeout; got != 30*time.Second {
		t.Errorf("activities in flight get %s at a stop, want 30s", got)
	}
}

func TestEveryKeyHasAVariableAndAFlag(t *testing.T) {
	clean(t)
	usage := config.Usage()
	for i, name := range config.Keys() {
		if variable := config.Variables()[i+1]; !strings.Contains(usage, variable) {
			t.Errorf("the usage does not name %s of %s", variable, name)
		}
	}
	if _, err := config.Load([]string{"--help"}); !errors.Is(err, config.ErrHelp) {
		t.Errorf("--help gave %v", err)
	}
}

func TestLoadRefuses(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   []string
		env    map[string]string
		file   string
		want   []string
	}{
		"an unknown key": {
			reason: "a misspelled key must not be ignored silently",
			file:   "taskqueue: x\nazure:\n  clowd: public\n",
			want:   []string{"unknown key taskqueue", "unknown key azure.clowd"},
		},
		"an unknown variable": {
			reason: "nor must a misspelled variable",
			env:    map[string]string{"ARMATURE_AZ_CLOUD": "public"},
			want:   []string{"unknown variable ARMATURE_AZ_CLOUD (did you mean ARMATURE_AZURE_CLOUD?)"},
		},
		"an unknown flag": {
			reason: "other problems are reported in the same run",
			args:   []string{"--nope"},
			env:    map[string]string{"ARMATURE_LOG_LEVEL": "loud"},
			want:   []string{"unknown flag: --nope", `log.level: must be one of debug, info, warn, error, not "loud"`},
		},
		"an argument": {
			reason: "the worker takes flags only",
			args:   []string{"apply"},
			want:   []string{`unexpected argument "apply"`},
		},
		"a number as duration in the file": {
			reason: "5 would be five nanoseconds",
			file:   "stop-timeout: 5\n",
			want:   []string{"stop-timeout", `invalid duration "5"; use units h, m, s, for example 1h30m`},
		},
		"a number as duration in a variable": {
			reason: "variables are texts, but 5 has no unit either",
			env:    map[string]string{"ARMATURE_REREAD_WINDOW": "5"},
			want:   []string{"reread-window", `invalid duration "5"`},
		},
		"a section as a plain value": {
			reason: "azure: public sets nothing",
			file:   "azure: public\n",
			want:   []string{"unknown key azure"},
		},
		"a broken file": {
			reason: "no file is better than half a file",
			file:   "log: [\n",
			want:   []string{"read config file"},
		},
		"a missing file": {
			reason: "a named file must exist",
			args:   []string{"--config=/does/not/exist.yaml"},
			want:   []string{"read config file /does/not/exist.yaml"},
		},
		"several values": {
			reason: "all problems are reported at once",
			args:   []string{"--log-format=xml", "--stop-timeout=0s", "--http-listen=here"},
			want:   []string{"log.format", "stop-timeout", "http.listen"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			clean(t)
			if tc.file != "" {
				t.Setenv(config.FileVariable, write(t, "worker.yaml", tc.file))
			}
			for key, value := range tc.env {
				t.Setenv(key, value)
			}
			_, err := config.Load(tc.args)
			for _, want := range tc.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("no problem with %q in %v: %s", want, err, tc.reason)
				}
			}
		})
	}
}

// A value that cannot be decoded is reported once, hides no other problem, and is not
// shown: it may be a secret at the wrong key.
func TestUndecodableValueIsReportedOnce(t *testing.T) {
	clean(t)
	path := write(t, "worker.yaml", "stop-timeout: 5\nazure:\n  client-secret: 4711471147\n  cloud: publik\nlog:\n  level: verbose\ncredentials:\n  prod:\n    kind: [azure-cli]\n")
	_, err := config.Load([]string{"--config", path})
	for _, key := range []string{"stop-timeout", "azure.client-secret", "azure.cloud", "log.level", "credentials.prod.kind"} {
		if err == nil || strings.Count(err.Error(), key+": ") != 1 {
			t.Errorf("want one problem of %s, got %v", key, err)
		}
	}
	if err != nil && strings.Contains(err.Error(), "4711471147") {
		t.Errorf("the secret is shown: %v", err)
	}
}

func TestSecretVariablesAreKnown(t *testing.T) {
	clean(t)
	t.Setenv("ARMATURE_SECRET_SQL", "x")
	if _, err := config.Load(nil); err != nil {
		t.Errorf("variables of the secrets prefix are for manifests: %v", err)
	}
	t.Setenv("ARMATURE_SECRETS_ENV_PREFIX", "OTHER_")
	if _, err := config.Load(nil); err == nil || !strings.Contains(err.Error(), "ARMATURE_SECRET_SQL") {
		t.Errorf("with another prefix they are unknown, got %v", err)
	}
}
