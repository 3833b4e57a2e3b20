package manifest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// fenced matches the YAML and JSON of a page.
var fenced = regexp.MustCompile("(?s)```(?:yaml|json)\n(.*?)```")

// aManifest matches the first line of a manifest.
var aManifest = regexp.MustCompile(`(?m)^\s*"?type"?: "?[A-Za-z.]+/[A-Za-z/]+@`)

// TestExamplesValidate checks the examples against the published types.
func TestExamplesValidate(t *testing.T) {
	report := Validate(Options{Facts: vaultFacts}, filepath.Join("..", "examples"))
	feed := Validate(Options{Facts: vaultFacts}, filepath.Join("..", "deploy", "feed"))
	for _, issue := range slices.Concat(report.Issues, feed.Issues) {
		t.Errorf("%s", issue)
	}
	if report.Manifests < 40 {
		t.Errorf("%d manifests, want all examples", report.Manifests)
	}
}

// TestPagesValidate checks every manifest in a page of the repository. A fragment may
// name owners that the page does not show.
func TestPagesValidate(t *testing.T) {
	manifests := 0
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range fenced.FindAllSubmatch(text, -1) {
			if !aManifest.Match(block[1]) {
				continue
			}
			report := Validate(Options{Stdin: strings.NewReader(string(block[1]))}, "-")
			manifests += report.Manifests
			for _, issue := range report.Issues {
				if issue.Rule != InvalidManifest {
					t.Errorf("%s: %s\n%s", page, issue.Text(), block[1])
				}
			}
		}
	}
	if manifests < 3 {
		t.Errorf("%d manifests in pages, want those of the README and of the references", manifests)
	}
}

// pages returns the Markdown files of the repository.
func pages(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && entry.Name() != "..", entry.Name() == "node_modules":
			return filepath.SkipDir
		case filepath.Ext(path) == ".md":
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
