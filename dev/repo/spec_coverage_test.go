package repo

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestSpecCoverageExists checks that every test and file that
// docs/contributing/spec-coverage.md names exists.
func TestSpecCoverageExists(t *testing.T) {
	page, err := os.ReadFile("docs/contributing/spec-coverage.md")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("git", "grep", "-h", "-o", "^func Test[A-Za-z0-9_]*", "--", "*_test.go").Output()
	if err != nil {
		t.Fatalf("list tests: %v", err)
	}
	known := map[string]bool{}
	for _, line := range strings.Fields(string(out)) {
		known[line] = true
	}
	named := regexp.MustCompile(`\bTest[A-Z][A-Za-z0-9]*`).FindAllString(string(page), -1)
	if len(named) < 100 {
		t.Errorf("only %d tests are named, want at least 100", len(named))
	}
	for _, name := range named {
		if !known[name] {
			t.Errorf("test %s does not exist", name)
		}
	}
	folders := map[string]string{"E": "extensions", "H": "internal/extensionhost", "A": "activities", "W": "workflows"}
	for _, match := range regexp.MustCompile(`\b([EHAW])/([a-z_/]+\.go)`).FindAllStringSubmatch(string(page), -1) {
		if _, err := os.Stat(folders[match[1]] + "/" + match[2]); err != nil {
			t.Errorf("file %s does not exist", match[0])
		}
	}
}
