package secrets

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
)

// minContained is the minimum length in bytes of a value that is searched for inside
// other texts. A shorter one is masked only where it is the whole text: "a" would
// mask everything and hide nothing.
const minContained = 4

// scrubbed replaces a secret in free text: a mask without digits.
const scrubbed = "(masked)"

// Scrub removes secrets from free text, such as the message of an ARM error: the
// values, also as encoded in JSON, URLs and base64, and the credentials of connection
// strings and signatures.
func Scrub(text string, values []string) string {
	ordered := slices.Clone(values)
	slices.SortStableFunc(ordered, func(a, b string) int { return len(b) - len(a) })
	for _, value := range ordered {
		if text == value && value != "" {
			return scrubbed
		}
		for _, form := range encodedForms(value) {
			text = strings.ReplaceAll(text, form, scrubbed)
		}
	}
	return resource.ReplaceCredentials(text, scrubbed)
}

// containsValue reports whether a text equals or contains one of the values.
func containsValue(text string, values []string) bool {
	for _, value := range values {
		if value != "" && text == value {
			return true
		}
		for _, form := range encodedForms(value) {
			if strings.Contains(text, form) {
				return true
			}
		}
	}
	return false
}

// encodedForms returns the forms of a value inside other texts: plain, and encoded as
// JSON, URL and base64. Values shorter than minContained have none.
func encodedForms(value string) []string {
	if len(value) < minContained {
		return nil
	}
	all := []string{value}
	add := func(form string) {
		if !slices.Contains(all, form) {
			all = append(all, form)
		}
	}
	for _, escapeHTML := range []bool{true, false} {
		var b bytes.Buffer
		encoder := json.NewEncoder(&b)
		encoder.SetEscapeHTML(escapeHTML)
		if err := encoder.Encode(value); err == nil {
			add(strings.TrimSuffix(strings.TrimPrefix(b.String(), `"`), "\"\n"))
		}
	}
	add(url.QueryEscape(value))
	add(url.PathEscape(value))
	add(base64.StdEncoding.EncodeToString([]byte(value)))
	return all
}
