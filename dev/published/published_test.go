package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTables(t *testing.T) {
	cases := map[string]struct {
		reason string
		want   []string
	}{
		"readonly": {
			"the newest version with a path decides; no path below another one or below itself, and none that one of two shapes makes writable",
			[]string{
				"contoso.net/networks properties.gone properties.kind.seen properties.privateendpointconnections.[].id" +
					" properties.privateendpointconnections.[].properties.state properties.seen.subnets.[].name" +
					" properties.seen.subnets.[].properties.state properties.subnets.[].id properties.subnets.[].properties.state properties.view",
				"contoso.net/networks/events properties.state",
				"contoso.net/networks/subnets properties.state",
			},
		},
		"writeonly": {
			"any version counts",
			[]string{
				"contoso.net/networks properties.kind.word properties.privateendpointconnections.[].properties.password properties.secret" +
					" properties.seen.subnets.[].properties.password properties.subnets.[].properties.password",
				"contoso.net/networks/events properties.password",
				"contoso.net/networks/subnets properties.password",
			},
		},
		"inline-children": {
			"one list is also a child type; endpoint connections are created by the other side, and events are read-only",
			[]string{"Contoso.Net/networks properties.Subnets subnets"},
		},
	}
	for table, c := range cases {
		t.Run(table, func(t *testing.T) {
			var out strings.Builder
			if err := run([]string{table, "testdata"}, &out); err != nil {
				t.Fatal(err)
			}
			var got []string
			for line := range strings.Lines(out.String()) {
				if !strings.HasPrefix(line, "#") {
					got = append(got, strings.TrimSpace(line))
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got)\n%s", c.reason, diff)
			}
		})
	}
}

func TestBrokenDescriptions(t *testing.T) {
	cases := map[string]struct{ reason, index, types, want string }{
		"no index":       {"there is nothing to read", "", "", "index.json"},
		"no file":        {"the index names a missing file", `{"resources":{"A.B/c@1":{"$ref":"t.json#/0"}}}`, "", "t.json"},
		"not JSON":       {"the error names the file", `{"resources":{"A.B/c@1":{"$ref":"t.json#/0"}}}`, "x", "read t.json"},
		"no such type":   {"the type does not exist", `{"resources":{"A.B/c@1":{"$ref":"t.json#/0"}}}`, `[{"$type":"ResourceType","body":{"$ref":"#/7"}}]`, `"#/7"`},
		"index too high": {"the type does not exist", `{"resources":{"A.B/c@1":{"$ref":"t.json#/3"}}}`, `[]`, `"t.json#/3"`},
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
			for _, table := range []string{"readonly", "writeonly", "inline-children"} {
				err := run([]string{table, folder}, &strings.Builder{})
				if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), folder+string(filepath.Separator), ""), c.want) {
					t.Errorf("%s: %s got %v", c.reason, table, err)
				}
			}
		})
	}
	if err := run([]string{"nothing", "testdata"}, &strings.Builder{}); err == nil || !strings.Contains(err.Error(), "usage") {
		t.Errorf("an unknown table gives %v", err)
	}
}
