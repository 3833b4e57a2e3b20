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
func FactsOf(resourceType string) extensions.Facts {
	registry, err := registry()
	if err != nil {
		return extensions.Facts{} // the worker reports it
	}
	return registry.Facts(resourceType)
}

var registry = sync.OnceValues(func() (*extensions.Registry, error) { return extensions.New(Facts()...) })

var readFacts = sync.OnceValue(func() []extensions.Entry {
	entries, err := extensions.ParseFacts(table)
	if err != nil {
		return []extensions.Entry{{Type: fmt.Sprintf("facts.yaml: %v", err)}} // extensions.New reports it
	}
	return entries
})
