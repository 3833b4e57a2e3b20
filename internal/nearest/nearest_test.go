package nearest

import "testing"

func TestMatch(t *testing.T) {
	t.Parallel()
	known := []string{"interval", "timeout", "policy", "log.level", "ab"}
	cases := map[string]struct {
		reason, name, want string
	}{
		"a letter is missing":     {reason: "one deletion", name: "intrval", want: "interval"},
		"neighbors are swapped":   {reason: "a swap counts as one edit", name: "timeuot", want: "timeout"},
		"another case":            {reason: "case does not count", name: "POLICI", want: "policy"},
		"a third differs":         {reason: "the limit grows with the name", name: "log.levalx", want: "log.level"},
		"one edit of a short one": {reason: "one edit is always allowed", name: "b", want: "ab"},
		"too far":                 {reason: "a wrong suggestion is worse than none", name: "colour", want: ""},
		"empty":                   {reason: "no name, no suggestion", name: "", want: ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Match(tc.name, known); got != tc.want {
				t.Errorf("Match(%q) = %q, want %q: %s", tc.name, got, tc.want, tc.reason)
			}
		})
	}
}

func TestSuggest(t *testing.T) {
	t.Parallel()
	if got, want := Suggest("wen", []string{"when"}), " (did you mean when?)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := Suggest("colour", []string{"when"}); got != "" {
		t.Errorf("got %q, want no suggestion", got)
	}
}
