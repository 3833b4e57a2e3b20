package docs

import (
	"regexp"
	"strings"
	"testing"
)

// minCutLine is how many bytes of a cut line at least have to agree with a page.
const minCutLine = 80

// masks replace what may differ between a page and a run, in this order.
var masks = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`\x1b\[[0-9;]*[A-Za-z]`), ""},
	// How old a reading is: a table may cut it anywhere.
	{regexp.MustCompile(`\s*\((r|re|rea|read[^)]*)(\)|…)`), ""},
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "ID"},
	// How often a decision was repeated: a table may cut it anywhere, too.
	{regexp.MustCompile(`\s*\(\d+( (t|ti|tim|time|times)?)?(\)|…)`), ""},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]?`), ""},
	{regexp.MustCompile(`\d{1,2}:\d\d:\d\d(\.\d+)?( ?UTC|Z)?`), "TIME"},
	{regexp.MustCompile(`\b(\d+(\.\d+)?(ms|µs|s|m|h|d))+\b`), "AGE"},
	{regexp.MustCompile(`\b((in|within) AGE|now|due)\b`), "SOON"},
	{regexp.MustCompile(`\d+`), "N"},
	{regexp.MustCompile(`\s+`), " "},
}

func masked(line string) string {
	for _, mask := range masks {
		line = mask.pattern.ReplaceAllString(line, mask.with)
	}
	return strings.TrimSpace(line)
}

// lacking returns the first line of a page that a run did not write after the lines
// before it, or "".
func lacking(shown, written []string) string {
	rest := written
	for _, line := range shown {
		want := masked(line)
		if want == "" || want == "..." {
			continue
		}
		found := false
		for i, other := range rest {
			if shows(want, other) {
				rest, found = rest[i+1:], true
				break
			}
		}
		if !found {
			return line
		}
	}
	return ""
}

// shows reports whether a written line is the masked line of a page: the same, or its
// beginning where the command cut the line.
func shows(want, written string) bool {
	line := masked(written)
	begin, cut := strings.CutSuffix(strings.TrimSpace(written), "…")
	if !cut || len(begin) < minCutLine {
		return line == want
	}
	return strings.HasPrefix(want, strings.TrimSpace(strings.TrimSuffix(line, "…")))
}

func TestLacking(t *testing.T) {
	long := "pass 4 CheckOwner Block ReconciliationBlocked: " + strings.Repeat("the owner is busy ", 3)
	cases := map[string]struct {
		reason         string
		shown, written []string
		want           string
	}{
		"ages":       {reason: "they differ from run to run", shown: []string{"adx  Blocked  6s  in 3s"}, written: []string{"adx Blocked 1m5s  in 200ms"}},
		"due":        {reason: "the next try may be just now", shown: []string{"adx  6s  in 3s"}, written: []string{"adx  6s  now"}},
		"times":      {reason: "times differ from run to run", shown: []string{"since 12:01:40"}, written: []string{"since 07:59:03"}},
		"more lines": {reason: "pages show a part", shown: []string{"b"}, written: []string{"a", "b", "c"}},
		"a gap":      {reason: "dots mark the gap", shown: []string{"a", "...", "c"}, written: []string{"a", "b", "c"}},
		"readings":   {reason: "how old one is differs, and a table cuts it", shown: []string{`is "Updating" (read now)`}, written: []string{`is "Updating" (rea…`}},
		"repeats":    {reason: "a slow run repeats a decision", shown: []string{"pass 4 Block"}, written: []string{"pass 10 Block (7 times)"}},
		"cut lines":  {reason: "how old a reading is decides where a line is cut", shown: []string{long + ` (read now) [azure.Thing]`}, written: []string{long + " (read 18s ago) [azu…"}},
		"cut within": {reason: "a page shows the whole line", shown: []string{long + ` (read now) [azure.Thing]`}, written: []string{long + " (re…"}},
		"cut count":  {reason: "a slow run repeats a decision, and a table cuts the count", shown: []string{long + " [azure.Thing]"}, written: []string{long + " [azure.Thing] (7 tim…"}},
		"cut early":  {reason: "a few words are no line", shown: []string{"pass 4 Block"}, written: []string{"pass…"}, want: "pass 4 Block"},
		"cut other":  {reason: "the beginning is compared", shown: []string{long + " [azure.Thing]"}, written: []string{long + " [rules…"}, want: long + " [azure.Thing]"},
		"lines lack": {reason: "a page must not show what is not written", shown: []string{"a", "b"}, written: []string{"a"}, want: "b"},
		"order":      {reason: "lines of another order are a difference", shown: []string{"b", "a"}, written: []string{"a", "b"}, want: "a"},
		"a word":     {reason: "words are compared", shown: []string{"adx  Ready"}, written: []string{"adx  Blocked"}, want: "adx  Ready"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := lacking(tc.shown, tc.written); got != tc.want {
				t.Errorf("lacking = %q, want %q: %s", got, tc.want, tc.reason)
			}
		})
	}
}
