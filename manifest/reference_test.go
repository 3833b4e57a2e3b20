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
	for _, f := range Fields() {
		named = append(named, f.Name)
		if f.Effect == "" || regexp.MustCompile(`\{[A-Za-z]+\}`).MatchString(f.Effect) {
			t.Errorf("fields.md describes %s as %q, want a text with every bound", f.Name, f.Effect)
		}
	}
	if described := strings.Count(effects, "\n## "); described != len(named) {
		t.Errorf("fields.md describes %d fields, want the %d of Fields", described, len(named))
	}
	parsed := slices.Clone(manifestFields)
	for _, name := range reconcileFields {
		parsed = append(parsed, "reconcile."+name)
	}
	slices.Sort(named)
	slices.Sort(parsed)
	if diff := cmp.Diff(parsed, named); diff != "" {
		t.Errorf("describe every field that is parsed in Fields (-parsed +documented):\n%s", diff)
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
	_, err := Load(Options{
		Stdin:   strings.NewReader(withField(text)),
		Managed: func([]string) ([]Managed, error) { return nil, nil },
	}, "-")
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
	cases := referenceCases()
	for _, f := range Fields() {
		c := cases[f.Name]
		fmt.Fprintf(&page, "\n### `%s`\n\n%s\n\n| | |\n|---|---|\n| type | %s |\n", f.Name, f.Effect, f.Kind)
		initial := ""
		if f.Kind == KindChoice {
			list := allowedValues(t, f.Name)
			if diff := cmp.Diff(list, f.Allowed); diff != "" {
				t.Errorf("the words of %s (-parsed +described):\n%s", f.Name, diff)
			}
			initial = list[0]
			fmt.Fprintf(&page, "| allowed | `%s` |\n", strings.Join(list, "`, `"))
		}
		if c.initial != nil {
			initial = c.initial(base)
		}
		switch {
		case f.Required:
			page.WriteString("| default | none: required |\n")
		case initial == "":
			page.WriteString("| default | none |\n")
		default:
			fmt.Fprintf(&page, "| default | `%s` |\n", initial)
		}
		loaded(t, withField(c.example))
		fmt.Fprintf(&page, "\n```yaml\n%s\n```\n\nRefused:\n\n| written | error |\n|---|---|\n", c.example)
		for _, bad := range c.bad {
			fmt.Fprintf(&page, "| %s | %s |\n", cell(bad), strings.ReplaceAll(escapePipes(refusal(t, bad)), "<", "&lt;"))
		}
	}
	section, err := os.ReadFile(filepath.Join("testdata", "what-a-put-sends.md"))
	if err != nil {
		t.Fatal(err)
	}
	page.Write(section)
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
