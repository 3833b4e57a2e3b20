package author

import (
	"errors"
	"strings"
	"testing"

	"github.com/armature-io/armature/manifest"
	"github.com/google/go-cmp/cmp"
)

func TestGlobs(t *testing.T) {
	got := Globs([]manifest.Document{
		{File: "a.yaml", Type: "A.B/cs"}, {File: "a.yaml"}, {File: "b.json", Type: "A.B/cs"},
		{File: "net/a.yml", Type: "A.B/cs"}, {File: "net/b.yaml", Type: "A.B/cs"}, {File: "net/c.yaml", Type: "A.B/cs"},
		{File: "ci/a.yaml", Type: "A.B/cs"}, {File: "ci/pipeline.yaml"}, {File: "other/x.yaml"},
	})
	want := []string{"a.yaml", "ci/a.yaml", "net/*.yaml", "net/*.yml"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("folders of manifests only, else files (-want +got):\n%s", diff)
	}
}

func TestMergeSettings(t *testing.T) {
	mappings := []Mapping{{Schema: File, Globs: []string{"*.yaml"}}}
	entry := "\"yaml.schemas\": {\n    \".armature/schema.json\": [\n      \"*.yaml\"\n    ]\n  }"
	cases := map[string]struct{ reason, before, want string }{
		"absent": {"a new file", "", "{\n  " + entry + "\n}\n"},
		"others": {"order and values stay", `{"z": 1.0, "a": "<&>"}`, "{\n  \"z\": 1.0,\n  \"a\": \"<&>\",\n  " + entry + "\n}\n"},
		"schemas": {
			"other schemas stay", "{\n  \"yaml.schemas\": {\"other.json\": \"x.yaml\"},\n  \"b\": {}\n}",
			"{\n  \"yaml.schemas\": {\n    \"other.json\": \"x.yaml\",\n    \".armature/schema.json\": [\n      \"*.yaml\"\n    ]\n  },\n  \"b\": {}\n}\n",
		},
		"again":  {"the second time changes nothing", "{\n  " + entry + "\n}\n", "{\n  " + entry + "\n}\n"},
		"indent": {"the file's own", "{\n\t\"a\": 1\n}\n", "{\n\t\"a\": 1,\n\t\"yaml.schemas\": {\n\t\t\".armature/schema.json\": [\n\t\t\t\"*.yaml\"\n\t\t]\n\t}\n}\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := MergeSettings([]byte(tc.before), mappings)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	for name, before := range map[string]string{"comment": "{\n  // mine\n  \"a\": 1\n}", "comma": `{"a": 1,}`, "schemas with a comment": "{\"yaml.schemas\": {/* x */}}"} {
		if _, err := MergeSettings([]byte(before), mappings); !errors.Is(err, ErrComments) {
			t.Errorf("%s: got %v, want ErrComments: a comment would be lost", name, err)
		}
	}
	for name, before := range map[string]string{"list": "[]", "schemas as a list": `{"yaml.schemas": []}`} {
		if _, err := MergeSettings([]byte(before), mappings); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if got := SettingsSnippet(mappings); !strings.HasPrefix(got, "  \"yaml.schemas\": {") || !strings.HasSuffix(got, "  }") {
		t.Errorf("got %q", got)
	}
}

func TestAddModelines(t *testing.T) {
	const line = "# yaml-language-server: $schema="
	const top = line + ".armature/schema.json\n"
	cases := map[string]struct {
		reason, before, file, want string
		added                      int
	}{
		"one":        {"beside the folder of the schema", "type: x\n", "a.yaml", top + "type: x\n", 1},
		"below":      {"relative to the file", "type: x\n", "net/eu/a.yaml", line + "../../.armature/schema.json\ntype: x\n", 1},
		"several":    {"servers read it for each document", "type: x\n---\ntype: y\n--- # z\ntype: z\n", "a.yaml", top + "type: x\n---\n" + top + "type: y\n--- # z\n" + top + "type: z\n", 3},
		"others":     {"what is no manifest stays", "on: push\n---\ntype: y\n", "a.yaml", "on: push\n---\n" + top + "type: y\n", 1},
		"at a start": {"behind the mark of the document", "# about\n---\ntype: x\n", "a.yaml", "# about\n---\n" + top + "type: x\n", 1},
		"windows":    {"the line ends of the file", "type: x\r\n---\r\ntype: y\r\n", "a.yaml", strings.ReplaceAll(top+"type: x\n---\n"+top+"type: y\n", "\n", "\r\n"), 2},
		"mark":       {"behind the byte order mark", "\xef\xbb\xbftype: x\n", "a.yaml", "\xef\xbb\xbf" + top + "type: x\n", 1},
		"has one":    {"another schema is the user's choice", "# a\n" + line + "other.json\ntype: x\n", "a.yaml", "# a\n" + line + "other.json\ntype: x\n", 0},
		"has some":   {"only where it is missing", top + "type: x\n---\ntype: y\n", "a.yaml", top + "type: x\n---\n" + top + "type: y\n", 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, added := AddModelines([]byte(tc.before), tc.file, File)
			if diff := cmp.Diff(tc.want, string(got)); diff != "" || added != tc.added {
				t.Errorf("%s: %d added, want %d (-want +got):\n%s", tc.reason, added, tc.added, diff)
			}
		})
	}
}
