// Package leaks searches what programs published for values that must not be there. It knows
// the encodings in which a value may appear, and no scenario.
package leaks

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
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
	for place, text := range texts {
		for value, kind := range secrets {
			for _, form := range Forms(value) {
				if at := strings.Index(text, form); at >= 0 {
					found = append(found, Leak{Kind: kind, Place: place, Around: text[max(0, at-300):min(len(text), at+100)]})
					break // other forms of the value add nothing
				}
			}
		}
		if token := bearer.FindString(text); token != "" {
			found = append(found, Leak{Kind: "a token", Place: place, Around: token})
		}
	}
	slices.SortFunc(found, func(a, b Leak) int { return cmp.Or(cmp.Compare(a.Place, b.Place), cmp.Compare(a.Kind, b.Kind)) })
	return found
}

// Forms returns the encodings in which a value may appear.
func Forms(value string) []string {
	quoted, _ := json.Marshal(value) // a string always encodes
	return []string{
		value, strings.Trim(string(quoted), `"`), url.QueryEscape(value), url.PathEscape(value),
		base64.StdEncoding.EncodeToString([]byte(value)), base64.RawURLEncoding.EncodeToString([]byte(value)),
	}
}
