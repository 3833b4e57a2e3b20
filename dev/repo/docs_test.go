package repo

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
)

// troubleshooting is the page that has all reasons.
const troubleshooting = "docs/troubleshooting.md"

// notTried is the retry class on the page for a reason that ends no wait.
const notTried = "-"

// TestEveryReasonIsExplained checks that the page has each reason of the code once
// and no other, each with its meaning, who acts, the remedy, and how soon it is
// tried again.
func TestEveryReasonIsExplained(t *testing.T) {
	sections := reasonSections(t)
	var want, got []string
	for _, info := range resource.Reasons() {
		want = append(want, string(info.Reason))
	}
	for reason := range sections {
		got = append(got, reason)
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s and the code list different reasons (-code +page):\n%s", troubleshooting, diff)
	}
	for reason, section := range sections {
		for _, part := range []string{"Means", "Who acts", "Do", "Retry"} {
			if !strings.Contains(section, "\n- **"+part+"**: ") {
				t.Errorf("%s lacks the line %q", reason, part)
			}
		}
		class := regexp.MustCompile(`\*\*Retry\*\*: (.*)`).FindStringSubmatch(section)
		if want := triedAgain(resource.Reason(reason)); len(class) != 2 || class[1] != want {
			t.Errorf("%s: tried again is %q on the page, %q in the code", reason, class, want)
		}
	}
}

// triedAgain returns the retry class of a reason as the page writes it.
func triedAgain(reason resource.Reason) string {
	i := slices.IndexFunc(resource.Reasons(), func(info resource.ReasonInfo) bool { return info.Reason == reason })
	switch {
	case i >= 0 && resource.Reasons()[i].RetryClass == "":
		return notTried
	case reason == resource.ReasonAlreadyExists:
		return string(resource.RetryNone)
	}
	return string(reason.Class())
}

// reasonSections returns the sections of the page by the reason in the heading.
func reasonSections(t *testing.T) map[string]string {
	t.Helper()
	sections := map[string]string{}
	for _, section := range strings.Split(read(t, troubleshooting), "\n### ")[1:] {
		heading, text, _ := strings.Cut(section, "\n")
		reason := strings.Trim(heading, "`")
		if sections[reason] != "" {
			t.Errorf("%s is explained twice", reason)
		}
		text, _, _ = strings.Cut(text, "\n## ")
		sections[reason] = "\n" + text
	}
	return sections
}

// TestAzureCodesMatchThePage compares the page's table of error codes with the
// table of the ARM client.
func TestAzureCodesMatchThePage(t *testing.T) {
	shown := map[arm.Class]string{
		arm.ClassSlow: "Slow", arm.ClassVerySlow: "VerySlow", arm.ClassNone: "None", arm.ClassConflict: "Slow", arm.ClassFast: "Fast",
	}
	rows := regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (\\w+) \\|").FindAllStringSubmatch(read(t, troubleshooting), -1)
	if len(rows) < 10 {
		t.Fatalf("the table of codes has %d rows", len(rows))
	}
	for _, row := range rows {
		failure := &arm.Error{Status: 400, Code: row[1]}
		if got := shown[failure.Row().Class]; got != row[2] {
			t.Errorf("%s is %s on the page, %s in the code", row[1], row[2], got)
		}
	}
}

