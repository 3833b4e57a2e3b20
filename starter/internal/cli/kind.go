package cli

import (
	"strings"
	"unicode"

	"github.com/armature-io/armature/extensions/azure"
	"github.com/armature-io/armature/resource"
)

// Kind returns the display name of a resource type: "kusto cluster", "PostgreSQL
// flexible server". The provider is left out if the type's own name includes it:
// "virtual network", "resource group". A type whose last segment is not a plural is
// returned as written, because every other spelling would hide a typo
// (Microsoft.Storage/storageAccount).
func Kind(id resource.ID) string {
	full := id.Type()
	facts := azure.FactsOf(full)
	if facts.Name != "" {
		return facts.Name
	}
	last := full[strings.LastIndex(full, "/")+1:]
	words := splitWords(last)
	name := singular(words)
	if name == words {
		return full
	}
	product := facts.Product
	if product == "" {
		product = strings.ToLower(id.Provider()[strings.LastIndex(id.Provider(), ".")+1:])
	}
	if product == "-" || strings.Contains(name, strings.ToLower(product)) || strings.Contains(strings.ToLower(product), strings.Fields(name)[0]) {
		return name
	}
	return product + " " + name
}

// KindAndName returns the type's name and the short name: "kusto cluster adx".
func KindAndName(id resource.ID) string { return Kind(id) + " " + id.Short() }

// splitWords splits camelCase into lower-case words.
func splitWords(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if i > 0 && unicode.IsUpper(r) && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// singular returns the singular of the last word of an English plural, and any
// other text unchanged.
func singular(words string) string {
	for _, rule := range []struct{ end, with string }{
		{"ies", "y"}, {"sses", "ss"}, {"xes", "x"}, {"ss", "ss"}, {"is", "is"}, {"us", "us"}, {"s", ""},
	} {
		if strings.HasSuffix(words, rule.end) {
			return strings.TrimSuffix(words, rule.end) + rule.with
		}
	}
	return words
}
