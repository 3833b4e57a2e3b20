package starter

import (
	"strings"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/spf13/cobra"
)

// addReconcile adds the flags for the section reconcile of the manifests that a command
// writes.
func addReconcile(c *cobra.Command, adopt, policy *string, adoptDefault string) {
	c.Flags().StringVar(adopt, "adopt", adoptDefault, "reconcile.adopt of the manifests: "+strings.Join(adoptWords(), ", "))
	c.Flags().StringVar(policy, "policy", "", "reconcile.policy of the manifests, for example observe: report drift and write nothing")
	// A flag has one completer, so the registrations never fail.
	_ = c.RegisterFlagCompletionFunc("adopt", cobra.FixedCompletions(adoptWords(), cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("policy", cobra.FixedCompletions(policyWords(), cobra.ShellCompDirectiveNoFileComp))
}

// checkReconcile checks these flags and lower-cases them.
func checkReconcile(adopt, policy *string) error {
	for _, flag := range []struct {
		name  string
		text  *string
		words []string
	}{{"adopt", adopt, adoptWords()}, {"policy", policy, policyWords()}} {
		if *flag.text == "" {
			continue
		}
		if err := cli.CheckOneOf(flag.name, *flag.text, flag.words); err != nil {
			return err
		}
		*flag.text = strings.ToLower(*flag.text)
	}
	return nil
}

func adoptWords() []string {
	return []string{string(resource.AdoptAlways), string(resource.AdoptAsIs), string(resource.AdoptNever), string(resource.AdoptOnly)}
}

func policyWords() []string {
	var words []string
	for _, policy := range resource.Policies() {
		words = append(words, string(policy))
	}
	return words
}
