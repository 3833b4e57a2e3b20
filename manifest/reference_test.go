package manifest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/google/go-cmp/cmp"
)

// fieldReference is the page's text for one field. Defaults, allowed words and
// refusals are not in it: they come from the parser.
type fieldReference struct {
	// name is the field, or "reconcile.field".
	name string
	kind string
	// required is set for a field that every manifest must have.
	required bool
	// initial reads the default of a manifest that does not state the field.
	initial func(d resource.Desired) string
	effect  string
	// example and bad are YAML of the field; each bad one is refused.
	example string
	bad     []string
}

// referenceBase is a manifest in which one field is replaced; vnet1 follows it.
var referenceBase = []string{
	"type: Microsoft.Storage/storageAccounts@2023-01-01",
	"name: acc1",
	"owner: " + group,
	"body: {location: westus2}",
}

const referenceOther = "---\ntype: Microsoft.Network/virtualNetworks@2023-05-01\nname: vnet1\nowner: " + group + "\nbody: {location: westus2}\n"

// withField returns the base with one field replaced by text.
func withField(text string) string {
	key, _, _ := strings.Cut(text, ":")
	lines := slices.DeleteFunc(slices.Clone(referenceBase), func(line string) bool { return strings.HasPrefix(line, key+":") })
	return strings.Join(append(lines, text), "\n") + "\n" + referenceOther
}

// TestReference compares docs/manifest-reference.md with the parser: fields,
// defaults, allowed words, examples and refusals. `make docs` writes it.
func TestReference(t *testing.T) {
	var named []string
	for _, f := range referenceFields() {
		named = append(named, f.name)
	}
	parsed := slices.Clone(manifestFields)
	for _, name := range reconcileFields {
		parsed = append(parsed, "reconcile."+name)
	}
	slices.Sort(named)
	slices.Sort(parsed)
	if diff := cmp.Diff(parsed, named); diff != "" {
		t.Errorf("describe every field that is parsed in referenceFields (-parsed +documented):\n%s", diff)
	}
	got := referencePage(t)
	path := filepath.Join("..", "docs", "manifest-reference.md")
	if os.Getenv("UPDATE_DOCS") != "" {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("docs/manifest-reference.md is stale; run `make docs` (-page +parser):\n%s", diff)
	}
}

// loaded returns the resource of a text that the parser must accept.
func loaded(t *testing.T, text string) resource.Desired {
	t.Helper()
	set, err := Load(Options{Stdin: strings.NewReader(text)}, "-")
	if err != nil {
		t.Fatalf("the example is refused: %v\n%s", err, text)
	}
	for _, d := range set.Resources {
		if d.Name == "acc1" || strings.HasSuffix(d.Name, "telemetry") {
			return d
		}
	}
	return set.Resources[0]
}

// refusal returns the parser's issue for a field that it must refuse.
func refusal(t *testing.T, text string) string {
	t.Helper()
	_, err := Load(Options{Stdin: strings.NewReader(withField(text))}, "-")
	var issues Issues
	if !errors.As(err, &issues) {
		t.Fatalf("%s is not refused", text)
	}
	return issues[0].Path + ": " + issues[0].Message
}

var allowedWords = regexp.MustCompile(`allowed: ([a-z, -]+)$`)

// allowedValues returns the allowed words of a field from the parser's message.
func allowedValues(t *testing.T, name string) []string {
	t.Helper()
	parts := allowedWords.FindStringSubmatch(refusal(t, "reconcile: {"+strings.TrimPrefix(name, "reconcile.")+": no-such-word}"))
	if parts == nil {
		t.Fatalf("%s names no allowed words", name)
	}
	return strings.Split(parts[1], ", ")
}

func referencePage(t *testing.T) string {
	t.Helper()
	var page strings.Builder
	page.WriteString(referenceIntro)
	base := loaded(t, strings.Join(referenceBase, "\n")+"\n"+referenceOther)
	for _, f := range referenceFields() {
		fmt.Fprintf(&page, "\n### `%s`\n\n%s\n\n| | |\n|---|---|\n| type | %s |\n", f.name, f.effect, f.kind)
		initial := ""
		if f.kind == "one of a few words" {
			list := allowedValues(t, f.name)
			initial = list[0]
			fmt.Fprintf(&page, "| allowed | `%s` |\n", strings.Join(list, "`, `"))
		}
		if f.initial != nil {
			initial = f.initial(base)
		}
		switch {
		case f.required:
			page.WriteString("| default | none: required |\n")
		case initial == "":
			page.WriteString("| default | none |\n")
		default:
			fmt.Fprintf(&page, "| default | `%s` |\n", initial)
		}
		loaded(t, withField(f.example))
		fmt.Fprintf(&page, "\n```yaml\n%s\n```\n\nRefused:\n\n| written | error |\n|---|---|\n", f.example)
		for _, bad := range f.bad {
			fmt.Fprintf(&page, "| %s | %s |\n", cell(bad), strings.ReplaceAll(escapePipes(refusal(t, bad)), "<", "&lt;"))
		}
	}
	page.WriteString(referenceBounds(t))
	return page.String()
}

func cell(text string) string {
	return "`" + strings.ReplaceAll(escapePipes(text), "\n", "`<br>`") + "`"
}

func escapePipes(text string) string { return strings.ReplaceAll(text, "|", "\\|") }

// short returns a duration without units of zero.
func short(d time.Duration) string {
	return strings.TrimSuffix(strings.TrimSuffix(d.String(), "0s"), "0m")
}
