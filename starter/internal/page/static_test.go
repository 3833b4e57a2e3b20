package page

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const npmFolder = "static/npm"

// TestPackages checks that the files of other projects are those of their package-lock: each
// has its hash in SHA256SUMS, which `make page-files` writes from the checked packages.
func TestPackages(t *testing.T) {
	sums, err := os.ReadFile(filepath.Join(npmFolder, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	var named, found []string
	for lines := bufio.NewScanner(bytes.NewReader(sums)); lines.Scan(); {
		want, name, _ := strings.Cut(lines.Text(), "  ")
		content, err := os.ReadFile(filepath.Join(npmFolder, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s was changed: make page-files restores it", name)
		}
		named = append(named, name)
	}
	err = filepath.WalkDir(npmFolder, func(path string, entry fs.DirEntry, err error) error {
		if name := filepath.ToSlash(strings.TrimPrefix(path, filepath.FromSlash(npmFolder)+string(filepath.Separator))); err == nil && entry.Type().IsRegular() && strings.Contains(name, "/") {
			found = append(found, name)
		}
		return err
	})
	slices.Sort(named)
	slices.Sort(found)
	if diff := cmp.Diff(named, found); err != nil || diff != "" {
		t.Errorf("SHA256SUMS and the folder differ: %v\n%s", err, diff)
	}
	var lock struct {
		Packages map[string]struct{ Version, Integrity string }
	}
	raw, err := os.ReadFile(filepath.Join(npmFolder, "package-lock.json"))
	if err == nil {
		err = json.Unmarshal(raw, &lock)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, pinned := range lock.Packages {
		folder, isPackage := strings.CutPrefix(name, "node_modules/")
		if _, err := os.Stat(filepath.Join(npmFolder, folder, "LICENSE")); isPackage && (err != nil || pinned.Version == "" || !strings.HasPrefix(pinned.Integrity, "sha512-")) {
			t.Errorf("%s has the version %q, integrity %q, and its license: %v", name, pinned.Version, pinned.Integrity, err)
		}
	}
}

// TestTemplatesHaveNoCode checks that nothing in a template needs an exception in the policy.
func TestTemplatesHaveNoCode(t *testing.T) {
	banned := regexp.MustCompile(`(?i)<script>|<style|\sstyle=|\son[a-z]+=|hx-on|js:|javascript:|hx-vals|hx-headers|https?://|template\.(HTML|JS|CSS|URL)`)
	for _, pattern := range []string{"templates/*", "*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if found := banned.Find(content); strings.HasPrefix(pattern, "templates") && found != nil || bytes.Contains(content, []byte("template.HTML(")) && !strings.HasSuffix(file, "_test.go") {
				t.Errorf("%s has %q", file, found)
			}
		}
	}
	for name := range staticKinds {
		if staticAddress("page"+name) == "" && name != ".svg" {
			t.Errorf("page%s is not served", name)
		}
	}
}

func TestStatic(t *testing.T) {
	b := &browser{t: t, server: New(newWorld().options(), testHost)}
	for _, name := range []string{"page.css", "page.js", "graph.js", "htmx.min.js", "dagre.min.js", "icon.svg"} {
		answer := b.get(staticAddress(name))
		if answer.Code != 200 || answer.Body.Len() == 0 || !strings.Contains(answer.Header().Get("Cache-Control"), "immutable") {
			t.Errorf("%s answers %d with %d bytes", name, answer.Code, answer.Body.Len())
		}
	}
	for _, path := range []string{"/static/../page.go", "/static/", "/static/npm/package.json", "/static/000000000000/page.css"} {
		if answer := b.get(path); answer.Code == 200 {
			t.Errorf("%s is served", path)
		}
	}
}
