package main

import (
	"slices"
	"strings"
)

// module is the import path of the product.
const module = "github.com/armature-io/armature"

// authors returns the packages of authors of checks whose symbols stay compatible.
func authors() []string {
	return []string{"extensions", "extensions/extensiontest", "extensions/passtest"}
}

// embedders returns the packages of programs that embed a worker or the CLI.
func embedders() []string { return []string{"caller", "extensions/azure", "service", "starter"} }

// named returns the packages whose types stay compatible as far as the declarations of the others
// name them. Types of other packages that they name may change.
func named() []string { return []string{"arm", "resource"} }

// promised returns the packages of authors and of embedding programs.
func promised() []string { return slices.Concat(authors(), embedders()) }

// isBuiltInLink reports whether a symbol belongs to the built-in extensions: of these, only the list
// of all is for programs.
func isBuiltInLink(name string) bool {
	return strings.HasPrefix(name, "azure.") && name != "azure.BuiltIn"
}

// unpromised returns the symbols of these packages that may change in any release, and why.
func unpromised() map[string]string {
	const facts = "facts follow Azure: state them in rules, or expect changes"
	reasons := map[string]string{
		"extensions.FactsByType": "the registry calls it",
		"service.Run":            "its settings are the whole configuration: use Main",
	}
	for _, name := range []string{
		"BlockingState", "BuiltIn", "Child", "ChildKind", "ChildLister", "Data", "DataKind", "DeletingValue", "ErrorClass", "ExtensionList",
		"Facts", "Family", "Fixed", "InlineList", "ListScope", "Loss", "ObservationTrimmer", "ParseFacts", "Purge", "Actions", "Reported",
		"Recreation", "RestingStater", "Source", "StateCheck", "StoppedState", "Values",
	} {
		reasons["extensions."+name] = facts
	}
	return reasons
}