// TestGlossaryIsComplete checks that the glossary has every term that the concepts
// set in italics, in alphabetical order.
func TestGlossaryIsComplete(t *testing.T) {
	_, glossary, found := strings.Cut(read(t, troubleshooting), "\n## Words\n")
	if !found {
		t.Fatalf("%s has no section of words", troubleshooting)
	}
	var words []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|]+) \|`).FindAllStringSubmatch(glossary, -1)[1:] {
		words = append(words, row[1])
	}
	sorted := slices.SortedFunc(slices.Values(words), func(a, b string) int {
		return strings.Compare(strings.ToLower(a), strings.ToLower(b))
	})
	if diff := cmp.Diff(sorted, words); diff != "" {
		t.Errorf("the glossary is not in order (-order +page):\n%s", diff)
	}
	italics := regexp.MustCompile(`(?m)(?:^|[ (])\*(\w[\w -]*)\*[ .,:;)]`).FindAllStringSubmatch(read(t, "docs/concepts.md"), -1)
	if len(italics) < 5 {
		t.Errorf("the concepts set %d terms in italics, want at least 5", len(italics))
	}
	for _, match := range italics {
		isTerm := func(term string) bool {
			return strings.EqualFold(term, match[1]) || strings.EqualFold(term, strings.TrimSuffix(match[1], "s"))
		}
		if !slices.ContainsFunc(words, isTerm) {
			t.Errorf("the glossary lacks %q", match[1])
		}
	}
}

// TestLinksResolve checks that files, pictures and headings behind links exist.
func TestLinksResolve(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	for _, page := range docPages(t) {
		for _, match := range link.FindAllStringSubmatch(read(t, page), -1) {
			target, anchor, _ := strings.Cut(match[1], "#")
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			path := page
			if target != "" {
				path = filepath.Join(filepath.Dir(page), target)
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s links to %s, which does not exist", page, match[1])
				continue
			}
			if anchor != "" && strings.HasSuffix(path, ".md") && !slices.Contains(anchors(read(t, path)), anchor) {
				t.Errorf("%s links to %s, which has no such heading", page, match[1])
			}
		}
	}
}

// Bounds of the pages for users. The index docs/README.md is not counted.
const (
	maxReadmeLines = 120
	maxPageWords   = 2_500
	maxUserPages   = 20
)

// longPages are pages in which readers look up one entry. Three are generated.
var longPages = []string{
	"docs/cli-reference.md", "docs/config-reference.md", "docs/manifest-reference.md", troubleshooting,
}

// TestPagesForUsersAreShort checks the length of the README and of each page for users, and
// the number of these pages.
func TestPagesForUsersAreShort(t *testing.T) {
	if lines := strings.Count(read(t, "README.md"), "\n"); lines > maxReadmeLines {
		t.Errorf("README.md has %d lines, want at most %d", lines, maxReadmeLines)
	}
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	pages = slices.DeleteFunc(pages, func(page string) bool { return page == "docs/README.md" })
	if len(pages) == 0 || len(pages) > maxUserPages {
		t.Errorf("there are %d pages for users, want at most %d; pages for contributors belong in docs/contributing", len(pages), maxUserPages)
	}
	for _, page := range pages {
		if words := len(strings.Fields(read(t, page))); words > maxPageWords && !slices.Contains(longPages, page) {
			t.Errorf("%s has %d words, want at most %d", page, words, maxPageWords)
		}
	}
}

// maxPictureBytes is the largest size of a picture in the docs.
const maxPictureBytes = 150_000

// TestPicturesAreShown checks that each picture is small and used by a page.
func TestPicturesAreShown(t *testing.T) {
	pictures, err := filepath.Glob("docs/images/*")
	if err != nil || len(pictures) == 0 {
		t.Fatalf("find pictures: %v", err)
	}
	for _, picture := range pictures {
		info, err := os.Stat(picture)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > maxPictureBytes {
			t.Errorf("%s has %d bytes, want at most %d", picture, info.Size(), maxPictureBytes)
		}
		shown := slices.ContainsFunc(docPages(t), func(page string) bool {
			return strings.Contains(read(t, page), "images/"+filepath.Base(picture)+")")
		})
		if !shown {
			t.Errorf("no page shows %s", picture)
		}
	}
}

// anchors returns the names that GitHub gives the headings of a page.
func anchors(page string) []string {
	var names []string
	for _, heading := range regexp.MustCompile(`(?m)^#+ +(.+)$`).FindAllStringSubmatch(page, -1) {
		name := regexp.MustCompile(`[^\w\- ]`).ReplaceAllString(strings.ToLower(heading[1]), "")
		names = append(names, strings.ReplaceAll(name, " ", "-"))
	}
	return names
}

func docPages(t *testing.T) []string {
	t.Helper()
	pages := []string{"README.md", "CONTRIBUTING.md"}
	for _, pattern := range []string{"docs/*.md", "docs/contributing/*.md", "docs/decisions/*.md", "deploy/helm/*/README.md", "deploy/audit/README.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("no page matches %s: %v", pattern, err)
		}
		pages = append(pages, found...)
	}
	return pages
}

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
