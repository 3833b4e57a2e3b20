package manifest

import (
	"strings"
	"testing"
)

// TestForeignFilesStayPrivate checks that no key and no value of a file that is no
// manifest appears in an issue: it may be the file of another program, with its secrets.
func TestForeignFilesStayPrivate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ reason, file, text string }{
		"token":        {reason: "keys name accounts", file: "m.json", text: `{"contosoUser":{"contosoKey":"contosoValue"},"type":"contosoType"}`},
		"duplicate":    {reason: "a duplicate key is reported with its path", file: "m.json", text: `{"contosoKey":1,"contosoKey":2}`},
		"list":         {reason: "each item of a list", file: "m.json", text: `[{"contosoKey":1,"contosoKey":2},{"name":"contosoName","type":"contosoType"}]`},
		"number":       {reason: "a password may look like a number", file: "m.yaml", text: "contosoKey: 0x1contoso\ncontosoPin: 0x1F\n"},
		"scalar":       {reason: "one value", file: "m.yaml", text: "0xC0DE5"},
		"tag":          {reason: "a YAML tag is reported with its path", file: "m.yaml", text: "contosoKey: !contosoTag x\n"},
		"deep":         {reason: "the path of a deep value", file: "m.yaml", text: "contosoKey: &a [*a]\n"},
		"two":          {reason: "a name and a body that are none", file: "m.yaml", text: "name: contosoName\ntype: contosoType\nversion: 0x7contoso\n"},
		"several docs": {reason: "each document by itself", file: "m.yaml", text: "contosoKey: 0x1F\n---\ncontosoPin: 0x1F\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := write(t, map[string]string{c.file: c.text})
			_, err := Load(Options{}, dir)
			if err == nil || !strings.Contains(err.Error(), "is no manifest") {
				t.Errorf("%s: %v", c.reason, err)
			}
			lower := strings.ToLower(err.Error())
			for _, secret := range []string{"contoso", "0xc0de5", "0x1f"} {
				if strings.Contains(lower, secret) {
					t.Errorf("%s: shows %s: %v", c.reason, secret, err)
				}
			}
		})
	}
}

// TestMisspeltManifestsAreNotForeign checks that a manifest with a mistake keeps the
// issues that name it.
func TestMisspeltManifestsAreNotForeign(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"type only":     {text: "type: Microsoft.Kusto/clusters@2023-08-15\n", want: "body is missing"},
		"misspelt type": {text: "typ: Microsoft.Kusto/clusters@2023-08-15\nname: a\nbody: {}\n", want: "did you mean type"},
		"misspelt body": {text: "name: a\nbdy: {}\n", want: "did you mean body"},
		"no body":       {text: "type: storage\nname: a\nowner: b\n", want: "is not a resource type"},
		"broken field":  {text: "type: storage\nname: a\nbody: !x {}\n", want: "has the YAML tag"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Load(Options{}, write(t, map[string]string{"m.yaml": c.text}))
			if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "body: is", "body is"), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}
