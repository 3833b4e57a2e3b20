package manifest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestValuesAreBounded checks that a command reads no files with more values than it has memory
// for, although each file is within its own limits.
func TestValuesAreBounded(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"m.yaml": account + "body: {a: [" + strings.Repeat("[],", maxNodes-100) + "[]]}\n",
		"m.json": `{"type": "a", "body": {"a": [` + strings.Repeat("[],", maxValues/5) + `[]]}}`,
	} {
		folder := t.TempDir()
		for i := range 6 {
			if err := os.WriteFile(filepath.Join(folder, fmt.Sprint(i)+name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, err := Load(Options{}, folder)
		if err == nil || !strings.Contains(err.Error(), "more than 1000000 values") || strings.Count(err.Error(), "\n") > 0 {
			t.Errorf("six times %s: %.500v", name, err)
		}
	}
}
