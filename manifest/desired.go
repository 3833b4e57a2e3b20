package manifest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
)

// CheckDesired returns what is wrong with a spec that another program may have written,
// nil if Load could have returned it: its words are known, its versions and names have
// their form, and its list of secrets is the one of its body.
func CheckDesired(d resource.Desired) error {
	if d.ID.IsZero() {
		return fmt.Errorf("the id is missing")
	}
	for _, container := range []string{resource.TypeSubscription, resource.TypeTenant} {
		if strings.EqualFold(d.ID.Type(), container) {
			return fmt.Errorf("%s cannot be created by a manifest", d.ID.Type())
		}
	}
	if !apiVersion.MatchString(d.APIVersion) {
		return fmt.Errorf("%q is not an api-version", d.APIVersion)
	}
	versions := []string{d.OwnerAPIVersion}
	for _, reference := range slices.Concat(d.References, d.DependsOn) {
		if reference.ID.IsZero() {
			return fmt.Errorf("a reference has no id")
		}
		versions = append(versions, reference.APIVersion)
	}
	for _, version := range versions {
		if version != "" && !apiVersion.MatchString(version) {
			return fmt.Errorf("%q is not an api-version", version)
		}
	}
	if len(d.Needs()) > resource.MaxNeeds {
		return fmt.Errorf("it needs %d resources; at most %d are allowed", len(d.Needs()), resource.MaxNeeds)
	}
	if err := checkWords(d); err != nil {
		return err
	}
	for _, path := range slices.Concat(d.Ignore, d.Initial, d.Enforce, d.Plain, d.Secret) {
		if _, err := resource.ParsePath(path); err != nil {
			return fmt.Errorf("path %s: %w", text.Name(path), err)
		}
	}
	return checkSecretRefs(d)
}

// checkWords checks the fields that allow certain words or numbers.
func checkWords(d resource.Desired) error {
	switch {
	case !slices.Contains(resource.Policies(), d.Policy):
		return fmt.Errorf("policy %q is not known", d.Policy)
	case !slices.Contains([]resource.Adopt{"", resource.AdoptAlways, resource.AdoptAsIs, resource.AdoptNever, resource.AdoptOnly}, d.Adopt):
		return fmt.Errorf("adopt %q is not known", d.Adopt)
	case !slices.Contains([]resource.Recreate{"", resource.RecreateAlways, resource.RecreateNever, resource.RecreateOnImmutable}, d.Recreate):
		return fmt.Errorf("recreate %q is not known", d.Recreate)
	case !slices.Contains([]resource.Put{"", resource.PutDefault, resource.PutReplace, resource.PutMerge, resource.PutPatch}, d.Put):
		return fmt.Errorf("put %q is not known", d.Put)
	case d.Credential != "" && !credentialName.MatchString(d.Credential):
		return fmt.Errorf("%q is not a credential name", d.Credential)
	case d.Interval != 0 && d.Interval < resource.MinInterval:
		return fmt.Errorf("interval %s is below the minimum of %s", d.Interval, resource.MinInterval)
	case d.Timeout <= 0:
		return fmt.Errorf("timeout %s is not a valid timeout", d.Timeout)
	}
	for key, value := range d.Labels {
		if message := labelIssue(field{name: key, value: &node{kind: kindText, text: value}}); message != "" {
			return fmt.Errorf("label %s: %s", text.Name(key), message)
		}
	}
	return nil
}

// checkSecretRefs compares the list of secrets with the markers in the body: a worker
// masks what the list names.
func checkSecretRefs(d resource.Desired) error {
	if len(d.Body) > resource.MaxBodyBytes {
		return fmt.Errorf("the body has %d bytes; at most %d are allowed", len(d.Body), resource.MaxBodyBytes)
	}
	body, err := resource.DecodeBody(d.Body)
	if err != nil {
		return fmt.Errorf("the body: %w", err)
	}
	found := map[string]bool{}
	for value := range jsontree.All(body) {
		object, _ := value.(map[string]any)
		if reference, isText := object[resource.SecretMarker].(string); isText {
			found[reference] = true
		}
	}
	if refs := slices.Sorted(slices.Values(d.SecretRefs)); !slices.Equal(refs, slices.Sorted(maps.Keys(found))) {
		return fmt.Errorf("its list of secrets differs from its body")
	}
	return nil
}
