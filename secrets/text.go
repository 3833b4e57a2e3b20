package secrets

import "github.com/armature-io/armature/resource"

// scrubbed replaces a secret in free text: a mask without digits.
const scrubbed = "(masked)"

// Scrub removes secrets from free text, such as the message of an ARM error: the values, in
// any encoding of JSON, addresses, XML, base64 and hexadecimal digits and in encodings inside
// each other, pieces of 16 characters of their keys, passwords and signatures, and
// whatever has the form of a credential (resource.Credentials). The rest of the text stays.
func Scrub(text string, values []string) string {
	f := newFinder(values)
	found := f.find(text)
	for _, l := range layers(text) {
		for _, part := range resource.Credentials(l.text) {
			found = append(found, l.original(part[0], part[1]))
		}
	}
	return resource.Replace(text, resource.Union(found), scrubbed)
}

// containsValue returns a function that reports whether a text equals or contains one of
// the values, in any of their encodings.
func containsValue(values []string) func(text string) bool {
	f := newFinder(values)
	return func(text string) bool { return len(f.find(text)) > 0 }
}
