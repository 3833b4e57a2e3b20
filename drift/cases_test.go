package drift_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/resource"
)

// TestCompareCases runs one txtar file per case: the comment is the reason;
// desired.json and observed.json are the bodies; want has one line per
// difference, "path | rule | desired | observed"; options.json is optional.
func TestCompareCases(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 30 {
		t.Fatalf("found %d cases, err %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(archive.Comment) == 0 {
				t.Error("the case has no reason")
			}
			files := map[string][]byte{}
			for _, f := range archive.Files {
				files[f.Name] = f.Data
			}
			desired, observed := body(t, files["desired.json"]), body(t, files["observed.json"])
			result := drift.Compare(desired, observed, options(t, files["options.json"]))

			var got strings.Builder
			for _, d := range result.Differences {
				fmt.Fprintf(&got, "%s | %s | %s | %s\n", d.Path, d.Rule, d.Desired, d.Observed)
			}
			if diff := cmp.Diff(string(files["want"]), got.String()); diff != "" {
				t.Errorf("%s(-want +got)\n%s", archive.Comment, diff)
			}
			if result.InSync != (len(files["want"]) == 0) {
				t.Errorf("InSync = %v with differences:\n%s", result.InSync, got.String())
			}
			if diff := cmp.Diff(body(t, files["desired.json"]), desired); diff != "" {
				t.Errorf("desired was changed: %s", diff)
			}
			if diff := cmp.Diff(body(t, files["observed.json"]), observed); diff != "" {
				t.Errorf("observed was changed: %s", diff)
			}
			if self := drift.Compare(desired, desired, drift.Options{}); !self.InSync {
				t.Errorf("desired differs from itself: %v", self.Differences)
			}
		})
	}
}

func body(t *testing.T, raw []byte) map[string]any {
	t.Helper()
	decoded, err := resource.DecodeBody(raw)
	if err != nil {
		t.Fatal(err)
	}
	return decoded
}

func options(t *testing.T, raw []byte) drift.Options {
	t.Helper()
	var stated struct {
		ID         resource.ID `json:"id"`
		Type       string      `json:"type"`
		APIVersion string      `json:"apiVersion"`
		Ignore     []string    `json:"ignore"`
	}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &stated); err != nil {
			t.Fatal(err)
		}
	}
	return drift.Options{ID: stated.ID, Type: stated.Type, Facts: factsOf(stated.Type), APIVersion: stated.APIVersion, Ignore: stated.Ignore}
}
