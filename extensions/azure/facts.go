package azure

import (
	_ "embed"
	"fmt"
	"sync"

	"github.com/armature-io/armature/extensions"
)

// table has the facts about types, a row for each type.
//
//go:embed facts.yaml
var table []byte

// Facts returns the entries of the table of facts, facts.yaml.
func Facts() []extensions.Entry { return readFacts() }

// FactsOf returns the facts of the table about a type.
func FactsOf(resourceType string) extensions.Facts { return factsByType()(resourceType) }

var factsByType = sync.OnceValue(func() func(string) extensions.Facts { return extensions.FactsByType(Facts()) })

var readFacts = sync.OnceValue(func() []extensions.Entry {
	entries, err := extensions.ParseFacts(table)
	if err != nil {
		return []extensions.Entry{{Type: fmt.Sprintf("facts.yaml: %v", err)}} // the registry reports it
	}
	return entries
})
