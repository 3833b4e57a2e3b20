package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"
	"unicode"

	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/types"
	"github.com/google/go-cmp/cmp"
)

// odd is a text with everything that a format must escape.
const odd = "a%b\r\nc:d,e<f>&\"g\"'h\x1b[31m\u202eü"

// shownOdd is path and message of the sample as text: a name that acts on a terminal is
// quoted, a message has escapes.
const shownOdd = `"body.a%b\r\nc:d,e<f>&\"g\"'h\x1b[31m\u202eü": a%b\r\nc:d,e<f>&"g"'h\x1b[31m\u202eü`

// sample is a report with odd names and every kind of position.
func sample() Report {
	return Report{Version: "1.2.3", Report: manifest.Report{
		Files: []string{"stack/a b.yaml", "clean.yaml"}, Manifests: 40,
		Issues: manifest.Issues{
			{File: "stack/a b.yaml", Line: 3, Column: 7, Path: "body." + odd, Message: odd, Severity: manifest.SeverityFault, Rule: types.UnknownProperty, Suggestion: "x"},
			{File: "stack/a b.yaml", Line: 4, Message: "second", Severity: manifest.SeverityWarning, Rule: types.LetterCase},
			{File: "/abs/gone.yaml", Message: "cannot be read", Severity: manifest.SeverityFault, Rule: manifest.InvalidManifest},
		},
	}}
}

func written(t *testing.T, r Report, format Format) string {
	t.Helper()
	var out bytes.Buffer
	if err := r.Write(&out, format); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestSummary(t *testing.T) {
	if diff := cmp.Diff("40 manifests, 2 faults, 1 warning", sample().Summary()); diff != "" {
		t.Error(diff)
	}
}

// TestNoControlCharacters checks that no format prints what moves a terminal's cursor.
func TestNoControlCharacters(t *testing.T) {
	for _, format := range Formats() {
		for _, r := range written(t, sample(), Format(format)) {
			if r != '\n' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
				t.Errorf("%s contains %q", format, r)
			}
		}
	}
}

func TestTable(t *testing.T) {
	want := "stack/a b.yaml:3:7: " + shownOdd + "\n" +
		"stack/a b.yaml:4: warning: second\n/abs/gone.yaml: cannot be read\n"
	if diff := cmp.Diff(want, written(t, sample(), Table)); diff != "" {
		t.Errorf("a line for each issue (-want +got):\n%s", diff)
	}
}

