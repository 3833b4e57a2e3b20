package rules

import (
	"fmt"
	"strings"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// exampleIDs are a resource of a type and its owner, named after their types in
// the singular: cluster1, database1.
func exampleIDs(resourceType string) (id, owner resource.ID, err error) {
	segments := strings.Split(resourceType, "/")
	text := "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/group1/providers/" + segments[0]
	for _, segment := range segments[1:] {
		text += fmt.Sprintf("/%s/%s1", segment, strings.TrimSuffix(segment, "s"))
	}
	if id, err = resource.ParseID(text); err != nil {
		return id, owner, err
	}
	return id, id.Owner(), nil
}

// knownType reports whether a type is published, or known to exist without that. A rule
// for another one is only a warning: it may be misspelt and would never apply.
func knownType(resourceType string) bool {
	if _, published := types.Spelled(resourceType); published {
		return true
	}
	return strings.HasPrefix(strings.ToLower(resourceType)+"/", "microsoft.redhatopenshift/hcpopenshiftclusters/")
}
