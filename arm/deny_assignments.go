package arm

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/armature-io/armature/resource"
)

// everyone is the principal of a deny assignment for all principals.
const everyone = "00000000-0000-0000-0000-000000000000"

// DenyAssignment denies actions at a scope and below it, whatever roles allow. Deployment
// stacks and managed applications create them.
type DenyAssignment struct {
	Name, Scope string
	// OnlyScope is set if it does not apply below its scope.
	OnlyScope bool
	// Uncertain is set if it applies to a group of which the credential may be a member.
	Uncertain bool
	denied    []role
}

// Denies reports whether it denies an action such as Microsoft.Kusto/clusters/delete.
func (d DenyAssignment) Denies(action string) bool { return Permissions{d.denied}.Allow(action) }

// DenyAssignments lists the deny assignments at, above and below a scope that apply to the
// credential, or may apply to it.
func (c *Client) DenyAssignments(ctx context.Context, scope resource.ID) ([]DenyAssignment, error) {
	connection, err := c.For(ctx, scope)
	if err != nil {
		return nil, err
	}
	items, err := c.List(ctx, scope, "providers/Microsoft.Authorization/denyAssignments", permissionsAPIVersion, maxListed)
	if err != nil || len(items) == 0 {
		return nil, err
	}
	own := connection.principal(ctx)
	var all []DenyAssignment
	for _, item := range items {
		shown := decodeView[struct {
			Name       string
			Properties struct {
				Name                    string `json:"denyAssignmentName"`
				Scope                   string
				Permissions             []role
				Principals              []principal
				ExcludePrincipals       []principal
				DoNotApplyToChildScopes bool
			}
		}](item).Properties
		is := func(p principal) bool { return p.ID == own && own != "" }
		isAny := func(p principal) bool { return p.ID == everyone || is(p) }
		isGroup := func(p principal) bool { return strings.EqualFold(p.Type, "Group") }
		applies, groups := slices.ContainsFunc(shown.Principals, isAny), slices.ContainsFunc(shown.Principals, isGroup)
		if slices.ContainsFunc(shown.ExcludePrincipals, is) || !applies && !groups {
			continue
		}
		all = append(all, DenyAssignment{
			Name: shown.Name, Scope: shown.Scope, OnlyScope: shown.DoNotApplyToChildScopes, denied: shown.Permissions,
			Uncertain: own == "" || !applies || slices.ContainsFunc(shown.ExcludePrincipals, isGroup),
		})
	}
	return all, nil
}

// principal is a user, a group or a service principal.
type principal struct{ ID, Type string }

// principalOf returns a function that reads the object ID from the token of the credential.
func principalOf(options Options) func(context.Context) string {
	return func(ctx context.Context) string {
		if options.Credential == nil {
			return ""
		}
		audience := options.Cloud.Services[cloud.ResourceManager].Audience
		token, err := options.Credential.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{audience + "/.default"}})
		if err != nil {
			return ""
		}
		_, claims, _ := strings.Cut(token.Token, ".")
		claims, _, _ = strings.Cut(claims, ".")
		raw, err := base64.RawURLEncoding.DecodeString(claims)
		if err != nil {
			return ""
		}
		var found struct{ OID string }
		if json.Unmarshal(raw, &found) != nil {
			return ""
		}
		return found.OID
	}
}
