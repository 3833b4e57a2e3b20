package plan

import (
	"crypto/sha256"
	"encoding/base64"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
)

// pageOf returns a plan as HTML, as it is written.
func pageOf(t testing.TB, p Plan) string {
	t.Helper()
	var written strings.Builder
	if err := p.Show(cli.NewWriter(&written, cli.Ink{}), cli.FormatHTML, cli.Ink{}); err != nil {
		t.Fatal(err)
	}
	return written.String()
}

// TestHTML checks the order of a page: first what a reviewer must read, then the rows, then the
// folded resources, and the digest at the end.
func TestHTML(t *testing.T) {
	t.Parallel()
	deletion := deleted(t, "x")
	deletion.Findings = manifest.Issues{{File: "stack.yaml", Line: 3, Column: 5, Path: "body.sku", Message: "is not published", Severity: manifest.SeverityWarning}}
	changed := planned(t, update("sku.name", `"S1"`, `"S2"`), activities.PlanResourceResult{Action: activities.PlanNone, Managed: true})
	for name, c := range map[string]struct {
		reason string
		plan   Plan
		want   []string
	}{
		"deletion": {"refusals and losses come first", deletion, []string{
			`<h1>Deletion <span class="tag changes">changes</span></h1>`, "1 to delete, 1 refused", ">Refused</h2>", ">Lost data</h2>", "stack.yaml:3:5", "In this order", deletion.Digest(),
		}},
		"update": {"values side by side, and the rest folded", changed, []string{
			`<h1>Plan <span class="tag changes">changes</span></h1>`, "<dt>sku.name</dt>", `S1`, `S2`, "<summary>1 unchanged resource</summary>", changed.Digest(),
		}},
		"no plan": {"faults without a plan", None(manifest.Issues{{File: "a.yaml", Line: 2, Message: "is no type", Severity: manifest.SeverityFault}}), []string{
			`<span class="tag none-made">no plan</span>`, "No plan: 1 fault, 0 warnings.", "Faults of the manifests", "a.yaml:2", "is no type", "There is no digest",
		}},
		"error": {"a plan with errors has no digest", planned(t, activities.PlanResourceResult{Action: activities.PlanError, Reason: "AuthorizationFailed", Message: "no right"}), []string{
			`<span class="tag failed">failed</span>`, "error AuthorizationFailed: no right", "There is no digest",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page, at := pageOf(t, c.plan), 0
			for _, text := range c.want {
				i := strings.Index(page[at:], text)
				if i < 0 {
					t.Fatalf("%s: %q is missing or out of order in\n%s", c.reason, text, page)
				}
				at += i
			}
		})
	}
}

var (
	elements = regexp.MustCompile(`<(/?)([a-zA-Z0-9]+)([^>]*)>`)
	policies = regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`)
)

// checkPage checks that a page has the elements of the template only, and loads nothing.
func checkPage(t *testing.T, page string) {
	t.Helper()
	_, body, _ := strings.Cut(page, "</style>")
	for _, element := range elements.FindAllStringSubmatch(body, -1) {
		switch strings.ToLower(element[2]) {
		case "head", "body", "html", "header", "main", "footer", "section", "h1", "h2", "h3", "p", "span", "a", "ul", "ol", "li", "dl", "dt", "dd", "div", "b", "code", "details", "summary":
		default:
			t.Errorf("the page has the element %s", element[0])
		}
		if attributes := element[3]; strings.Contains(attributes, "on") && regexp.MustCompile(`\son\w+=`).MatchString(attributes) || strings.Contains(attributes, "style=") || strings.Contains(attributes, "src=") {
			t.Errorf("the element %s runs or loads something", element[0])
		}
	}
	_, style, _ := strings.Cut(page, "<style>")
	style, _, _ = strings.Cut(style, "</style>")
	sum := sha256.Sum256([]byte(style))
	policy := html.UnescapeString(policies.FindStringSubmatch(page)[1])
	if want := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"; policy != want {
		t.Errorf("the policy is %q, want %q: the style as written must pass", policy, want)
	}
	if strings.Contains(style, "url(") || strings.Contains(style, "@import") {
		t.Error("the style loads something")
	}
}

// TestHTMLIsInert checks that texts of Azure, Temporal and manifests stay texts.
//
//guard:texts-are-data
func TestHTMLIsInert(t *testing.T) {
	t.Parallel()
	for _, text := range append(hostile, `"><script>alert(1)</script>`, `javascript:alert(1)`, `</style><script>`, `{{.}}`, `" onclick="x`) {
		result := update(text, text, text)
		result.Drops, result.Warnings, result.Held = []string{text}, []string{text}, text
		result.Settings = []resource.SpecChange{{Path: text, Before: text, After: text}}
		result.Differences[0].Parts = []resource.DifferencePart{{Path: text, Observed: text, Desired: text}}
		p := planned(t, result, activities.PlanResourceResult{Action: activities.PlanBlocked, Message: text}, activities.PlanResourceResult{Action: activities.PlanError, Reason: resource.Reason(text), Message: text})
		p.Findings = manifest.Issues{{File: text, Line: 1, Message: text, Path: text, Severity: manifest.SeverityWarning}}
		p.SetOrphans([]resource.ID{p.Resources[0].ID}, text)
		for _, shown := range []Plan{p, deleted(t, text), None(p.Findings)} {
			page := pageOf(t, shown)
			checkPage(t, page)
			if strings.Contains(text, "<script>") && (strings.Contains(page, "<script") || !strings.Contains(page, "&lt;script&gt;")) {
				t.Errorf("%q is not shown as a text", text)
			}
		}
	}
}
