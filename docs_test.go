package armature_test

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

// notTried is what the page says of a reason that is not waited on.
const notTried = "-"

// TestEveryReasonIsExplained holds that the page has each reason of the code once,
// no other, and says of each what it means, who acts, what to do, and how soon it
// is tried again.
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
		t.Errorf("%s has not the reasons of the code (-code +page):\n%s", troubleshooting, diff)
	}
	for reason, section := range sections {
		for _, part := range []string{"Means", "Who acts", "Do", "Tried again"} {
			if !strings.Contains(section, "\n- **"+part+"**: ") {
				t.Errorf("%s does not say %q", reason, part)
			}
		}
		class := regexp.MustCompile(`\*\*Tried again\*\*: (.*)`).FindStringSubmatch(section)
		if want := triedAgain(resource.Reason(reason)); len(class) != 2 || class[1] != want {
			t.Errorf("%s is tried again %q on the page, %q by the code", reason, class, want)
		}
	}
}

// triedAgain returns the class of a reason, or the class that its verdicts carry.
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

// reasonSections are the sections of the page, by the reason in their headings.
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

// TestCodesOfAzureAreJudgedAsThePageSays compares the page's table of codes with
// the table of the ARM client.
func TestCodesOfAzureAreJudgedAsThePageSays(t *testing.T) {
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
			t.Errorf("%s is %s on the page, %s by the code", row[1], row[2], got)
		}
	}
}

// TestGlossaryHasTheWords holds that the words which the concepts set in italics
// stand in the glossary, and that this is in order.
func TestGlossaryHasTheWords(t *testing.T) {
	var words []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|]+) \|`).FindAllStringSubmatch(read(t, "docs/glossary.md"), -1)[1:] {
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
		t.Errorf("the concepts set %d words in italics, want their words there", len(italics))
	}
	for _, match := range italics {
		if !slices.Contains(words, match[1]) && !slices.Contains(words, strings.TrimSuffix(match[1], "s")) {
			t.Errorf("the glossary lacks %q", match[1])
		}
	}
}

// TestLinksLead holds that what the pages link to, or show, is there.
func TestLinksLead(t *testing.T) {
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
				t.Errorf("%s links to %s, which is not there", page, match[1])
				continue
			}
			if anchor != "" && strings.HasSuffix(path, ".md") && !slices.Contains(anchors(read(t, path)), anchor) {
				t.Errorf("%s links to %s, which has no such heading", page, match[1])
			}
		}
	}
}

// maxPicture is how large a picture of the docs may be, in bytes.
const maxPicture = 150_000

// TestPicturesAreShown holds that each picture is small and stands on a page.
func TestPicturesAreShown(t *testing.T) {
	pictures, err := filepath.Glob("docs/images/*")
	if err != nil || len(pictures) == 0 {
		t.Fatalf("there are no pictures: %v", err)
	}
	for _, picture := range pictures {
		info, err := os.Stat(picture)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > maxPicture {
			t.Errorf("%s has %d bytes, want at most %d", picture, info.Size(), maxPicture)
		}
		shown := slices.ContainsFunc(docPages(t), func(page string) bool {
			return strings.Contains(read(t, page), "images/"+filepath.Base(picture)+")")
		})
		if !shown {
			t.Errorf("no page shows %s", picture)
		}
	}
}

// anchors are the names that GitHub gives the headings of a page.
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
	for _, pattern := range []string{"docs/*.md", "docs/decisions/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("no page is %s: %v", pattern, err)
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

// TestEveryGuardIsExplained holds that docs/safety.md names every test of a guard,
// and none that there is not.
func TestEveryGuardIsExplained(t *testing.T) {
	name := regexp.MustCompile(`\bTestGuard\w+`)
	var there []string
	for _, pattern := range []string{"activities/*_test.go", "dev/e2e/*_test.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			for _, found := range regexp.MustCompile(`(?m)^func (TestGuard\w+)\(`).FindAllStringSubmatch(read(t, file), -1) {
				there = append(there, found[1])
			}
		}
	}
	slices.Sort(there)
	explained := name.FindAllString(read(t, "docs/safety.md"), -1)
	slices.Sort(explained)
	if diff := cmp.Diff(there, slices.Compact(explained)); diff != "" {
		t.Errorf("docs/safety.md has not the tests of the guards (-code +page):\n%s", diff)
	}
}
