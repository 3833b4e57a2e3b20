package extensionhost

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"reflect"
	"strings"

	"github.com/armature-io/armature/extensions"
)

// fingerprintDigits is the number of hexadecimal digits of a fingerprint: two sets of checks
// share one by chance once in a million million cases.
const fingerprintDigits = 10

// Fingerprint returns a short hash of the checks: the links, facts and rules in their order,
// and build, which stands for code, because code cannot be hashed. The same entries in
// the same build have the same fingerprint in each process. Settings within a link in Go do
// not count, unless its ExtensionName has them. A reload of rules changes it.
func (r *Registry) Fingerprint(build string) string {
	sum := newSum()
	sum.add(build)
	sum.add(r.outline())
	for _, entry := range r.entries {
		if source, ok := entry.Link.(Fingerprinter); ok {
			sum.add(source.Fingerprint())
		}
	}
	return sum.text()[:fingerprintDigits]
}

// outlineOf returns a hash of what never changes in the entries.
func outlineOf(entries []extensions.Entry) string {
	sum := newSum()
	for _, entry := range entries {
		sum.add(strings.ToLower(entry.Type))
		sum.add(linkText(entry.Link))
		facts, _ := json.Marshal(entry.Facts) // plain data: strings, numbers and lists of them
		sum.add(string(facts))
	}
	return sum.text()
}

// linkText returns the Go type of a link with its package, and its name, "" without a link.
func linkText(link any) string {
	of := reflect.TypeOf(link)
	if of == nil {
		return ""
	}
	return packageOf(link) + " " + of.String() + " " + nameOf(link)
}

// sum hashes texts and their borders.
type sum struct{ hash.Hash }

func newSum() sum { return sum{sha256.New()} }

func (s sum) add(text string) { fmt.Fprintf(s, "%d:%s", len(text), text) }

func (s sum) text() string { return hex.EncodeToString(s.Sum(nil)) }
