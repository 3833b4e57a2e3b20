package repo

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestWebUISettings compares the variables of the Web UI in docs/encryption.md with those that
// the template of its container reads.
func TestWebUISettings(t *testing.T) {
	page, err := os.ReadFile("docs/encryption.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## The codec server\n")
	section, _, _ = strings.Cut(section, "\n## ")
	list := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/temporalio/ui-server/v2")
	list.Dir = "dev"
	folder, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	template, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(folder)), "config", "docker.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`TEMPORAL_[A-Z_]+`).FindAllString(section, -1)
	if len(names) < 8 {
		t.Fatalf("docs/encryption.md names %d variables of the Web UI: %v", len(names), names)
	}
	for _, name := range names {
		if !strings.Contains(string(template), `env "`+name+`"`) {
			t.Errorf("docs/encryption.md names %s, which the Web UI does not read", name)
		}
	}
}
