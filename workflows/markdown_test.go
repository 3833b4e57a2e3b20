package workflows

import "testing"

//guard:texts-are-data
func TestPlain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ reason, text, inert, plain string }{
		"words":     {reason: "ordinary texts stay", text: "sku.name: S1, not S2 (by ada@host at 10:00)", inert: "sku.name: S1, not S2 (by ada@host at 10:00)", plain: "sku.name: S1, not S2 (by ada@host at 10:00)"},
		"backslash": {reason: "a backslash escapes no escape", text: `\[a](b)`, inert: `\[a]; (b)`, plain: `&#92;\[a\]; (b)`},
		"blank":     {reason: "a renderer allows blanks before the target", text: "![a]  (b)", inert: "![a]; (b)", plain: `!\[a\]; (b)`},
		"url":       {reason: "a bare URL is a link", text: "see HTTPS://evil.example and http://x", inert: "see HTTPS: //evil.example and http: //x", plain: "see HTTPS: //evil.example and http: //x"},
		"host":      {reason: "so is a host", text: "www.evil.example", inert: "www .evil.example", plain: "www .evil.example"},
		"address":   {reason: "so is an address", text: "a@b.c@d.e mailto:x", inert: "a @b.c @d.e mailto :x", plain: "a @b.c @d.e mailto :x"},
		"heading":   {reason: "a line break begins a block", text: "Oops\n\n# Action needed\r| a |", inert: "Oops # Action needed | a |", plain: `Oops \# Action needed \| a \|`},
		"html":      {reason: "HTML passes", text: "<b>x</b> <!-- a<b", inert: "< b>x< /b> < !-- a< b", plain: "&lt;b&gt;x&lt;/b&gt; &lt;!-- a&lt;b"},
		"hidden":    {reason: "a dropped character joins what it splits", text: "http:\u200b//x", inert: "http: //x", plain: "http: //x"},
		"marks":     {reason: "emphasis, code and formulas", text: "*a* _b_ `c` ~~d~~ $$e$$ &lt;", inert: "*a* _b_ `c` ~~d~~ $$e$$ &lt;", plain: `\*a\* \_b\_ 'c' \~\~d\~\~ \$\$e\$\$ &amp;lt;`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := inert(c.text); got != c.inert {
				t.Errorf("%s: inert is %q, want %q", c.reason, got, c.inert)
			}
			if got := plain(c.text); got != c.plain {
				t.Errorf("%s: plain is %q, want %q", c.reason, got, c.plain)
			}
		})
	}
}
