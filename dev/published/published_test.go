package main

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/types"
)

func TestFolder(t *testing.T) {
	shapes, err := readShapes("testdata")
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(shapes, func(a, b types.Shape) int {
		return cmp.Or(strings.Compare(a.Type, b.Type), strings.Compare(a.Version, b.Version))
	})
	var got []string
	for _, s := range shapes {
		line := s.Type + "@" + s.Version
		if s.Writable == 0 {
			line += " read-only"
		}
		got = append(got, line)
	}
	want := []string{
		"Contoso.Net/networks@2020-01-01", "Contoso.Net/networks@2022-01-01",
		"Contoso.Net/networks/events@2022-01-01 read-only", "Contoso.Net/networks/subnets@2022-01-01",
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("the types of all files (-want +got)\n%s", diff)
	}
	subnets, _ := shapes[3].Body.Property("properties")
	if p, found := subnets.Type.Property("password"); !found || p.Flags != types.WriteOnly {
		t.Errorf("the password of a subnet is %+v", p)
	}
	var out strings.Builder
	if err := run([]string{"testdata"}, &out); err != nil || !strings.HasPrefix(out.String(), "ARMATURE-TYPES-") {
		t.Errorf("the data starts with %.20q, err %v", out.String(), err)
	}
}

func TestBrokenDescriptions(t *testing.T) {
	cases := map[string]struct{ reason, index, types, want string }{
		"no index":     {"there is nothing to read", "", "", "index.json"},
		"no file":      {"the index names a missing file", `{"resources":{"A.B/c@1":{"$ref":"t.json#/0"}}}`, "", "t.json"},
		"not JSON":     {"the error names the file", `{"resources":{"A.B/c@1":{"$ref":"t.json#/0"}}}`, "x", "read t.json"},
		"no such type": {"a reference leads nowhere", `{"resources":{"A.B/c@1":{"$ref":"t.json#/0"}}}`, `[{"$type":"ResourceType","body":{"$ref":"#/7"}}]`, "does not resolve"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			for file, text := range map[string]string{"index.json": c.index, "t.json": c.types} {
				if text != "" {
					if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			err := run([]string{folder}, &strings.Builder{})
			if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), folder+string(filepath.Separator), ""), c.want) {
				t.Errorf("%s: got %v", c.reason, err)
			}
		})
	}
	if err := run([]string{"testdata", "testdata"}, &strings.Builder{}); err == nil || !strings.Contains(err.Error(), "usage") {
		t.Errorf("two sources give %v", err)
	}
}
