package text

import "testing"

func TestPrintable(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ reason, text, printable, line, name string }{
		"plain":   {reason: "nothing changes", text: "Größe 角色 a'[0]", printable: "Größe 角色 a'[0]", line: "Größe 角色 a'[0]", name: "Größe 角色 a'[0]"},
		"escape":  {reason: "a terminal would run the sequence", text: "a\x1b[2Jb", printable: "a[2Jb", line: "a[2Jb", name: `"a\x1b[2Jb"`},
		"C1":      {reason: "one character that begins a sequence", text: "a\u009b2Jb", printable: "a2Jb", line: "a2Jb", name: `"a\u009b2Jb"`},
		"line":    {reason: "a name must not begin a line", text: "a\n::error::b", printable: "a::error::b", line: "a ::error::b", name: `"a\n::error::b"`},
		"bidi":    {reason: "text would read backwards", text: "a\u202eb\u2066c", printable: "abc", line: "abc", name: `"a\u202eb\u2066c"`},
		"zero":    {reason: "two names would look the same", text: "a\u200bb\ufeff", printable: "ab", line: "ab", name: `"a\u200bb\ufeff"`},
		"tag":     {reason: "hidden text beyond the basic plane", text: "a\U000e0041", printable: "a", line: "a", name: `"a\U000e0041"`},
		"invalid": {reason: "no UTF-8", text: "a\xffb", printable: "ab", line: "ab", name: `"a\xffb"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Printable(c.text); got != c.printable {
				t.Errorf("%s: Printable is %q, want %q", c.reason, got, c.printable)
			}
			if got := OneLine(c.text); got != c.line {
				t.Errorf("%s: OneLine is %q, want %q", c.reason, got, c.line)
			}
			if got := Name(c.text); got != c.name {
				t.Errorf("%s: Name is %q, want %q", c.reason, got, c.name)
			}
		})
	}
}
