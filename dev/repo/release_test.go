package repo

import (
	"maps"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// maxNotes is the number of lines of the notes of a release: one page.
const maxNotes = 60

// TestChangelog checks that the newest section of the changelog, which is the notes of the
// release, fits on one page.
func TestChangelog(t *testing.T) {
	_, text, found := strings.Cut(fileText(t, "CHANGELOG.md"), "\n## [")
	section, _, _ := strings.Cut(text, "\n## [")
	if !found || !regexp.MustCompile(`^(Unreleased|\d+\.\d+\.\d+)\]`).MatchString(section) {
		t.Fatal("CHANGELOG.md does not begin with the section of a version")
	}
	if lines := strings.Count(strings.TrimSpace(section), "\n") + 1; lines > maxNotes {
		t.Errorf("the newest section of CHANGELOG.md has %d lines, want at most %d", lines, maxNotes)
	}
}

// lastRelease returns the newest tag of a release before this commit, and skips the test without
// one.
func lastRelease(t *testing.T) string {
	t.Helper()
	tag, err := exec.CommandContext(t.Context(), "git", "describe", "--tags", "--abbrev=0", "--match", "v*").Output()
	if err != nil {
		t.Skip("there is no release yet, or no tag in this clone: nothing is promised")
	}
	return strings.TrimSpace(string(tag))
}

// gitText returns the output of a command of git.
func gitText(t *testing.T, arguments ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", arguments...).Output()
	if err != nil {
		t.Fatalf("git %s: %v", strings.Join(arguments, " "), err)
	}
	return string(out)
}

// TestReleasedHistories checks that no history of the last release was changed or removed: the
// replay tests show with them that its runs continue.
func TestReleasedHistories(t *testing.T) {
	tag := lastRelease(t)
	const folder = "workflows/testdata/histories"
	if gitText(t, "ls-tree", "-r", "--name-only", tag, folder) == "" {
		t.Fatalf("%s has no histories", tag)
	}
	if changed := gitText(t, "diff", "--name-status", "--no-renames", "--diff-filter=a", tag, "--", folder); changed != "" {
		t.Errorf("%s recorded these histories, and they are overwritten or removed; `git checkout %[1]s -- %s` returns them, and new ones need other names:\n%s", tag, folder, changed)
	}
}

// TestReleasedNames checks that every name in the generated references of the last release is in
// those of this commit, or in the section of a newer version in the changelog: fields of manifests,
// commands, flags, settings and metrics.
func TestReleasedNames(t *testing.T) {
	tag := lastRelease(t)
	// The changelog has newer sections first.
	notes, _, _ := strings.Cut(fileText(t, "CHANGELOG.md"), "\n## ["+strings.TrimPrefix(tag, "v")+"]")
	for _, page := range []string{"docs/manifest-reference.md", "docs/cli-reference.md", "docs/config-reference.md", "docs/metrics.md"} {
		released := referenceNames(gitText(t, "show", tag+":"+page))
		if len(released) < 20 {
			t.Errorf("%s of %s has only %d names", page, tag, len(released))
		}
		now := referenceNames(fileText(t, page))
		for name := range maps.Keys(released) {
			short := name[strings.LastIndex(name, " ")+1:]
			if !now[name] && !strings.Contains(notes, "`"+short+"`") {
				t.Errorf("%s: %s is in %s, and neither here nor in the changelog", page, name, tag)
			}
		}
	}
}

// referenceNames returns the commands of a page, and the names in backquotes that begin a row of a
// table, after the heading above.
func referenceNames(page string) map[string]bool {
	names := map[string]bool{}
	heading := ""
	row := regexp.MustCompile("^\\| (?:`-\\w`, )?`([^` ]+)")
	for line := range strings.Lines(page) {
		if text, found := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); found && strings.HasPrefix(line, "#") {
			heading = strings.TrimSpace(text)
			if strings.HasPrefix(heading, "armature ") {
				names[heading] = true
			}
		} else if match := row.FindStringSubmatch(line); match != nil {
			names[heading+": "+match[1]] = true
		}
	}
	return names
}
