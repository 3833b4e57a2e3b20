package manifest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	sub    = "/subscriptions/11111111-2222-3333-4444-555555555555"
	group  = sub + "/resourceGroups/g"
	vnetID = group + "/providers/Microsoft.Network/virtualNetworks/v"
)

// write creates files in a new folder and returns it. A single manifest is m.yaml.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// account is the valid beginning of a manifest, up to its body.
const account = "type: Microsoft.Storage/storageAccounts@2021-04-01\nname: acc\nowner: " + group + "\n"

type issueCase struct {
	reason  string
	yaml    string
	files   map[string]string
	options Options
	want    string
}

func runIssues(t *testing.T, cases map[string]issueCase) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			files := tc.files
			if files == nil {
				files = map[string]string{"m.yaml": tc.yaml}
			}
			dir := write(t, files)
			set, err := Load(tc.options, dir)
			var issues Issues
			if !errors.As(err, &issues) || len(set.Resources) > 0 {
				t.Fatalf("\n%s\ngot %v and %d resources, want issues", tc.reason, err, len(set.Resources))
			}
			got := strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), "")
			if diff := cmp.Diff(strings.TrimSpace(tc.want), strings.ReplaceAll(got, dir, "DIR")); diff != "" {
				t.Errorf("\n%s\n-want +got:\n%s", tc.reason, diff)
			}
		})
	}
}
