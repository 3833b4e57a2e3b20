package secrets

import (
	"encoding/base64"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/internal/testonly/canary"
)

// TestCanaries checks that each kind of secret is found in each encoding and that nothing
// else is replaced.
func TestCanaries(t *testing.T) {
	t.Parallel()
	kinds := canary.Secrets()
	characters, groups := canary.Encodings()
	if len(kinds) < 24 || len(characters)+len(groups) < 12 {
		t.Fatalf("%d kinds in %d encodings", len(kinds), len(characters)+len(groups))
	}
	all := maps.Clone(characters)
	maps.Copy(all, groups)
	const before, after = `Refused: the value "`, `" is weak (code 7).`
	for kind, c := range kinds {
		for encoding, encode := range all {
			text := before + encode(c.Value()) + after
			if got := Scrub(text, []string{"another value", c.Value()}); got != before+scrubbed+after {
				t.Errorf("%s as %s:\n text %s\n got  %s", kind, encoding, text, got)
			}
		}
	}
}

// TestCanariesInBase64 checks that a secret is found in the base64 of a longer text, at each
// of the three positions, and that the characters that have bits of the text around it only stay.
func TestCanariesInBase64(t *testing.T) {
	t.Parallel()
	for kind, c := range canary.Secrets() {
		for _, user := range []string{"", "u:", "us:", "use:", "user:"} {
			for _, more := range []string{"", "\n", ";x", ";xy"} {
				text := base64.StdEncoding.EncodeToString([]byte(user + c.Value() + more))
				begin := text[:len(user)*8/6]
				got := Scrub("data "+text+".", []string{c.Value()})
				rest, found := strings.CutPrefix(got, "data "+begin+scrubbed)
				if !found || len(rest) > (len(more)*8+5)/6+len("==.") {
					t.Errorf("%s after %q, before %q:\n text %s\n got  %s", kind, user, more, text, got)
				}
			}
		}
	}
}

// TestCanariesByForm checks that secrets which no manifest declares are found by their form,
// in each encoding of characters, and that the text around them stays.
func TestCanariesByForm(t *testing.T) {
	t.Parallel()
	characters, _ := canary.Encodings()
	for kind, c := range canary.Secrets() {
		if !c.Form {
			continue
		}
		for encoding, encode := range characters {
			pieces := strings.FieldsFunc(c.Text, func(r rune) bool { return r == '«' || r == '»' })
			var want strings.Builder
			for _, piece := range pieces {
				if slices.Contains(c.Parts(), piece) {
					want.WriteString(scrubbed)
				} else {
					want.WriteString(encode(piece))
				}
			}
			if got := Scrub("see "+encode(c.Value())+" now", nil); got != "see "+want.String()+" now" {
				t.Errorf("%s as %s:\n got  %s\n want see %s now", kind, encoding, got, want.String())
			}
		}
	}
}

// TestPieces checks that a piece of a key, password or signature is masked, in each
// encoding, and that hosts, IDs and names of the same value stay.
func TestPieces(t *testing.T) {
	t.Parallel()
	characters, _ := canary.Encodings()
	for kind, c := range canary.Secrets() {
		for _, part := range c.Parts() {
			if runes := []rune(part); len(runes) > 24 {
				for encoding, encode := range characters {
					piece := string(runes[3:22])
					if got := Scrub("cut: "+encode(piece)+"...", []string{c.Value()}); got != "cut: "+scrubbed+"..." {
						t.Errorf("a piece of %s as %s: %s became %s", kind, encoding, encode(piece), got)
					}
				}
			}
		}
		for _, name := range c.Names {
			text := "cannot reach " + name + " from here"
			if got := Scrub(text, []string{c.Value()}); got != text {
				t.Errorf("a name in %s: %s", kind, got)
			}
		}
	}
}

// TestCut checks that the beginning of a key, password or signature is masked if the text was
// cut in the middle of it, in each encoding.
func TestCut(t *testing.T) {
	t.Parallel()
	encodings, _ := canary.Encodings()
	for kind, c := range canary.Secrets() {
		for _, part := range c.Parts() {
			before, _, _ := strings.Cut(c.Value(), part)
			for encoding, encode := range encodings {
				whole, shown := encode(before+part), len(encode(before))
				for end := shown + 1; end < min(len(whole), shown+40); end += 3 {
					got := Scrub("refused: "+whole[:end]+"…", []string{c.Value()})
					for _, l := range layers(got) {
						if left := part[:min(minCut, len(part)-1)]; strings.Contains(l.text, left) {
							t.Fatalf("%s as %s: %s shows its beginning in %s", kind, encoding, whole[:end], got)
						}
					}
				}
			}
		}
	}
	const named = "see https://canarystorage01.blob.core.windows.net/back…"
	if got := Scrub(named, []string{canary.Secrets()["SAS address"].Value()}); got != named {
		t.Errorf("a name became %s", got)
	}
}
