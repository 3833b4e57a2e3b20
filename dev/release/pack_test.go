package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"helm.sh/helm/v3/pkg/chart/loader"
)

// TestPackChart checks that the chart's archive has the same bytes each time, and is what Helm
// loads: with the version of the release, and without the files of tests.
func TestPackChart(t *testing.T) {
	modified := time.Unix(1_700_000_000, 0)
	first, err := packChart("../..", "v1.2.3", modified)
	if err != nil {
		t.Fatal(err)
	}
	if second, err := packChart("../..", "v1.2.3", modified); err != nil || !bytes.Equal(first, second) {
		t.Errorf("a second archive differs (%v)", err)
	}
	chart, err := loader.LoadArchive(bytes.NewReader(first))
	if err != nil {
		t.Fatal(err)
	}
	if chart.Metadata.Version != "1.2.3" || chart.Metadata.AppVersion != "v1.2.3" || len(chart.Templates) < 5 {
		t.Errorf("the chart has version %s, appVersion %s and %d templates", chart.Metadata.Version, chart.Metadata.AppVersion, len(chart.Templates))
	}
	for _, file := range chart.Raw {
		if strings.HasPrefix(file.Name, "ci/") {
			t.Errorf("the archive has %s", file.Name)
		}
	}
}

// TestChartVersion checks that commits without a tag have a version that Helm accepts.
func TestChartVersion(t *testing.T) {
	for version, want := range map[string]string{
		"v1.2.3": "1.2.3", "v1.2.3-rc.1": "1.2.3-rc.1", "0012345-dirty": "0.0.0+0012345-dirty", "unknown": "0.0.0+unknown",
	} {
		if got := chartVersion(version); got != want {
			t.Errorf("%s: the chart has version %s, want %s", version, got, want)
		}
	}
}

// changelog has a dated and an undated section.
const changelog = `# Changelog

## [0.2.0] - not released yet

Next.

## [0.1.0] - 2026-12-01

First.
`

// TestReady checks the conditions of a release in a repository of its own.
func TestReady(t *testing.T) {
	root := t.TempDir()
	run := func(arguments ...string) {
		t.Helper()
		command := exec.CommandContext(t.Context(), "git", append([]string{"-C", root, "-c", "user.name=ada", "-c", "user.email=ada@example.com"}, arguments...)...)
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", arguments, err, out)
		}
	}
	path := filepath.Join(root, "CHANGELOG.md")
	if err := os.WriteFile(path, []byte(changelog), 0o600); err != nil {
		t.Fatal(err)
	}
	run("init", "--quiet")
	run("add", ".")
	run("commit", "--quiet", "-m", "one")
	run("tag", "v0.0.9")
	run("commit", "--quiet", "--allow-empty", "-m", "two")
	run("tag", "v0.1.0")
	for version, want := range map[string]string{
		"v0.1.0":      "", // its tag names this commit
		"v0.1.0-rc.1": "",
		"v0.2.0-rc.1": "",
		"v0.2.0":      "has no date",
		"v0.3.0":      "no section [0.3.0]",
		"v0.0.9":      "names commit",
		"v0.1":        "no version of a release",
		"0.1.0":       "no version of a release",
	} {
		checkRefusal(t, root, version, want)
	}
	if notes, err := releaseNotes(root, "v0.1.0"); err != nil || notes.text != "First.\n" {
		t.Errorf("the notes are %q, %v", notes.text, err)
	}
	if err := os.WriteFile(path, []byte(changelog+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	checkRefusal(t, root, "v0.1.0", "changes that no commit contains")
}

// checkRefusal checks the error of checkReady; "" wants none.
func checkRefusal(t *testing.T, root, version, want string) {
	t.Helper()
	err := checkReady(t.Context(), options{root: root, version: version})
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Errorf("%s: %v, want %q", version, err, want)
	}
}
