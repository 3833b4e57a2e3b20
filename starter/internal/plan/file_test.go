package plan

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/starter/internal/cli"
)

const stack = `type: Microsoft.Kusto/clusters@2023-08-15
name: adx
owner: /subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg1
body: {location: westus2, properties: {x: {$secret: env:ARMATURE_SECRET_X}}}
labels: {stack: prod}
`

// sampleFile returns a plan of one resource.
func sampleFile(t testing.TB) File {
	t.Helper()
	set, err := manifest.Load(manifest.Options{Stdin: strings.NewReader(stack)}, "-")
	if err != nil {
		t.Fatal(err)
	}
	return File{
		Format: fileFormat, Created: time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC), By: "ana@host",
		Steps: []Step{{Desired: &set.Resources[0], Action: activities.PlanUpdate, Fingerprint: "a1"}},
	}
}

// signed returns a plan as JSON with the right checksum: whatever writes the file can do
// that.
func signed(t testing.TB, file File) []byte {
	t.Helper()
	digest, err := file.digest()
	if err != nil {
		t.Fatal(err)
	}
	file.Digest = digest
	raw, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestTamperedPlansAreData checks that a plan with the right checksum passes only what a
// manifest may state.
//
//guard:texts-are-data
func TestTamperedPlansAreData(t *testing.T) {
	t.Parallel()
	facts := &activities.PlanDeletionResult{}
	if _, err := Parse(signed(t, sampleFile(t))); err != nil {
		t.Fatalf("a plan: %v", err)
	}
	for name, c := range map[string]struct {
		reason string
		change func(f *File)
		want   string
	}{
		"version":    {"it becomes a part of URLs", func(f *File) { f.Steps[0].Desired.APIVersion = "2024-03-01&x=y#" }, "is not an api-version"},
		"owner":      {"so does this", func(f *File) { f.Steps[0].Desired.OwnerAPIVersion = "x" }, "is not an api-version"},
		"secrets":    {"the worker masks what the list names", func(f *File) { f.Steps[0].Desired.SecretRefs = nil }, "list of secrets differs"},
		"policy":     {"an unknown word is no policy", func(f *File) { f.Steps[0].Desired.Policy = "x" }, "policy \"x\" is not known"},
		"credential": {"a name of the config", func(f *File) { f.Steps[0].Desired.Credential = "../x" }, "is not a credential name"},
		"interval":   {"a pass for every nanosecond", func(f *File) { f.Steps[0].Desired.Interval = 1 }, "below the minimum"},
		"label":      {"a label of two lines", func(f *File) { f.Steps[0].Desired.Labels = map[string]string{"a\nb": "c"} }, "label \"a\\nb\""},
		"action":     {"an unknown word is no action", func(f *File) { f.Steps[0].Action = "x" }, "action \"x\" is not known"},
		"body":       {"a list is no body", func(f *File) { f.Steps[0].Desired.Body = json.RawMessage(`[]`) }, "the body"},
		"path":       {"no path", func(f *File) { f.Steps[0].Desired.Ignore = []string{"[\x1b"} }, "path \"[\\x1b\""},
		"twice":      {"one resource, two specs", func(f *File) { f.Steps = append(f.Steps, f.Steps[0]) }, "it is there twice"},
		"no id":      {"nothing to delete", func(f *File) { f.Steps = append(f.Steps, Step{Action: activities.PlanDelete, Facts: facts}) }, "a step has no id"},
		"delete both": {"apply and delete", func(f *File) {
			f.Steps = append(f.Steps, Step{ID: f.Steps[0].Desired.ID, Action: activities.PlanDelete, Facts: facts})
		}, "it is there twice"},
		"deletion": {"no deletion", func(f *File) {
			f.Steps = append(f.Steps, Step{ID: f.Steps[0].Desired.ID.Owner(), Action: activities.PlanCreate, Facts: facts})
		}, "action \"create\""},
		"neither": {"no step", func(f *File) {
			f.Steps = append(f.Steps, Step{ID: f.Steps[0].Desired.ID.Owner(), Action: activities.PlanDelete})
		}, "neither a manifest nor facts"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := sampleFile(t)
			c.change(&file)
			if _, err := Parse(signed(t, file)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v", c.reason, err)
			}
		})
	}
}

// FuzzParse checks that a plan file of anyone never panics, and that what passes is what a
// manifest may state and is shown on lines of its own. The checksum is set first: it is no
// obstacle to an author.
func FuzzParse(f *testing.F) {
	f.Add(string(signed(f, sampleFile(f))))
	for _, seed := range []string{"", "{}", "[]", `{"format":1}`, `{"format":1,"resources":[{}]}`, `{"format":1,"resources":[{"desired":{"id":"/subscriptions/x"}}]}`, `{"format":1,"resources":[{"id":"","action":"delete","facts":{}}]}`,
		strings.ReplaceAll(string(signed(f, sampleFile(f))), "adx", "a\u202e::error::x"), strings.Replace(string(signed(f, sampleFile(f))), `"env:ARMATURE_SECRET_X"`, `{"$secret":1}`, 1)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		var file File
		if json.Unmarshal([]byte(raw), &file) != nil {
			if _, err := Parse([]byte(raw)); err == nil {
				t.Fatal("no JSON, and a plan")
			}
			return
		}
		file.Format = fileFormat
		digest, err := file.digest()
		if err != nil {
			return
		}
		file.Digest = digest
		text, err := json.Marshal(file)
		if err != nil {
			return
		}
		parsed, err := Parse(text)
		if err != nil {
			var out strings.Builder
			if _, err := cli.NewWriter(&out, cli.Ink{}).Write([]byte(err.Error())); err != nil {
				t.Fatal(err)
			}
			return
		}
		known := map[string]bool{}
		for _, step := range parsed.Steps {
			row := Row{ID: step.Resource()}
			if step.Desired != nil {
				if err := manifest.CheckDesired(*step.Desired); err != nil {
					t.Fatalf("%v passed", err)
				}
				row.Name, row.Message = step.Desired.Name, step.Desired.Name
			}
			row.Action = step.Action
			if lines := strings.Count(row.Text(cli.Ink{}), "\n"); lines != 1 {
				t.Fatalf("%q has %d lines", row.ID, lines)
			}
			known[row.ID.Key()] = true
		}
		if len(known) != len(parsed.Steps) {
			t.Fatal("two steps of one resource")
		}
	})
}
