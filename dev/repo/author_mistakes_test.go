package repo

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// mistakeRow is a row of docs/author-mistakes.md: the last cell names a test, and mostly a
// case of its table, or none.
var mistakeRow = regexp.MustCompile(`(?m)^\| [^|]+ \| [^|]+ \| [^|]+ \| (none|(Test\w+)(?: \("([^"]+)"\))?) \|$`)

// minMistakes is the number of mistakes that the page has at least, maxUnreported the number
// of those that nothing reports before production.
const (
	minMistakes   = 40
	maxUnreported = 2
)

// TestAuthorMistakesExist checks that every test that docs/author-mistakes.md names exists,
// with its case, and that almost every mistake has one.
func TestAuthorMistakesExist(t *testing.T) {
	page, err := os.ReadFile("docs/author-mistakes.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := mistakeRow.FindAllStringSubmatch(string(page), -1)
	if lines := strings.Count(string(page), "\n| ") - 2; len(rows) != lines {
		t.Errorf("%d rows have a test or none, of %d", len(rows), lines)
	}
	unreported := 0
	for _, row := range rows {
		if row[1] == "none" {
			unreported++
			continue
		}
		out, err := exec.Command("git", "grep", "-l", "^func "+row[2]+"(", "--", "*_test.go").Output()
		if err != nil {
			t.Errorf("test %s does not exist", row[2])
			continue
		}
		file := strings.TrimSpace(string(out))
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), `"`+row[3]+`"`) && row[3] != "" {
			t.Errorf("%s has no case %q", file, row[3])
		}
	}
	if len(rows) < minMistakes || unreported > maxUnreported {
		t.Errorf("%d mistakes, %d of them unreported; want at least %d, and at most %d", len(rows), unreported, minMistakes, maxUnreported)
	}
}
