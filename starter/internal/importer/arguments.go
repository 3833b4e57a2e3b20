package importer

import (
	"cmp"
	"slices"
	"strings"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/importing"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
)

// ParseArgs returns the inputs for the resource IDs among the arguments of an import, and the
// other arguments as names. apiVersion is for IDs without one.
func ParseArgs(args []string, apiVersion string, children bool) (inputs []activities.ImportResourceInput, names []string, err error) {
	for _, arg := range args {
		if !strings.HasPrefix(arg, "/") {
			names = append(names, arg)
			continue
		}
		text, version, at := strings.Cut(arg, "@")
		id, err := resource.ParseID(text)
		switch {
		case err != nil:
			return nil, nil, cli.BadInput("%w", err)
		case at && version == "":
			return nil, nil, cli.BadInput("%q has no api-version after the @; use one like @2023-08-15, or omit the @ for the newest stable one", arg)
		}
		inputs = append(inputs, activities.ImportResourceInput{ID: id, APIVersion: cmp.Or(version, apiVersion), Contents: Contents(id, children)})
	}
	return inputs, names, nil
}

// Contents returns the request for everything in a resource, nil if only the resource is
// requested. What is in a subscription is always requested: it has no manifest itself.
func Contents(id resource.ID, children bool) *importing.Request {
	if !children && !isScope(id) {
		return nil
	}
	return &importing.Request{Root: true, Only: isScope(id)}
}

// Query returns the inputs for a query of Azure Resource Graph: one for each scope, or one
// for everything that the credential may read.
func Query(query string, scopes []activities.ImportResourceInput) ([]activities.ImportResourceInput, error) {
	if strings.TrimSpace(query) == "" {
		return nil, cli.BadInput("--query is empty; write KQL, for example \"resources | where type =~ 'Microsoft.Storage/storageAccounts'\"")
	}
	if len(scopes) == 0 {
		return []activities.ImportResourceInput{{Contents: &importing.Request{Query: query, Only: true}}}, nil
	}
	for i, scope := range scopes {
		if !isScope(scope.ID) && !strings.EqualFold(scope.ID.Type(), resource.TypeManagementGroup) {
			return nil, cli.BadInput("--query searches subscriptions and management groups, and %s is neither; put a condition on resourceGroup or id into the query", scope.ID)
		}
		scopes[i].Contents = &importing.Request{Query: query, Only: true}
	}
	return scopes, nil
}

// IsDeep reports whether an input requests what is in a resource.
func IsDeep(inputs []activities.ImportResourceInput) bool {
	return slices.ContainsFunc(inputs, func(in activities.ImportResourceInput) bool { return in.Contents != nil })
}

// Reconcile is what is written into the section reconcile of every manifest; "" writes
// nothing. Credential is also the one that the user named for the read.
type Reconcile struct{ Credential, Adopt, Policy string }
