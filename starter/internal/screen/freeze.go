package screen

import (
	"cmp"
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/workflows"
)

// FreezeScope returns what a freeze applies to.
func FreezeScope(freeze workflows.Freeze) string {
	scope := cmp.Or(freeze.Selector, "everything")
	if len(freeze.Except) > 0 {
		scope += " except " + strings.Join(freeze.Except, " and ")
	}
	return scope
}

// FreezeText returns one freeze in a sentence.
func FreezeText(freeze workflows.Freeze) string {
	sentence := FreezeScope(freeze)
	if freeze.By != "" {
		sentence += "," + FreezeAuthor(freeze)
	}
	sentence += " since " + text.Time(freeze.Since)
	if freeze.Reason != "" {
		sentence += ": " + freeze.Reason
	}
	return text.OneLine(sentence)
}

// FreezeAuthor returns who set a freeze, with a space before it, "" if that is not known. A
// freeze needs no proof, so nothing verifies the name.
func FreezeAuthor(freeze workflows.Freeze) string {
	if freeze.By == "" {
		return ""
	}
	return " by " + text.OneLine(freeze.By) + " (unverified)"
}

// IsReleased reports whether the selector of an unfreeze was released from the freeze of
// everything.
func IsReleased(in workflows.Freeze, frozen []workflows.Freeze) bool {
	return slices.ContainsFunc(frozen, func(freeze workflows.Freeze) bool {
		return freeze.Selector == "" && slices.Contains(freeze.Except, in.Selector)
	})
}
