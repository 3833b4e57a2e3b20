package azure

import (
	_ "embed"
	"strings"

	"github.com/armature-io/armature/extensions"
)

// inlineText has one line for each list of inline children: parent, path, child
// types. It is made from the published descriptions of all types, not from a list
// of services.
//
//go:embed inline_children.txt
var inlineText string

// patchingProvider handles a PUT like a PATCH: what a body omits stays, a list
// that it contains is the whole list (learn.microsoft.com, PUT calls for creation
// or updates on compute resources).
const patchingProvider = "Microsoft.Compute/"

// inlineChildren returns one entry for each line of inlineText.
func inlineChildren() []extensions.Entry {
	var entries []extensions.Entry
	for line := range strings.Lines(inlineText) {
		fields := strings.Fields(line)
		if len(fields) != 3 || fields[0] == "#" {
			continue
		}
		entries = append(entries, extensions.Entry{Type: fields[0], InlineLists: []extensions.InlineList{{
			Path: fields[1], Types: strings.Split(fields[2], ","), KeptWhenOmitted: strings.HasPrefix(fields[0], patchingProvider),
		}}})
	}
	return entries
}
