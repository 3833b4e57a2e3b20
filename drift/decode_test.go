package drift_test

import (
	"strings"
	"testing"

	"github.com/armature-io/armature/drift"
)

func TestDecodeRefuses(t *testing.T) {
	nested := func(depth int) string {
		return strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth)
	}
	cases := map[string]struct {
		reason, text string
		// want is part of the error, "" for none.
		want string
	}{
		"Object":        {"the plain case", `{"a":[{"b":1},{"b":2}],"c":{"b":3}}`, ""},
		"Empty":         {"an absent resource has no body", "  \n", ""},
		"List":          {"a body is not a list", `[{"a":1}]`, "decode desired body: it is a list, not a JSON object"},
		"String":        {"nor a string", ` "a"`, "it is a string, not a JSON object"},
		"Number":        {"nor a number", `-1`, "it is a number"},
		"Null":          {"nor null", `null`, "it is null"},
		"Boolean":       {"nor a boolean", `true`, "it is a boolean"},
		"HTML":          {"a proxy's error page", `<html>`, "it is no JSON"},
		"Twice":         {"it is undefined which value counts", `{"a":1,"a":2}`, `"a" is stated twice`},
		"TwiceBelow":    {"at any depth, in lists too", `{"x":[{"y":{"a":1,"b":[],"a":{}}}]}`, `"x.y.a" is stated twice`},
		"OtherCase":     {"tags may differ by case alone", `{"a":1,"A":2}`, ""},
		"SameNameApart": {"one name in two objects", `{"a":{"n":1},"b":{"n":1}}`, ""},
		"Cut":           {"half a body", `{"a":[1`, "unexpected EOF"},
		"After":         {"more than one document", `{"a":1}{"b":2}`, "after the JSON object"},
		"Depth":         {"the deepest body that is accepted", nested(drift.MaxDepth), ""},
		"TooDeep":       {"one level more", nested(drift.MaxDepth + 1), "more than 100 levels deep"},
		"Depth1000":     {"far deeper than any valid body", nested(1000), `more than 100 levels deep at "a.a.a.a"`},
		"Lists1000":     {"lists count as well", `{"a":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + "}", "more than 100 levels deep"},
		"10MB":          {"larger than ARM accepts", `{"a":"` + strings.Repeat("x", 10<<20) + `"}`, "it has 10485768 bytes, more than 4194304"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			large := strings.Contains(c.want, "levels deep") || strings.Contains(c.want, "more than 4194304")
			if drift.Bounded([]byte(c.text)) == large {
				t.Errorf("%s: within the bounds is %t", c.reason, !large)
			}
			decoded, err := drift.Decode("desired", []byte(c.text))
			switch {
			case c.want == "" && err != nil:
				t.Errorf("%s: refused: %v", c.reason, err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%s: error %.200v, want %q", c.reason, err, c.want)
			case err != nil && (decoded != nil || len(err.Error()) > 300):
				t.Errorf("%s: a body of %d members with an error of %d bytes", c.reason, len(decoded), len(err.Error()))
			}
		})
	}
}
