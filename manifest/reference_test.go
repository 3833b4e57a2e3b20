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

// described is what the page says of one field. What can be asked of the parser
// is not written here: defaults, allowed words and refusals are what it answers.
type described struct {
	// name is the field, or "reconcile.field".
	name string
	kind string
	// needed: a manifest without it is refused.
	needed bool
	// initial reads the default of a manifest that does not state the field.
	initial func(d resource.Desired) string
	effect  string
	// example and bad are the field as it is written; each bad one is refused.
	example string
	bad     []string
}

// referenceBase is a manifest to which one field is laid; vnet1 is beside it.
var referenceBase = []string{
	"type: Microsoft.Storage/storageAccounts@2023-01-01",
	"name: acc1",
	"owner: " + group,
	"body: {location: westus2}",
}

const referenceOther = "---\ntype: Microsoft.Network/virtualNetworks@2023-05-01\nname: vnet1\nowner: " + group + "\nbody: {location: westus2}\n"

// laid is the base with one field as it is written in text.
func laid(text string) string {
	key, _, _ := strings.Cut(text, ":")
	lines := slices.DeleteFunc(slices.Clone(referenceBase), func(line string) bool { return strings.HasPrefix(line, key+":") })
	return strings.Join(append(lines, text), "\n") + "\n" + referenceOther
}

// TestReference holds docs/manifest-reference.md to the parser: its fields,
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
		t.Errorf("describe every field that is parsed in referenceFields (-parsed +described):\n%s", diff)
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

// loaded is the base with one field, read; it must be taken.
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

// refusal is what the parser says of a field that it must refuse.
func refusal(t *testing.T, text string) string {
	t.Helper()
	_, err := Load(Options{Stdin: strings.NewReader(laid(text))}, "-")
	var faults Issues
	if !errors.As(err, &faults) {
		t.Fatalf("%s is not refused", text)
	}
	return faults[0].Path + ": " + faults[0].Message
}

var allowedWords = regexp.MustCompile(`allowed: ([a-z, -]+)$`)

// words are the allowed words of a field, as the parser names them.
func words(t *testing.T, name string) []string {
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
			list := words(t, f.name)
			initial = list[0]
			fmt.Fprintf(&page, "| allowed | `%s` |\n", strings.Join(list, "`, `"))
		}
		if f.initial != nil {
			initial = f.initial(base)
		}
		switch {
		case f.needed:
			page.WriteString("| default | none: it must be stated |\n")
		case initial == "":
			page.WriteString("| default | none |\n")
		default:
			fmt.Fprintf(&page, "| default | `%s` |\n", initial)
		}
		loaded(t, laid(f.example))
		fmt.Fprintf(&page, "\n```yaml\n%s\n```\n\nRefused:\n\n| written | the answer |\n|---|---|\n", f.example)
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

// short is a duration without units of zero.
func short(d time.Duration) string {
	return strings.TrimSuffix(strings.TrimSuffix(d.String(), "0s"), "0m")
}
