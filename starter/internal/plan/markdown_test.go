package plan

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/contents"
	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/google/go-cmp/cmp"
)

// planned returns a plan of the results, each for a cluster of its own.
func planned(t testing.TB, results ...activities.PlanResourceResult) Plan {
	t.Helper()
	desired := make([]resource.Desired, len(results))
	for i := range results {
		id, err := resource.ParseID(fmt.Sprintf("/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg1/providers/Microsoft.Kusto/clusters/adx%d", i))
		if err != nil {
			t.Fatal(err)
		}
		desired[i] = resource.Desired{ID: id, Name: id.Name(), Body: json.RawMessage(`{"location":"westus2","properties":{"key":{"$secret":"env:X"},"list":[1,{"a":[]}],"setPassword":"told","plainKey":"shown"}}`), Plain: []string{"properties.plainKey"}}
	}
	return New(desired, results, nil, Consent{})
}

// update returns a change with one difference.
func update(path, observed, desired string) activities.PlanResourceResult {
	return activities.PlanResourceResult{Action: activities.PlanUpdate, Managed: true, Differences: []resource.Difference{{Path: path, Observed: observed, Desired: desired, Rule: "value"}}}
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	part := update("properties.document", "{...}", "{...}")
	part.Differences[0].Parts = []resource.DifferencePart{{Path: "rules[0].action", Observed: `"Allow"`, Desired: `"Deny"`}}
	part.Differences[0].MoreParts = 2
	part.Drops = []string{"identity"}
	settings := activities.PlanResourceResult{
		Action: activities.PlanNone, Managed: true, Message: "in sync",
		Settings: []resource.SpecChange{{Path: "body", Before: "as applied", After: "as stated"}, {Path: "reconcile.policy", Before: `"protect"`, After: `"manage"`}},
	}
	inSync := activities.PlanResourceResult{Action: activities.PlanNone, Managed: true}
	got := planned(t, activities.PlanResourceResult{Action: activities.PlanCreate}, part, settings, inSync, activities.PlanResourceResult{Action: activities.PlanError, Reason: "AuthorizationFailed", Message: "no right"}).Markdown()
	want := strings.ReplaceAll(`<!-- armature-plan -->
**Plan: 1 to create, 1 to update, 1 to configure, 1 failed, 1 in sync.**

" x kusto cluster adx4 error AuthorizationFailed: no right "

<details><summary><code>~ kusto cluster adx1 update</code></summary>

"""diff
  properties.document: its JSON differs
-   rules[0].action: "Allow"
+   rules[0].action: "Deny"
    and 2 more members
  identity: removed by the PUT, because the manifest does not set it
"""

</details>

<details><summary><code>+ kusto cluster adx0 create</code></summary>

"""diff
+ location: "westus2"
+ properties.key: {"$secret":"env:X"}
+ properties.list[0]: 1
+ properties.list[1].a: []
+ properties.plainKey: "shown"
+ properties.setPassword: (masked)
"""

</details>

<details><summary><code>* kusto cluster adx2 configure: an apply changes the settings below; in sync</code></summary>

"""diff
  body: changed, and nothing in Azure differs from it
- reconcile.policy: "protect"
+ reconcile.policy: "manage"
"""

</details>
`, `"""`, "```")
	want = strings.ReplaceAll(strings.ReplaceAll(want, `" x`, "` x"), `right "`, "right `")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestMarkdownIsBounded checks that no plan is too long for a comment, and that what is
// left out is counted.
func TestMarkdownIsBounded(t *testing.T) {
	t.Parallel()
	long := update("properties.x", strings.Repeat("ö", 120), strings.Repeat("ü", 120))
	for range 6 {
		long.Differences = append(long.Differences, long.Differences...)
	}
	escapes := update("properties."+strings.Repeat("##[", 30), strings.Repeat("##vso[", 20), strings.Repeat("<>&\"", 30))
	message := activities.PlanResourceResult{Action: activities.PlanBlocked, Message: strings.Repeat("very long ", 2000)}
	deletion := activities.PlanResourceResult{Action: activities.PlanError, Reason: "X", Message: "it must be seen"}
	note := regexp.MustCompile(`the details of (\d+) resources?|and (\d+) resources? \(([^)]*)\)|comment: (\d+) resources? \(([^)]*)\)`)
	for name, c := range map[string]struct {
		reason string
		result activities.PlanResourceResult
		count  int
		cut    bool
	}{
		"few":      {"nothing is cut", update("sku.name", `"S1"`, `"S2"`), 20, false},
		"details":  {"details are cut before resources", long, 60, true},
		"escapes":  {"what the output or HTML makes longer counts", escapes, 1000, true},
		"messages": {"messages are cut", message, 500, true},
		"many":     {"more resources than lines fit", update("a", "1", "2"), 4000, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			results := make([]activities.PlanResourceResult, c.count)
			for i := range results {
				results[i] = c.result
			}
			p := planned(t, append(results, deletion)...)
			var written strings.Builder
			if err := p.Show(cli.NewWriter(&written, cli.Ink{}), cli.FormatMarkdown, cli.Ink{}); err != nil {
				t.Fatal(err)
			}
			got := written.String()
			if n := utf8.RuneCountInString(got); n >= 65_000 || c.cut && len(got) < 50_000 || got != p.Markdown() {
				t.Errorf("%s: %d characters, written unchanged %t", c.reason, n, got == p.Markdown())
			}
			if !strings.Contains(got, "it must be seen") {
				t.Errorf("%s: the last resource, an error, is cut", c.reason)
			}
			folded, lines := strings.Count(got, "<details>"), strings.Count(got, "\n` ")
			if strings.Contains(got, "Cut to fit") != c.cut {
				t.Fatalf("%s: cut %t, want %t", c.reason, !c.cut, c.cut)
			}
			if c.cut && note.FindStringSubmatch(got) == nil {
				t.Fatalf("%s: the note has no count: %s", c.reason, got[len(got)-300:])
			}
			missing := c.count + 1 - folded - lines
			if c.cut && missing > 0 && !strings.Contains(got, fmt.Sprintf("%d resources (%d %s)", missing, missing, c.result.Action)) {
				t.Errorf("%s: %d are missing, and the note has another number: %s", c.reason, missing, got[len(got)-300:])
			}
			if c.cut && len(c.result.Differences) > 0 && !strings.Contains(got, fmt.Sprintf("the details of %d resource", lines-1)) {
				t.Errorf("%s: %d resources lack their details, and the note has another number: %s", c.reason, lines-1, got[len(got)-300:])
			}
		})
	}
}

