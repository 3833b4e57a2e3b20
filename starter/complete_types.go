package starter

import (
	"strings"

	"github.com/armature-io/armature/starter/internal/author"
	"github.com/spf13/cobra"
)

// The directives of a type: no files, and no blank behind it, because a version or a
// path may follow; the order is kept, newest versions first.
const typeDirective = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveKeepOrder

// completeQuery offers what can follow in TYPE[@VERSION][.PATH].
func completeQuery(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	found := offers(args, author.CompleteQuery(typed))
	if len(args) > 0 || typed == "" || strings.ContainsAny(typed, "./") {
		return found, typeDirective
	}
	reasons, _ := completeReasons(nil, nil, "")
	for _, reason := range reasons {
		if strings.HasPrefix(strings.ToLower(reason), strings.ToLower(typed)) {
			found = append(found, reason)
		}
	}
	return found, typeDirective
}

// completeTypes offers types.
func completeTypes(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return offers(args, author.CompleteType(typed, false)), typeDirective
}

// completeCreatable offers the types that a manifest can have, with their versions.
func completeCreatable(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if name, version, found := strings.Cut(typed, "@"); found {
		return offers(args, author.CompleteVersion(name, version, name+"@")), typeDirective
	}
	return offers(args, author.CompleteType(typed, true)), typeDirective
}

// completeVersion offers the api-versions of the type that is the argument.
func completeVersion(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) != 1 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return offers(nil, author.CompleteVersion(args[0], typed, "")), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// offers returns completions, none behind the argument.
func offers(args []string, found []author.Offer) []cobra.Completion {
	if len(args) > 0 {
		return nil
	}
	completions := make([]cobra.Completion, len(found))
	for i, offer := range found {
		completions[i] = cobra.CompletionWithDesc(offer.Text, offer.Note)
	}
	return completions
}
