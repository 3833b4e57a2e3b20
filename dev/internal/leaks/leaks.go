// Package leaks searches what programs published for values that must not be there. It knows
// the encodings in which a value may appear, and no scenario.
package leaks

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/armature-io/armature/internal/testonly/canary"
)

// bearer is the form of a token.
var bearer = regexp.MustCompile(`eyJ[\w-]{10,}\.[\w-]{10,}\.`)

// Leak is a value in a place where it must not be.
type Leak struct{ Kind, Place, Around string }

// String returns the kind and the place, with the text around the value.
func (l Leak) String() string { return fmt.Sprintf("%s is in %s: ...%q", l.Kind, l.Place, l.Around) }

// Find returns the secrets that texts contain, in any of their forms, and tokens, one leak for
// each secret and place. texts are the places by their name, secrets the kinds by their value.
func Find(texts, secrets map[string]string) []Leak {
	var found []Leak
	search := newSearch(secrets)
	for place, text := range texts {
		for kind, at := range search.in(text) {
			found = append(found, Leak{Kind: kind, Place: place, Around: text[max(0, at-300):min(len(text), at+100)]})
		}
		if token := bearer.FindString(text); token != "" {
			found = append(found, Leak{Kind: "a token", Place: place, Around: token})
		}
	}
	slices.SortFunc(found, func(a, b Leak) int { return cmp.Or(cmp.Compare(a.Place, b.Place), cmp.Compare(a.Kind, b.Kind)) })
	return found
}

// search finds thousands of forms in one walk through a text.
type search struct {
	// head is the length of the shortest form. byHead are the forms that begin with it.
	head   int
	byHead map[string][]form
}

type form struct{ text, kind string }

func newSearch(secrets map[string]string) search {
	s := search{byHead: map[string][]form{}}
	var all []form
	for value, kind := range secrets {
		for _, text := range Forms(value) {
			all = append(all, form{text, kind})
			if s.head == 0 || len(text) < s.head {
				s.head = len(text)
			}
		}
	}
	for _, f := range all {
		s.byHead[f.text[:s.head]] = append(s.byHead[f.text[:s.head]], f)
	}
	return s
}

// in returns the kinds whose forms are in a text, with the place of the first.
func (s search) in(text string) map[string]int {
	found := map[string]int{}
	if s.head == 0 {
		return found
	}
	for i := 0; i+s.head <= len(text); i++ {
		for _, f := range s.byHead[text[i:i+s.head]] {
			if _, known := found[f.kind]; !known && strings.HasPrefix(text[i:], f.text) {
				found[f.kind] = i
			}
		}
	}
	return found
}

// Forms returns the texts in which a value may appear: each encoding of package canary, in
// base64 also within a longer text, and each of them as it is, in JSON, and in JSON in JSON.
func Forms(value string) []string {
	forms := map[string]bool{}
	add := func(text string) {
		again := []string{text}
		for range 2 {
			for _, text := range again {
				again = append(again, inJSON(text, true), inJSON(text, false))
			}
		}
		for _, text := range again {
			forms[text] = true
		}
	}
	characters, groups := canary.Encodings()
	for _, encode := range characters {
		add(encode(value))
	}
	for _, encode := range groups {
		add(encode(value))
	}
	for offset := range 3 {
		raw := base64.StdEncoding.EncodeToString(append(make([]byte, offset), value...))
		// The first and the last characters have bits of the text around the value.
		inner := strings.TrimRight(raw, "=")[(offset*8+5)/6:]
		if (offset+len(value))%3 != 0 {
			inner = inner[:len(inner)-1]
		}
		add(inner)
	}
	delete(forms, "")
	var all []string
	for text := range forms {
		all = append(all, text)
	}
	slices.Sort(all)
	return all
}

// inJSON returns a text as JSON writes it in quotes. Some programs escape &, < and > too.
func inJSON(text string, html bool) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(html)
	_ = encoder.Encode(text) // a string always encodes
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(b.String(), "\n"), `"`), `"`)
}

// minPiece is the length of a piece that no other text contains by chance.
const minPiece = 12

// Pieces returns the runs of letters and digits of a secret that are long enough to name it.
// Encodings of characters leave them as they are, however they are nested, and a message that
// was cut in the middle of the secret still has one.
func Pieces(secret canary.Secret) []string {
	var pieces []string
	for _, part := range secret.Parts() {
		for _, run := range strings.FieldsFunc(part, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			if len(run) >= minPiece {
				pieces = append(pieces, run)
			}
		}
	}
	return pieces
}
