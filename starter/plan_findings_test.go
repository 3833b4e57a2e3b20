package starter

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/starter/internal/cli"
)

// TestPlanFindings checks that the documents of a plan contain the findings of validation,
// also if there is no plan, and that a table leaves them on standard error.
func TestPlanFindings(t *testing.T) {
	cluster := func(body string) string {
		return "type: Microsoft.Kusto/clusters@2023-08-15\nname: adx\nowner: " + group + "\nbody: " + body + "\n"
	}
	fault := cluster("{location: westus2, sku: {name: Standard_E2ads_v5, tier: Standard}, properties: {enableDiskEncripton: true}}")
	warning := cluster("{location: westus2}")
	for name, c := range map[string]struct {
		reason, manifest string
		output           string
		code             int
		want             []string
	}{
		"fault, json":       {"there is no plan, and the fault has its place", fault, "json", cli.ExitFailed, []string{`"verdict": "no plan"`, `"line": 4`, `"severity": "fault"`, "enableDiskEncripton", `"resources": []`}},
		"fault, markdown":   {"the comment says why", fault, "markdown", cli.ExitFailed, []string{"<!-- armature-plan -->\n**No plan: 1 fault, 0 warnings.**", "Faults of the manifests:", "adx.yaml:4:", "enableDiskEncripton"}},
		"fault, html":       {"so does the page", fault, "html", cli.ExitFailed, []string{"no plan</span>", "adx.yaml:4:", "enableDiskEncripton"}},
		"fault, table":      {"the error has all", fault, "table", cli.ExitFailed, nil},
		"warning, json":     {"beside the plan", warning, "json", exitChanges, []string{`"verdict": "changes"`, `"severity": "warning"`, `"rule": "missing-property"`, `"action": "create"`, `"digest": "sha256:`}},
		"warning, markdown": {"before the changes", warning, "markdown", exitChanges, []string{"Warnings of the manifests:", "adx.yaml:4:", "body.sku", "kusto cluster adx create", "Digest of the plan: ` sha256:"}},
		"warning, html":     {"before the changes", warning, "html", exitChanges, []string{"Warnings of the manifests", "adx.yaml:4:", "kusto cluster adx", "sha256:"}},
		"warning, table":    {"on standard error only", warning, "table", exitChanges, []string{"+ kusto cluster adx  create"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.temporal.plans = map[string]activities.PlanResourceResult{"adx": {Action: activities.PlanCreate}}
			page := filepath.Join(t.TempDir(), "plan.html")
			if code := w.run("plan", "-f", manifests(t, map[string]string{"adx.yaml": c.manifest}), "-o", c.output, "--page", page); code != c.code {
				t.Errorf("%s: exit code %d, want %d: %s", c.reason, code, c.code, w.err)
			}
			out, at := w.out.String(), 0
			for _, text := range c.want {
				i := strings.Index(out[at:], text)
				if i < 0 {
					t.Fatalf("%s: %q is missing or out of order in\n%s", c.reason, text, out)
				}
				at += i
			}
			if c.want == nil && out != "" || !strings.Contains(w.err.String(), "adx.yaml:4:") {
				t.Errorf("%s: standard output %q, error %q", c.reason, out, w.err)
			}
			if raw, err := os.ReadFile(page); err != nil || !strings.Contains(string(raw), "adx.yaml:4:") {
				t.Errorf("the page lacks the finding: %v", err)
			}
		})
	}
}

// TestDigest checks that a plan, its file and the command that sends it show one digest, and
// that it does not depend on time and author.
func TestDigest(t *testing.T) {
	w, file := planWorld(t, activities.PlanCreate)
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var written struct{ Digest string }
	if err := json.Unmarshal(raw, &written); err != nil || !strings.HasPrefix(written.Digest, "sha256:") {
		t.Fatalf("the file has the digest %q, %v", written.Digest, err)
	}
	for _, output := range []string{"json", "yaml", "markdown", "html"} {
		w.out.Reset()
		w.run("plan", "-f", labelledAdx(t), "--prune", "-l", "stack=prod", "-o", output)
		if !strings.Contains(w.out.String(), written.Digest) {
			t.Errorf("-o %s lacks the digest %s of the file:\n%s", output, written.Digest, w.out)
		}
	}
	w.err.Reset()
	if code := w.run("apply", "--plan-file", file); code != cli.ExitOK || !strings.Contains(w.err.String(), written.Digest) {
		t.Errorf("exit code %d; apply does not print the digest: %s", code, w.err)
	}
}