func TestJSON(t *testing.T) {
	var got any
	if err := json.Unmarshal([]byte(written(t, sample(), JSON)), &got); err != nil {
		t.Fatal(err)
	}
	const text = odd
	want := map[string]any{"manifests": 40.0, "faults": 2.0, "warnings": 1.0, "issues": []any{
		map[string]any{"file": "stack/a b.yaml", "line": 3.0, "column": 7.0, "severity": "fault", "rule": "unknown-property", "path": "body." + text, "message": text, "suggestion": "x"},
		map[string]any{"file": "stack/a b.yaml", "line": 4.0, "severity": "warning", "rule": "letter-case", "message": "second"},
		map[string]any{"file": "/abs/gone.yaml", "severity": "fault", "rule": "invalid-manifest", "message": "cannot be read"},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if empty := written(t, Report{}, JSON); !strings.Contains(empty, `"issues": []`) {
		t.Errorf("no issues are an empty list, found %s", empty)
	}
}

func TestGitHub(t *testing.T) {
	cases := map[string]struct {
		reason string
		strict bool
		want   string
	}{
		"default": {"the runner reads % and, in properties, : and , as syntax", false, "::error file=stack/a b.yaml,line=3,col=7,title=unknown-property::" + strings.ReplaceAll(shownOdd, "%", "%25") + "\n" +
			"::warning file=stack/a b.yaml,line=4,title=letter-case::second\n::error file=/abs/gone.yaml,title=invalid-manifest::cannot be read\n"},
		"strict": {"what fails the command is an error", true, "::error file=stack/a b.yaml,line=3,col=7,title=unknown-property::" + strings.ReplaceAll(shownOdd, "%", "%25") + "\n" +
			"::error file=stack/a b.yaml,line=4,title=letter-case::second\n::error file=/abs/gone.yaml,title=invalid-manifest::cannot be read\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := sample()
			r.Strict = tc.strict
			if diff := cmp.Diff(tc.want, written(t, r, GitHub)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	r := Report{Report: manifest.Report{Issues: manifest.Issues{{File: "a%,:b.yaml", Line: 1, Message: "m"}}}}
	if got, want := written(t, r, GitHub), "::error file=a%25%2C%3Ab.yaml,line=1,title=::m\n"; got != want {
		t.Errorf("the name of a file ends no property: got %s, want %s", got, want)
	}
}

func TestJUnit(t *testing.T) {
	var got junitSuites
	text := written(t, sample(), JUnit)
	if err := xml.Unmarshal([]byte(text), &got); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	const line = "stack/a b.yaml:3:7: " + shownOdd
	want := []junitCase{
		{Name: "stack/a b.yaml", Class: "armature.validate", File: "stack/a b.yaml", Failure: &junitFailure{Message: "1 issue", Type: "validation", Text: line}, Out: "stack/a b.yaml:4: warning: second"},
		{Name: "clean.yaml", Class: "armature.validate", File: "clean.yaml"},
		{Name: "/abs/gone.yaml", Class: "armature.validate", File: "/abs/gone.yaml", Failure: &junitFailure{Message: "1 issue", Type: "validation", Text: "/abs/gone.yaml: cannot be read"}},
	}
	if diff := cmp.Diff(want, got.Suite.Cases); diff != "" {
		t.Errorf("a case for each file (-want +got):\n%s", diff)
	}
	if got.Tests != 3 || got.Failures != 2 || got.Suite.Tests != 3 || got.Suite.Failures != 2 {
		t.Errorf("%d tests and %d failures, want 3 and 2", got.Tests, got.Failures)
	}
}

// TestSARIF checks the members that SARIF 2.1.0 requires and that code scanning reads.
func TestSARIF(t *testing.T) {
	var got map[string]any
	if err := json.Unmarshal([]byte(written(t, sample(), SARIF)), &got); err != nil {
		t.Fatal(err)
	}
	const text = odd
	rule := func(id, description string) any {
		return map[string]any{"id": id, "shortDescription": map[string]any{"text": description}}
	}
	location := func(uri string, more map[string]any) []any {
		physical := map[string]any{"artifactLocation": map[string]any{"uri": uri}}
		if region, found := more["region"]; found {
			physical["region"] = region
		}
		result := map[string]any{"physicalLocation": physical}
		if name, found := more["name"]; found {
			result["logicalLocations"] = []any{map[string]any{"fullyQualifiedName": name}}
		}
		return []any{result}
	}
	want := map[string]any{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
		"runs": []any{map[string]any{
			"tool": map[string]any{"driver": map[string]any{"name": "armature", "version": "1.2.3", "rules": []any{
				rule("unknown-property", "The type does not have this property."), rule("letter-case", "The name or value is published with other letter case."),
				rule("invalid-manifest", "The manifest cannot be read or contradicts itself."),
			}}},
			"columnKind": "unicodeCodePoints",
			"results": []any{
				map[string]any{"ruleId": "unknown-property", "ruleIndex": 0.0, "level": "error", "message": map[string]any{"text": shownOdd},
					"locations": location("stack/a%20b.yaml", map[string]any{"region": map[string]any{"startLine": 3.0, "startColumn": 7.0}, "name": "body." + text})},
				map[string]any{"ruleId": "letter-case", "ruleIndex": 1.0, "level": "warning", "message": map[string]any{"text": "second"},
					"locations": location("stack/a%20b.yaml", map[string]any{"region": map[string]any{"startLine": 4.0}})},
				map[string]any{"ruleId": "invalid-manifest", "ruleIndex": 2.0, "level": "error", "message": map[string]any{"text": "cannot be read"},
					"locations": location("file:///abs/gone.yaml", nil)},
			},
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if empty := written(t, Report{}, SARIF); !strings.Contains(empty, `"results": []`) || !strings.Contains(empty, `"rules": []`) {
		t.Errorf("a run without results has empty lists, found %s", empty)
	}
}

func TestFileURI(t *testing.T) {
	cases := map[string]struct{ reason, file, want string }{
		"relative": {"relative to the root of the repository", "./stack/m.yaml", "stack/m.yaml"},
		"parent":   {"a folder above", "../m.yaml", "../m.yaml"},
		"colon":    {"a colon in the first segment is no scheme", "a:b.yaml", "./a:b.yaml"},
		"odd":      {"what a URI cannot contain", "a#b?c%.yaml", "a%23b%3Fc%25.yaml"},
		"stdin":    {"standard input has no file", "-", "stdin"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := fileURI(tc.file); got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// TestRulesAreDescribed checks that code scanning shows a sentence for each rule.
func TestRulesAreDescribed(t *testing.T) {
	for _, rule := range manifest.Rules() {
		if text := describe(rule); !strings.HasSuffix(text, ".") {
			t.Errorf("rule %s has no description", rule)
		}
	}
}

// TestFormatsAreNotInjected checks that names and values of manifests stay text in every
// format: no line, command, property, link or element of their own.
//
//guard:texts-are-data
func TestFormatsAreNotInjected(t *testing.T) {
	const attack = "x\n::error file=a::b%0A]](http://evil.example)[a](http://evil.example)]]><x/>\u0000"
	r := Report{Report: manifest.Report{Files: []string{attack}, Issues: manifest.Issues{
		{File: attack, Line: 1, Path: attack, Message: attack, Severity: manifest.SeverityFault, Rule: manifest.InvalidManifest, Suggestion: attack},
	}}}
	if lines := strings.Split(written(t, r, GitHub), "\n"); len(lines) != 2 || strings.Count(lines[0], "%0A") != 0 || !strings.HasPrefix(lines[0], "::error file=x") {
		t.Errorf("GitHub reads %q", lines)
	}
	var log sarifLog
	if err := json.Unmarshal([]byte(written(t, r, SARIF)), &log); err != nil || strings.Contains(log.Runs[0].Results[0].Message.Text, "](") {
		t.Errorf("a viewer of SARIF shows a link: %v %v", log, err)
	}
	if lines := strings.Split(written(t, r, Table), "\n"); len(lines) != 2 {
		t.Errorf("the table has the lines %q", lines)
	}
	var suites junitSuites
	if err := xml.Unmarshal([]byte(written(t, r, JUnit)), &suites); err != nil || len(suites.Suite.Cases) != 1 {
		t.Errorf("JUnit has %d cases: %v", len(suites.Suite.Cases), err)
	}
	var document struct{ Issues manifest.Issues }
	if err := json.Unmarshal([]byte(written(t, r, JSON)), &document); err != nil || len(document.Issues) != 1 || document.Issues[0].Path != attack {
		t.Errorf("JSON has %v: %v", document.Issues, err)
	}
}
