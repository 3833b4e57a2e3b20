package docs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/internal/testonly/sample"
)

// notRun has the blocks that no test runs, by page, with the reasons that the pages
// give.
var notRun = map[string][]string{
	"docs/deployment.md": {
		"no Docker engine may be there; a test reads the files as Docker Compose does, and make test-postgres runs their services",
		"make test-postgres runs these commands, and Temporal and the Web UI with their files",
		"it takes an application of Azure; a test reads the files as Docker Compose does",
		"it takes the services of docker compose up",
		"it takes an issuer; a test reads the files as Docker Compose does",
		"it takes an account",
		"it takes an issuer; TestTeam logs in with Chromium",
	},
	"deploy/helm/armature/README.md": {
		"it takes a cluster; TestSets renders these values, and TestChartDemo runs the containers of the demo",
		"it takes a subscription and a cluster",
		"it takes a cluster; TestUpgradeKeepsVersions renders upgrades",
		"it takes Docker and an image",
	},
	"docs/contributing/deployments.md": {"it takes the services of docker compose up"},
	"docs/encryption.md":               {"it takes a key vault"},
	"docs/first-check.md":              {"it takes a worker of yours; TestRulesTry in dev/e2e runs worker try"},
	"docs/rules.md":                    {"it takes an app in Azure; TestRulesTry in dev/e2e runs the command"},
	"docs/contributing/release.md": {
		"it takes cosign and a published release",
		"it takes cosign, Docker and a published release",
		"it takes Docker and a published release",
		"it takes the tag of a published release",
		"it builds everything twice, of a tree without changes",
	},
	"docs/contributing/simulator.md": {"it takes the frontend of a provider; TestAddress of dev/e2e runs against armsim without these variables"},
	"docs/metrics.md":                {"it takes an address of yours"},
	"docs/upgrade.md": {
		"it takes workers of two versions; TestRollout in dev/e2e runs these commands",
		"as above",
		"it takes a Docker engine",
		"TestRolloutStranded in dev/e2e runs these commands",
		"it takes the services of docker compose up",
	},
}

// elsewhere has the make targets that take too long here, and what runs them instead.
var elsewhere = map[string]string{
	"demo":          "dev/local runs it",
	"test":          "CI runs it",
	"bench":         "by hand: it measures for minutes",
	"test-postgres": "CI runs it",
}

// languages are the languages of blocks without commands, "" for output alone.
var languages = []string{"", "yaml", "go", "json", "text", "mermaid", "diff", "ini"}

// TestPages runs the commands of every page, with -short those of half the pages.
func TestPages(t *testing.T) {
	for name, page := range pages(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && !sample.Chosen(2, name) {
				t.Skip("the samples of other commits have it")
			}
			all, err := blocks(page)
			if err != nil {
				t.Fatal(err)
			}
			reader{t: t}.read(all)
		})
	}
}

// TestNotRun compares notRun with the pages.
func TestNotRun(t *testing.T) {
	got := map[string][]string{}
	for name, page := range pages(t) {
		all, err := blocks(page)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, b := range all {
			if b.notRun != "" {
				got[name] = append(got[name], b.notRun)
			}
		}
	}
	if diff := cmp.Diff(notRun, got); diff != "" {
		t.Errorf("the blocks that are not run are not those listed (-listed +found):\n%s", diff)
	}
}

// pages returns the pages of the repository by name, without the decisions, which
// describe the past.
func pages(t *testing.T) map[string]string {
	t.Helper()
	root, err := harness.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, pattern := range []string{"README.md", "CONTRIBUTING.md", "docs/*.md", "docs/contributing/*.md", "deploy/helm/*/README.md", "deploy/audit/README.md"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("no page matches %s: %v", pattern, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			name, err := filepath.Rel(root, file)
			if err != nil {
				t.Fatal(err)
			}
			found[name] = string(data)
		}
	}
	return found
}

// reader runs the commands of a page from top to bottom.
type reader struct {
	t       *testing.T
	session *session
}

