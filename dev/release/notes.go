package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/armature-io/armature/dev/images"
)

// changes is the section of a version in the changelog.
type changes struct {
	// date is YYYY-MM-DD, "" before the release.
	date string
	// text has the lines below the heading.
	text string
}

// section is the heading of a version in the changelog.
var section = regexp.MustCompile(`(?m)^## \[([^\]]+)\](?: - (.*))?$`)

// releaseNotes returns the section of a version in the changelog. Candidates of a release
// (v1.2.3-rc.1) have the section of the release, and builds of another commit the first one.
func releaseNotes(root, version string) (changes, error) {
	content, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		return changes{}, err
	}
	text := string(content)
	wanted := strings.TrimPrefix(strings.TrimSuffix(version, semver.Prerelease(version)), "v")
	headings := section.FindAllStringSubmatchIndex(text, -1)
	for i, at := range headings {
		name := text[at[2]:at[3]]
		if semver.IsValid(version) && name != wanted {
			continue
		}
		end := len(text)
		if i+1 < len(headings) {
			end = headings[i+1][0]
		}
		found := changes{text: strings.TrimSpace(text[at[1]:end]) + "\n"}
		if at[4] >= 0 && regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`).MatchString(text[at[4]:at[5]]) {
			found.date = text[at[4]:at[5]]
		}
		return found, nil
	}
	return changes{}, fmt.Errorf("read CHANGELOG.md: it has no section [%s]", wanted)
}

// checkReady checks that a release of the commit can be made: the version is vMAJOR.MINOR.PATCH,
// the tree has no changes, a tag of the version names this commit, and the changelog has a
// section with a date. Candidates (v1.2.3-rc.1) need no date.
func checkReady(ctx context.Context, o options) error {
	if !semver.IsValid(o.version) || o.version != semver.Canonical(o.version) {
		return fmt.Errorf("%s is no version of a release: run make release VERSION=v0.1.0", o.version)
	}
	changed, err := git(ctx, o.root, "status", "--porcelain")
	if err != nil {
		return err
	}
	if changed != "" {
		return fmt.Errorf("the tree has changes that no commit contains:\n%s", changed)
	}
	commit, err := git(ctx, o.root, "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	if tagged, err := git(ctx, o.root, "rev-parse", "--verify", "--quiet", o.version+"^{commit}"); err == nil && tagged != commit {
		return fmt.Errorf("the tag %s names commit %s, and this is %s", o.version, tagged, commit)
	}
	notes, err := releaseNotes(o.root, o.version)
	if err != nil {
		return err
	}
	if notes.date == "" && semver.Prerelease(o.version) == "" {
		return fmt.Errorf("the section of %s in CHANGELOG.md has no date: write ## [%s] - YYYY-MM-DD and commit", o.version, strings.TrimPrefix(o.version, "v"))
	}
	return nil
}

// git returns the output of a command of git in the repository.
func git(ctx context.Context, root string, arguments ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", append([]string{"-C", root}, arguments...)...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", strings.Join(arguments, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// registry is the place of the images of releases.
const registry = "ghcr.io/armature-io/armature"

// commandsCommand prints the commands that publish a release.
func commandsCommand(w io.Writer, o options, folder string) error {
	var text strings.Builder
	fmt.Fprintf(&text, `
%[1]s holds the release %[2]s. Nothing was pushed. A tag has .github/workflows/release.yml make the
same files, sign and publish them:

  git tag -s %[2]s -m %[2]s
  git push origin %[2]s

By hand:

`, folder, o.version)
	for _, name := range images.Names() {
		fmt.Fprintf(&text, "  skopeo copy --all --preserve-digests oci-archive:%s docker://%s/%s:%s\n", filepath.Join(folder, images.Archive(name)), registry, name, o.version)
	}
	fmt.Fprintf(&text, "  cosign sign-blob --bundle %[1]s.sigstore.json %[1]s\n", filepath.Join(folder, sumsName))
	fmt.Fprintf(&text, "  gh release create %s %s/* --verify-tag --title %[1]s --notes-file %[3]s\n", o.version, folder, filepath.Join(folder, notesName))
	_, err := io.WriteString(w, text.String())
	return err
}
