package screen

import (
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/activities/exporting"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/workflows"
)

// TestExportsOfAPage checks what a page shows of exports: the secret, its version and times.
func TestExportsOfAPage(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	view := backend.View{Status: workflows.Status{Exports: []exporting.Exported{
		{To: "keyvault:https://kv.vault.example/secrets/a", Version: "v1", Hash: "0011", WrittenAt: now.Add(-time.Hour), ComparedAt: now.Add(-time.Minute)},
		{To: "keyvault:https://kv.vault.example/secrets/b"},
		{To: "keyvault:https://kv.vault.example/secrets/c", Version: "v2", Left: true, ComparedAt: now},
	}}}
	text := Painter{Now: now}.Page(view, "id", "default", false)
	for _, want := range []string{
		"Exports      https://kv.vault.example/secrets/a  version v1, written ", "compared 1m ago",
		"https://kv.vault.example/secrets/b  not written yet", "https://kv.vault.example/secrets/c  left as it is",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
}
