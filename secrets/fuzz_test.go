package secrets

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/armature-io/armature/internal/testonly/canary"
)

// FuzzScrub checks, for any secret in any encoding and any text around it: no error, nothing
// left to find, the rest of the text as it was, and an output not longer than masks make it.
func FuzzScrub(f *testing.F) {
	characters, groups := canary.Encodings()
	maps.Copy(characters, groups)
	names := slices.Sorted(maps.Keys(characters))
	for _, kind := range slices.Sorted(maps.Keys(canary.Secrets())) {
		for i := range names {
			f.Add("the value '", canary.Secrets()[kind].Value(), "' is weak", uint8(i))
		}
	}
	f.Add(`%\&`, "12345678", `%2&#x\u00`, uint8(0))
	f.Add(`\ud83d\ude00 &lt;%zz`, "\xff\xfe12345678", "%", uint8(1))
	f.Fuzz(func(t *testing.T, before, secret, after string, encoding uint8) {
		name := names[int(encoding)%len(names)]
		encoded := characters[name](secret)
		text := before + encoded + after
		got := Scrub(text, []string{secret})
		rest := text
		for i, kept := range strings.Split(got, scrubbed) {
			at := strings.Index(rest, kept)
			if at < 0 || i == 0 && at > 0 {
				t.Fatalf("%q is not in %q: Scrub changed more than secrets", kept, text)
			}
			rest = rest[at+len(kept):]
		}
		if len(secret) < minFolded || !utf8.ValidString(secret) || len(newFinder([]string{secret}).find(scrubbed)) > 0 {
			return // too short for other encodings, no secret, or a part of the mask
		}
		// A text before that ends within an escape makes another text of the encoded secret.
		if strings.ContainsAny(before+after, `%\&`) && !strings.Contains(text, secret) {
			return
		}
		if strings.Contains(got, encoded) {
			t.Fatalf("%s of %q is left in %q", name, secret, got)
		}
		if left := newFinder([]string{secret}).find(got); len(left) > 0 {
			t.Fatalf("%q is left in %q at %v", secret, got, left)
		}
	})
}

// TestTimeIsLinear checks that the number of copies of a text, and of texts to search for,
// does not grow with the escapes in it.
func TestTimeIsLinear(t *testing.T) {
	t.Parallel()
	for _, text := range []string{strings.Repeat("%25", 20000), strings.Repeat(`\`, 60000), strings.Repeat("&amp;amp;", 7000), "a\n" + strings.Repeat("%2525252525252541", 4000)} {
		size := 0
		for _, l := range layers(text) {
			size += len(l.text)
		}
		if most := (maxDecodings + 2) * len(text); size > most {
			t.Errorf("the copies of a text of %d bytes have %d", len(text), size)
		}
		if n := len(newFinder([]string{text}).needles); n > 2*9*(maxDecodings+2) {
			t.Errorf("%d texts to search for", n)
		}
	}
}