func (r reader) read(all []block) {
	r.t.Helper()
	for _, b := range all {
		if b.session != "" || r.session == nil && b.runs() {
			r.end()
			world := b.session
			if world == "" {
				world = "demo"
			}
			s := newSession(r.t, world)
			r.session = &s
			r.writeFiles(all)
		}
		switch {
		case b.runs():
			r.runBlock(b)
		case b.notRun != "":
			r.checkBlock(b)
		case !slices.Contains(languages, b.language):
			r.t.Errorf("line %d: a block is %q; commands are sh or console, else one of %q", b.line, b.language, languages)
		case strings.HasPrefix(b.text, "$ "):
			r.t.Errorf("line %d: a block with commands is not marked as console", b.line)
		}
	}
	r.end()
}

// end checks that the background commands still run.
func (r reader) end() {
	r.t.Helper()
	if r.session != nil {
		r.session.stillRunning()
	}
}

// runs reports whether the commands of a block are run.
func (b block) runs() bool {
	return (b.language == "sh" || b.language == "console") && b.notRun == ""
}

// writeFiles puts the files that a page shows into the shell's folder.
func (r reader) writeFiles(all []block) {
	r.t.Helper()
	for _, b := range all {
		if b.file() == "" {
			continue
		}
		path := filepath.Join(r.session.folder, b.file())
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			r.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(b.text), 0o600); err != nil {
			r.t.Fatal(err)
		}
	}
}

func (r reader) runBlock(b block) {
	r.t.Helper()
	typed, err := b.commands()
	if err != nil {
		r.t.Fatal(err)
	}
	for _, c := range typed {
		if target, isMake := strings.CutPrefix(c.text, "make "); isMake && elsewhere[strings.Fields(target)[0]] != "" {
			c.text, c.background = "make -n "+target, false // it exists, at least
		}
		r.runCommand(r.session.here(c))
	}
}

// readsOnly matches commands that may be repeated until they show what the page
// shows, because the state that they read changes, such as the start of a worker.
var readsOnly = regexp.MustCompile(`^armature (get|describe|why|doctor)\b`)

// showsWithin bounds how long a page's output may take to come true.
const showsWithin = 60 * time.Second

func (r reader) runCommand(c command) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), showsWithin)
	defer cancel()
	ticker := time.NewTicker(300 * time.Millisecond)
	defer ticker.Stop()
	for {
		output, exit := r.session.run(c)
		fault := fmt.Sprintf("exit code %d, want %d", exit, c.exit)
		if exit == c.exit {
			lack := lacking(c.output, output)
			if lack == "" {
				return
			}
			fault = "does not write, or not in this order: " + lack
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
		if ctx.Err() != nil || !readsOnly.MatchString(c.text) {
			r.t.Fatalf("line %d: %s\n%s\nbut wrote:\n%s%s", c.line, c.text, fault, strings.Join(output, "\n"), r.session.backgroundOutput())
		}
	}
}

// checkBlock checks commands that are not run: bash can parse them, and the names and
// flags of armature exist.
func (r reader) checkBlock(b block) {
	r.t.Helper()
	typed, err := b.commands()
	if err != nil {
		r.t.Fatal(err)
	}
	for _, c := range typed {
		line, _, _ := strings.Cut(c.text, " #")
		checkFlags(r.t, c.line, line)
	}
}

// beforeCommand is a word after which a command may begin: a pipe, the end of
// another one, a variable.
var beforeCommand = regexp.MustCompile(`^(\||\|\||&&|.*;|\w+=.*)$`)

// checkFlags fails the test where a line names a command or a flag that armature
// does not have.
func checkFlags(t *testing.T, line int, text string) {
	t.Helper()
	words := strings.Fields(text)
	at := slices.Index(words, "armature")
	if at < 0 || at == len(words)-1 || at > 0 && !beforeCommand.MatchString(words[at-1]) {
		return // not a command, or one without arguments
	}
	command := exec.CommandContext(t.Context(), binaries.CLI, append(words[at+1:], "--help")...)
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("line %d: %s: %v\n%s", line, text, err, output)
	}
}

// TestCommandsInText checks that commands in sentences and in help texts exist, with
// their flags.
func TestCommandsInText(t *testing.T) {
	inline := regexp.MustCompile("(?:`|^ +)(armature [a-z][^`;|]*)")
	for name, page := range pages(t) {
		t.Run(name, func(t *testing.T) {
			for i, line := range strings.Split(page, "\n") {
				for _, match := range inline.FindAllStringSubmatch(line, -1) {
					checkFlags(t, i+1, match[1])
				}
			}
		})
	}
}
