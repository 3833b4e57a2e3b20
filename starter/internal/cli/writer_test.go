package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"
)

// TestWriterDropsWhatActsOnATerminal checks that only what an Ink marks acts on a
// terminal or on a CI system.
func TestWriterDropsWhatActsOnATerminal(t *testing.T) {
	t.Parallel()
	ink := NewInk().WithColors(true)
	for name, c := range map[string]struct{ reason, text, want string }{
		"plain":        {reason: "text of any language passes", text: "Größe\t角色 €\n", want: "Größe\t角色 €\n"},
		"own color":    {reason: "a color of Armature", text: ink.Paint(text.FgGreen, "Ready") + "\n", want: "\x1b[32mReady\x1b[0m\n"},
		"own cursor":   {reason: "a redrawn block", text: ink.Control("\x1b[12A") + ink.Control("\r") + ink.Control("\x1b[J") + "x", want: "\x1b[12A\r\x1b[Jx"},
		"own link":     {reason: "an address that a terminal opens", text: ink.Link("http://a/?b=c%20d") + "\n", want: "\x1b]8;;http://a/?b=c%20d\x1b\\http://a/?b=c%20d\x1b]8;;\x1b\\\n"},
		"bad link":     {reason: "an address cannot end its own sequence", text: ink.Control("\x1b]8;;a\x07b\x1b\\") + ink.Control("\x1b]8;;a b\x1b\\"), want: "]8;;ab\\]8;;a b\\"},
		"long link":    {reason: "a hyperlink has a bound", text: ink.Control("\x1b]8;;" + strings.Repeat("1", maxLink) + "\x1b\\"), want: "]8;;" + strings.Repeat("1", maxLink) + "\\"},
		"open color":   {reason: "a cut color ends with its line", text: ink.Control("\x1b[31m") + "a\nb", want: "\x1b[31ma\x1b[0m\nb"},
		"color":        {reason: "without a mark it is somebody else's", text: "a\x1b[32mb", want: "a[32mb"},
		"title":        {reason: "OSC sets the title of a terminal", text: "a\x1b]0;PWN\x07b", want: "a]0;PWNb"},
		"C1":           {reason: "CSI in one character", text: "a\u009b2Jb\u0085c", want: "a2Jbc"},
		"C1 raw":       {reason: "CSI in one byte is no UTF-8", text: "a\x9b2Jb\xff", want: "a2Jb"},
		"bidi":         {reason: "text would read backwards", text: "a\u202eb\u2069\u200f", want: "ab"},
		"return":       {reason: "a line would be overwritten", text: "a\rb\bc", want: "abc"},
		"marked other": {reason: "a mark lets the known sequences pass only", text: ink.Control("\x1b]0;x\x07") + ink.Control("\x1b[5n") + ink.Control("x"), want: "]0;x[5nx"},
		"long":         {reason: "a sequence has a bound", text: ink.Control("\x1b[" + strings.Repeat("1", 40) + "m"), want: "[" + strings.Repeat("1", 40) + "m"},
		"own command":  {reason: "an annotation of Armature", text: ink.Control("::") + "error file=a::b\n", want: "::error file=a::b\n"},
		"command":      {reason: "GitHub Actions runs a line that begins so", text: "a\n \u00a0\t::error::b\n", want: "a\n \u00a0\t: :error::b\n"},
		"in a line":    {reason: "it does not run this", text: "a ::error::b::\n", want: "a ::error::b::\n"},
		"hidden":       {reason: "a dropped character does not hide it", text: ":\u200b:error::b", want: ": :error::b"},
		"vso":          {reason: "Azure Pipelines runs this anywhere in a line", text: "a ##vso[task.x]##VsO[b] ##\u200b[c]", want: "a ##vso [task.x]##VsO [b] ## [c]"},
		"brackets":     {reason: "paths have brackets", text: "a[0] #[1] # #[2]", want: "a[0] #[1] # #[2]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var whole, bytewise bytes.Buffer
			if _, err := NewWriter(&whole, ink).Write([]byte(c.text)); err != nil || whole.String() != c.want {
				t.Errorf("%s: %q, want %q (%v)", c.reason, &whole, c.want, err)
			}
			w := NewWriter(&bytewise, ink)
			for i := range len(c.text) {
				if n, err := w.Write([]byte{c.text[i]}); n != 1 || err != nil {
					t.Fatal(n, err)
				}
			}
			if got := bytewise.String(); got != c.want {
				t.Errorf("byte by byte: %s: %q, want %q", c.reason, got, c.want)
			}
		})
	}
}

// TestMarksAreRandom checks that no text can contain the mark of another run.
func TestMarksAreRandom(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if _, err := NewWriter(&out, NewInk()).Write([]byte(NewInk().Control("\x1b[2J"))); err != nil || strings.Contains(out.String(), "\x1b") {
		t.Errorf("a foreign mark passed: %q %v", &out, err)
	}
	if _, err := NewWriter(&out, Ink{}).Write([]byte(Ink{}.Control("\x1b[31m"))); err != nil || strings.Contains(out.String(), "\x1b") {
		t.Errorf("an empty mark passed: %q %v", &out, err)
	}
}

// TestDocumentsAreLossless checks that what is written for programs loses nothing, and
// that the Writer changes none of it.
func TestDocumentsAreLossless(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"a\x1b[2J\x7f\u009b\u202e\u200b\U000e0041\ufeff\ufffd\u2028", "::error::x", "a\n ::error::x\n", "##vso[task.x]", "##[error]", "## [a]", "\t\r\n", "a##\u005b", "😀角色",
	} {
		checkLossless(t, s)
	}
}

// written returns what the Writer makes of a document.
func written(t *testing.T, document []byte) string {
	t.Helper()
	var out bytes.Buffer
	if _, err := NewWriter(&out, NewInk()).Write(document); err != nil || !bytes.Equal(out.Bytes(), document) {
		t.Errorf("the writer changed %q to %q: %v", document, &out, err)
	}
	return out.String()
}
