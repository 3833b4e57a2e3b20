package secrets

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"unicode/utf16"

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

// containsValue returns a function that reports whether a text equals or contains one of
// the values, in any of their forms.
func containsValue(values []string) func(text string) bool {
	var forms []string
	for _, value := range values {
		forms = append(forms, encodedForms(value)...)
	}
	return func(text string) bool {
		return text != "" && slices.Contains(values, text) ||
			slices.ContainsFunc(forms, func(form string) bool { return strings.Contains(text, form) })
	}
}

// encodedForms returns the forms of a value inside other texts: plain, in lower and upper
// case, and encoded as JSON, URL (once and twice), base64 and hexadecimal digits, the last
// two also of UTF-16. Values shorter than minContained have none.
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
	add(url.QueryEscape(url.QueryEscape(value)))
	for _, raw := range [][]byte{[]byte(value), utf16Bytes(value)} {
		for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
			padded := encoding.EncodeToString(raw)
			add(padded)
			add(strings.TrimRight(padded, "="))
		}
		add(hex.EncodeToString(raw))
		add(strings.ToUpper(hex.EncodeToString(raw)))
	}
	if len(value) >= minFolded {
		add(strings.ToLower(value))
		add(strings.ToUpper(value))
	}
	return all
}

// minFolded is the minimum length of a value that is searched for in lower and upper case
// too: a shorter one is also a word.
const minFolded = 8

// utf16Bytes returns a text in UTF-16, little endian, as Windows services encode it.
func utf16Bytes(text string) []byte {
	var raw []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		raw = binary.LittleEndian.AppendUint16(raw, unit)
	}
	return raw
}
