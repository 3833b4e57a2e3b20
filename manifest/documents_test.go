package manifest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDocuments(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"a.yaml":  "type: Microsoft.Kusto/clusters@2023-08-15\nname: 5\n---\n---\ntype: A.B/cs@2023-01-01\n",
		"b.json":  `[{"type": "A.B/cs@2023-01-01-preview"}, {"x": 1}]`,
		"c.yaml":  "- a\n",
		"d.yaml":  "a: [\n",
		"e.yaml":  "type: no-type\n",
		".x.yaml": "type: A.B/hidden@2023-01-01\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Documents(folder)
	if err != nil {
		t.Fatal(err)
	}
	want := []Document{
		{"a.yaml", "Microsoft.Kusto/clusters", "2023-08-15"}, {"a.yaml", "A.B/cs", "2023-01-01"},
		{"b.json", "A.B/cs", "2023-01-01-preview"}, {"b.json", "", ""}, {"c.yaml", "", ""}, {"e.yaml", "", ""},
	}
	for i := range got {
		got[i].File = filepath.Base(got[i].File)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
	if _, err := Documents(filepath.Join(folder, "nowhere")); err == nil {
		t.Error("a path that does not exist is no error")
	}
}
