package screen

import (
	"cmp"
	"fmt"
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
	sentence := fmt.Sprintf("%s, by %s since %s", FreezeScope(freeze), freeze.By, text.Time(freeze.Since))
	if freeze.Reason != "" {
		sentence += ": " + freeze.Reason
	}
	return text.OneLine(sentence)
}

// IsReleased reports whether the selector of an unfreeze was released from the freeze of
// everything.
func IsReleased(in workflows.Freeze, frozen []workflows.Freeze) bool {
	return slices.ContainsFunc(frozen, func(freeze workflows.Freeze) bool {
		return freeze.Selector == "" && slices.Contains(freeze.Except, in.Selector)
	})
}
