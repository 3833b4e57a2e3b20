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

// minContained is the least length in bytes at which a known value is searched
// for inside other texts. A shorter one is masked only where it is the whole
// text: "a" would mask everything and hide nothing.
const minContained = 4

// scrubbed stands for a secret in free text: a mask without digits.
const scrubbed = "(masked)"

// Scrub scrubs free text, such as the message of an ARM error: known values as
// they are and as JSON, URLs and base64 write them, and the credentials of
// connection strings and signatures.
func Scrub(text string, values []string) string {
	ordered := slices.Clone(values)
	slices.SortStableFunc(ordered, func(a, b string) int { return len(b) - len(a) })
	for _, value := range ordered {
		if text == value && value != "" {
			return scrubbed
		}
		for _, form := range forms(value) {
			text = strings.ReplaceAll(text, form, scrubbed)
		}
	}
	return resource.ReplaceCredentials(text, scrubbed)
}

// holds reports whether a text is or holds one of the values.
func holds(text string, values []string) bool {
	for _, value := range values {
		if value != "" && text == value {
			return true
		}
		for _, form := range forms(value) {
			if strings.Contains(text, form) {
				return true
			}
		}
	}
	return false
}

// forms are the ways in which a value occurs inside other texts: as it is, and
// as JSON, a URL and base64 write it. Values shorter than minContained have none.
func forms(value string) []string {
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
