package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/armature-io/armature/dev/internal/harness"
)

// TestDemo runs `make demo </dev/null` with a faster Azure: it exits by itself with
// everything Ready, after every kind of verdict.
func TestDemo(t *testing.T) {
	folder, code, out := runDemo(t, "--time-scale", "60", "--timeout", "4m")
	if code != 0 {
		t.Fatalf("exit code %d, want 0\n%s", code, out)
	}
	for _, want := range []string{"Web UI     http://127.0.0.1:", "pages      http://127.0.0.1:", "Everything is Ready.", "adx/telemetry", "armature-demo-postgres"} {
		if !strings.Contains(out, want) {
			t.Errorf("the demo does not show %q:\n%s", want, out)
		}
	}
	_, table, _ := strings.Cut(out, "\nNAME ")
	ready, types := 0, map[string]bool{}
	for _, line := range strings.Split(table, "\n") {
		if columns := strings.Fields(line); len(columns) > 3 && strings.HasPrefix(columns[1], "Microsoft.") {
			types[columns[1]] = true
			if columns[2] == "Ready" {
				ready++
			}
		}
	}
	if ready < 40 || len(types) < 12 {
		t.Errorf("%d resources of %d types are Ready, want at least 40 of 12:\n%s", ready, len(types), out)
	}
	checkVerdicts(t, folder)
	for _, name := range []string{"temporal.db", "temporal.log", "worker.log"} {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			t.Errorf("the demo's folder lacks %s: %v", name, err)
		}
	}
}

// TestDemoTimeout checks that a demo which does not become Ready exits with 1 and
// describes each resource that is not.
func TestDemoTimeout(t *testing.T) {
	_, code, out := runDemo(t, "--time-scale", "0.01", "--timeout", "5s")
	if code != exitFailed {
		t.Errorf("exit code %d, want %d", code, exitFailed)
	}
	for _, want := range []string{"Not everything is Ready.", "WaitingForOwner", "/clusters/adx/databases/telemetry"} {
		if !strings.Contains(out, want) {
			t.Errorf("the demo does not show %q:\n%s", want, out)
		}
	}
}

func TestHelp(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"--help"}, &stdout, &stderr); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	if text := stderr.String(); !strings.Contains(text, "-timeout") || strings.Contains(text, "local: ") {
		t.Errorf("the help is:\n%s", text)
	}
}

func TestSummary(t *testing.T) {
	cases := map[string]struct {
		reason        string
		examplesReady bool
		notReady      int
		want          string
	}{
		"all Ready": {reason: "nothing else is managed", examplesReady: true, want: "Everything is Ready."},
		"another one": {
			reason:        "a resource of the user is blocked, which was described above",
			examplesReady: true, notReady: 1, want: "The examples are Ready. Resources beside them that are not Ready: 1 (see above).",
		},
		"example": {reason: "the wait timed out", notReady: 3, want: "Not everything is Ready. The worker's log is demo/worker.log."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			d := &demo{settings: settings{folder: "demo"}, out: &out}
			d.printSummary(tc.examplesReady, tc.notReady)
			if got := strings.TrimSpace(out.String()); got != tc.want {
				t.Errorf("%q, want %q: %s", got, tc.want, tc.reason)
			}
		})
	}
}

func TestPrepareFolder(t *testing.T) {
	cases := map[string]struct {
		reason  string
		files   []string
		keep    bool
		refused bool
		want    []string
	}{
		"new":               {reason: "the first demo creates its folder", want: []string{markerFile}},
		"own":               {reason: "each demo starts empty", files: []string{markerFile, "temporal.db"}, want: []string{markerFile}},
		"own, kept":         {reason: "KEEP=1 continues", files: []string{markerFile, "temporal.db"}, keep: true, want: []string{markerFile, "temporal.db"}},
		"other files":       {reason: "a mistyped --folder must not delete them", files: []string{"thesis.tex"}, refused: true, want: []string{"thesis.tex"}},
		"other files, kept": {reason: "KEEP=1 must not mix with them", files: []string{"thesis.tex"}, keep: true, refused: true, want: []string{"thesis.tex"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "demo")
			for _, file := range tc.files {
				if err := os.MkdirAll(folder, 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(folder, file), []byte("x"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := prepareFolder(folder, tc.keep); (err != nil) != tc.refused {
				t.Errorf("prepareFolder = %v, want refused %t: %s", err, tc.refused, tc.reason)
			}
			entries, err := os.ReadDir(folder)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, entry := range entries {
				got = append(got, entry.Name())
			}
			if strings.Join(got, " ") != strings.Join(tc.want, " ") {
				t.Errorf("files %v, want %v: %s", got, tc.want, tc.reason)
			}
		})
	}
}

// runDemo builds the CLI and runs the demo on free ports.
func runDemo(t *testing.T, args ...string) (folder string, code int, out string) {
	t.Helper()
	for _, name := range []string{"TEMPORAL_ADDRESS", "TEMPORAL_PROFILE", "TEMPORAL_NAMESPACE", "KEEP"} {
		t.Setenv(name, "")
	}
	t.Setenv("TEMPORAL_CONFIG_FILE", filepath.Join(t.TempDir(), "none.toml"))
	root, err := harness.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cli := filepath.Join(t.TempDir(), "armature")
	if err := harness.BuildProgram(t.Context(), root, "./starter/cmd", cli); err != nil {
		t.Fatal(err)
	}
	folder = filepath.Join(t.TempDir(), "demo")
	args = append([]string{
		"--folder", folder, "--cli", cli, "--examples", filepath.Join(root, "examples"),
		"--temporal-port", "0", "--ui-port", "0", "--codec-port", "0", "--armsim-port", "0", "--health-port", "0",
	}, args...)
	var output bytes.Buffer
	code = run(t.Context(), args, &output, &output)
	return folder, code, output.String()
}
