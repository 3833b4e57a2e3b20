package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/armature-io/armature/dev/internal/harness"
)

// TestDemo is `make demo </dev/null` with a faster Azure: it ends by itself,
// with everything Ready, after every kind of verdict.
func TestDemo(t *testing.T) {
	folder, code, out := runDemo(t, "--time-scale", "60", "--timeout", "4m")
	if code != 0 {
		t.Fatalf("exit code %d, want 0\n%s", code, out)
	}
	for _, want := range []string{"Web UI     http://127.0.0.1:", "Everything is Ready.", "adx/telemetry", "armature-demo-postgres"} {
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

// TestDemoOutOfTime: a demo that does not get Ready ends with 1 and says of each
// resource why.
func TestDemoOutOfTime(t *testing.T) {
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

func TestPrepareFolder(t *testing.T) {
	cases := map[string]struct {
		reason  string
		files   []string
		keep    bool
		refused bool
		left    []string
	}{
		"new":               {reason: "the first demo makes its folder", left: []string{marker}},
		"own":               {reason: "each demo starts empty", files: []string{marker, "temporal.db"}, left: []string{marker}},
		"own, kept":         {reason: "KEEP=1 goes on where it was", files: []string{marker, "temporal.db"}, keep: true, left: []string{marker, "temporal.db"}},
		"of somebody":       {reason: "a mistyped --folder costs nobody their files", files: []string{"thesis.tex"}, refused: true, left: []string{"thesis.tex"}},
		"of somebody, kept": {reason: "nor does it mix with them", files: []string{"thesis.tex"}, keep: true, refused: true, left: []string{"thesis.tex"}},
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
			var left []string
			for _, entry := range entries {
				left = append(left, entry.Name())
			}
			if strings.Join(left, " ") != strings.Join(tc.left, " ") {
				t.Errorf("left %v, want %v: %s", left, tc.left, tc.reason)
			}
		})
	}
}

// runDemo runs the demo on free ports with a CLI built for it.
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
	if err := harness.BuildProgram(t.Context(), root, "./starter", cli); err != nil {
		t.Fatal(err)
	}
	folder = filepath.Join(t.TempDir(), "demo")
	args = append([]string{
		"--folder", folder, "--cli", cli, "--examples", filepath.Join(root, "examples"),
		"--temporal-port", "0", "--ui-port", "0", "--codec-port", "0", "--armsim-port", "0", "--health-port", "0",
	}, args...)
	var said bytes.Buffer
	code = run(t.Context(), args, &said, &said)
	return folder, code, said.String()
}
