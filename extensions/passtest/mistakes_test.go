package passtest_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/armature-io/armature/extensions/rules"
)

// mistakeVariable makes the test binary run the test of an author with one mistake.
const mistakeVariable = "PASSTEST_MISTAKE"

// mistake is one that authors of extensions make, and what reports it.
type mistake struct {
	// by is what reports it, when it does.
	by, when string
	// says matches the report, at its position.
	says, at string
	// try is the author's test of a link, for Go.
	try func(t *testing.T)
	// rules is the content of r.yaml, for YAML.
	rules string
}

// When a mistake is reported. The last two are in production.
const (
	inGoTest   = "`go test`"
	inCheck    = "the check"
	inTest     = "the test"
	atFirstUse = "first use"
	never      = "never"
)

// maxLate is the number of mistakes that may be reported in production only, or never.
const maxLate = 2

// TestAuthor is the test of an author, run in a process of its own, because it fails.
func TestAuthor(t *testing.T) {
	if name := os.Getenv(mistakeVariable); name != "" {
		goMistakes()[name].try(t)
	}
}

// TestMistakes makes each mistake, and compares docs/contributing/extension-mistakes.md with what reports
// it. UPDATE_GOLDEN=1 writes the page.
func TestMistakes(t *testing.T) {
	if testing.Short() {
		t.Skip("each mistake takes a process; test-product makes them")
	}
	var mu sync.Mutex
	reports := map[string]report{}
	all := map[string]mistake{}
	maps.Copy(all, goMistakes())
	maps.Copy(all, ruleMistakes())
	t.Run("each", func(t *testing.T) { // it returns when all of them have
		for name, m := range all {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				got := m.report(t, name)
				mu.Lock()
				defer mu.Unlock()
				reports[name] = got
			})
		}
	})
	late := 0
	for _, m := range all {
		if m.when == atFirstUse || m.when == never {
			late++
		}
	}
	if len(all) < 100 || late > maxLate {
		t.Errorf("%d mistakes, %d of them reported in production only or never; want at least 100, and at most %d", len(all), late, maxLate)
	}
	comparePage(t, page(all, reports, late))
}

// report is what was reported, and where.
type report struct{ text, at string }

// report makes the mistake and returns the report.
func (m mistake) report(t *testing.T, name string) report {
	t.Helper()
	var out string
	switch {
	case m.rules != "":
		out = m.reportOfRules(t)
	case m.when == never || m.when == atFirstUse:
		out = m.reportOfTest(t, name, true)
	default:
		out = m.reportOfTest(t, name, false)
	}
	got := report{text: regexp.MustCompile(m.says).FindString(out), at: regexp.MustCompile(m.at).FindString(out)}
	if got.text == "" && m.says != "" || got.at == "" && m.at != "" {
		t.Errorf("want %q at %q, got\n%s", m.says, m.at, out)
	}
	return got
}

// reportOfTest runs the author's test, which must fail unless it passes with the mistake.
func (m mistake) reportOfTest(t *testing.T, name string, passes bool) string {
	command := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestAuthor$", "-test.v", "-test.timeout", "60s")
	// The SDK takes a busy machine for a deadlock of the workflow, unless it is debugged.
	command.Env = append(os.Environ(), mistakeVariable+"="+name, "TEMPORAL_DEBUG=1")
	out, err := command.CombinedOutput()
	if _, failed := errors.AsType[*exec.ExitError](err); failed == passes {
		t.Errorf("the author's test failed: %v, want %v\n%s", failed, !passes, out)
	}
	return string(out)
}

// reportOfRules checks and tests the file.
func (m mistake) reportOfRules(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "r.yaml")
	if err := os.WriteFile(path, []byte(m.rules), 0o600); err != nil {
		t.Fatal(err)
	}
	_, warnings, err := rules.Check(path)
	var out strings.Builder
	for _, warning := range warnings {
		fmt.Fprintln(&out, warning.String())
	}
	if m.when == inCheck {
		if err != nil {
			fmt.Fprintln(&out, err)
		}
		return out.String()
	}
	if err != nil {
		t.Fatalf("check refuses the file: %v", err)
	}
	outcomes, _, err := rules.Test(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	for _, outcome := range outcomes {
		fmt.Fprintln(&out, outcome.Position, outcome.Failure)
	}
	return out.String()
}

// varying is what differs between two runs and between two machines.
var varying = regexp.MustCompile(`/tmp/[^ :]*/`)

// page returns the page of docs.
func page(all map[string]mistake, reports map[string]report, late int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Mistakes of extension authors, and what reports them

`+"`go test ./extensions/passtest -run TestMistakes`"+` makes each mistake of this table and compares the page with what was reported: %d mistakes, %d of them before production. "Test kit" is `+"`extensiontest.Run`"+`, "whole passes" is `+"`passtest.Run`"+` ([extensions.md](../extensions.md)). What a worker refuses or checks at the first use it reports with the link's name, also for links that no test covers.

`, len(all), len(all)-late)
	for _, part := range []struct {
		title string
		rows  map[string]mistake
	}{{"Links in Go", goMistakes()}, {"Rules in YAML", ruleMistakes()}} {
		fmt.Fprintf(&b, "## %s\n\n| mistake | reported by | when | report | where |\n|---|---|---|---|---|\n", part.title)
		for _, name := range slices.Sorted(maps.Keys(part.rows)) {
			m, got := part.rows[name], reports[name]
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", name, m.by, m.when, code(got.text), code(strings.TrimSuffix(got.at, ": ")))
		}
		b.WriteString("\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// code returns a text as code in a table.
func code(text string) string {
	if text == "" {
		return "none"
	}
	return "`" + strings.NewReplacer("|", `\|`, "\n", " ", "`", "'").Replace(varying.ReplaceAllString(text, "")) + "`"
}

// comparePage compares the page with the file.
func comparePage(t *testing.T, want string) {
	t.Helper()
	path := filepath.Join("..", "..", "docs", "contributing", "extension-mistakes.md")
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil { //nolint:gosec // a page of docs is public
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what was reported; UPDATE_GOLDEN=1 writes it:\n%s", path, want)
	}
}