// hostile are texts that are Markdown, HTML, mentions, or commands of CI systems.
var hostile = []string{
	"# heading", "</summary></details><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "```\n# out of the fence\n```", "````````", "`code` @org/team #12 GH-1",
	"[text](https://evil.example)", "https://evil.example/?x", "--- | ---", "\n\n# paragraph", "::error::x", "##vso[task.setvariable]x", "<!-- armature-plan -->", "\x1b[2J\u202e", "$(id)", "a|b\\|c", "*b* _i_ ~~s~~",
}

// TestMarkdownIsInert checks that no name, value or message leaves the code in which it is
// shown: outside of code there are only the texts of Armature.
func TestMarkdownIsInert(t *testing.T) {
	t.Parallel()
	for _, text := range hostile {
		result := update(text, text, text)
		result.Drops, result.Warnings, result.Held = []string{text}, []string{text}, text
		result.Settings = []resource.SpecChange{{Path: text, Before: text, After: text}}
		result.Differences[0].Parts = []resource.DifferencePart{{Path: text, Observed: text, Desired: text}}
		p := planned(t, result, activities.PlanResourceResult{Action: activities.PlanBlocked, Message: text}, activities.PlanResourceResult{Action: activities.PlanError, Reason: resource.Reason(text), Message: text})
		p.Findings = manifest.Issues{{File: text, Line: 1, Message: text, Path: text, Severity: manifest.SeverityWarning}, {Message: text, Severity: manifest.SeverityWarning}}
		checkInert(t, p.Markdown())
		checkInert(t, deleted(t, text).Markdown())
	}
}

// deleted returns the plan of a deletion in which all texts of Azure and Temporal are text.
func deleted(t testing.TB, text string) Plan {
	t.Helper()
	all := []contents.Item{{Name: text}, {Name: text}}
	facts := activities.PlanDeletionResult{
		Managed: true, Exists: true, Denied: []string{text}, Unknown: []string{text}, Scope: text, Restore: text, Within: text,
		Found: contents.Found{Unmanaged: all, Unlisted: all, Data: all, Rules: all, ManagedGroups: all},
	}
	ids := planned(t, activities.PlanResourceResult{}, activities.PlanResourceResult{}).Resources
	open := facts
	open.Denied, open.Unknown, open.Scope = nil, nil, ""
	return New(nil, nil, []Deletable{{ID: ids[0].ID, Facts: facts}, {ID: ids[1].ID, Facts: open}}, Consent{Cascade: true, WithData: true, KeepGoing: true})
}

func FuzzMarkdown(f *testing.F) {
	for _, text := range hostile {
		f.Add(text, text)
	}
	f.Fuzz(func(t *testing.T, path, value string) {
		result := update(path, value, value+"x")
		result.Warnings = []string{value}
		checkInert(t, planned(t, result, activities.PlanResourceResult{Action: activities.PlanBlocked, Message: value}).Markdown())
	})
}

var (
	summaryLine = regexp.MustCompile(`^<details><summary><code>[^<>]*</code></summary>$`)
	codeLine    = regexp.MustCompile("^(?:- |Digest of the plan: )?(`+) (.*) (`+)$")
	ownLine     = regexp.MustCompile(`^(Refused|Lost data|Objections of Azure|Faults of the manifests|Warnings of the manifests):$|^- and \d+ more$`)
)

// checkInert reads Markdown line by line as CommonMark does: a fence ends only at one that
// is as long, and all other lines must be known ones.
func checkInert(t *testing.T, markdown string) {
	t.Helper()
	fence := ""
	for i, line := range strings.Split(markdown, "\n") {
		run := cli.LongestRun(line, '`')
		switch {
		case fence != "":
			if line == fence {
				fence = ""
			} else if strings.HasPrefix(strings.TrimSpace(line), fence) || !strings.ContainsAny(line[:1], "+- ") {
				t.Errorf("line %d leaves its fence: %q", i+1, line)
			}
		case strings.HasSuffix(line, "`diff") && strings.Trim(strings.TrimSuffix(line, "diff"), "`") == "":
			fence = strings.TrimSuffix(line, "diff")
		case line == "", line == MarkdownMarker && i == 0, line == "</details>", summaryLine.MatchString(line), ownLine.MatchString(line), i == 1 && strings.HasPrefix(line, "**Plan: "), i == 1 && strings.HasPrefix(line, "**Deletion: "):
		case codeLine.MatchString(line):
			parts := codeLine.FindStringSubmatch(line)
			if parts[1] != parts[3] || cli.LongestRun(parts[2], '`') >= len(parts[1]) {
				t.Errorf("line %d leaves its code: %q", i+1, line)
			}
		default:
			t.Errorf("line %d (a run of %d) is no text of Armature: %q", i+1, run, line)
		}
	}
	if fence != "" {
		t.Error("a fence does not end")
	}
}
