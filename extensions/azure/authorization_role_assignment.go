package azure

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"strings"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
	"github.com/google/uuid"
)

var (
	_ extensions.PreReconciliationChecker = RoleAssignment{}
	_ extensions.ARMResourceModifier      = RoleAssignment{}
	_ extensions.Importer                 = RoleAssignment{}
)

// RoleAssignmentType is the ARM type of a role assignment.
const RoleAssignmentType = "Microsoft.Authorization/roleAssignments"

const authorizationAPIVersion = "2022-04-01"

// RoleAssignment checks that the name of an assignment is a GUID and that the
// principal does not have the role on the scope already, and accepts roles by name.
type RoleAssignment struct{}

var guidName = regexp.MustCompile(`(?i)^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// StableRoleAssignmentName returns the GUID for a scope, role and principal. It is
// always the same one, so that the same manifest written twice means the same
// assignment.
func StableRoleAssignmentName(scope resource.ID, roleDefinition, principal string) string {
	key := strings.ToLower(scope.Key() + "|" + lastSegment(roleDefinition) + "|" + principal)
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte("armature:role-assignment:"+key)).String()
}

// PreReconcileCheck refuses a name that is no GUID and, before a create, an
// assignment that exists under another name. ARM would refuse it too, without
// naming the other one.
func (RoleAssignment) PreReconcileCheck(
	ctx context.Context,
	obj *resource.Object,
	owner *resource.Object,
	resolver extensions.Resolver,
	client extensions.ARMClient,
	log *slog.Logger,
	next extensions.PreReconcileCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	role, principal := textAt(obj.DesiredAt("properties.roleDefinitionId")), textAt(obj.DesiredAt("properties.principalId"))
	scope := obj.ID.Owner()
	if !guidName.MatchString(obj.ID.Name()) {
		return extensions.BlockReconcile(fmt.Sprintf("The name of a role assignment must be a GUID, not %q; a stable one for this scope, role and principal is %s",
			obj.ID.Name(), StableRoleAssignmentName(scope, role, principal)), extensions.WithReason("InvalidRoleAssignmentId"), extensions.WithSeverity(resource.SeverityError)), nil
	}
	if !obj.Exists() && principal != "" && !scope.IsZero() {
		other, err := otherAssignment(ctx, obj.ID, role, principal, client)
		if err != nil {
			// Permission to assign does not include permission to list; ARM then
			// refuses the PUT.
			log.DebugContext(ctx, "role assignments of the scope cannot be listed", "id", obj.ID.String(), "error", err)
		}
		if other != "" {
			return extensions.BlockReconcile(fmt.Sprintf("The principal %s already has this role on %s through the assignment %s: use that name in the manifest, or delete the other assignment",
				principal, scope.Short(), other), extensions.WithReason("RoleAssignmentExists"), extensions.WithRetry(resource.RetryVerySlow)), nil
		}
	}
	result, err := next(ctx, obj, owner, resolver, client, log)
	if err != nil || !obj.Exists() || strings.Contains(role, "/") || !result.OnlyDiffersAt("properties.roleDefinitionId") {
		return result, err
	}
	// The manifest has the role's name, Azure shows its ID.
	roleID, err := roleByName(ctx, scope, role, client)
	if err == nil && strings.EqualFold(lastSegment(roleID), lastSegment(textAt(obj.At("properties.roleDefinitionId")))) {
		return extensions.SkipReconcile("In sync: Azure has the role " + role), nil
	}
	return result, err
}

// otherAssignment returns the ID of another assignment of the same role and
// principal on exactly the same scope, "" when there is none.
func otherAssignment(ctx context.Context, id resource.ID, role, principal string, client extensions.ARMClient) (string, error) {
	scope := id.Owner()
	items, err := client.Find(ctx, scope, "providers/"+RoleAssignmentType, authorizationAPIVersion, fmt.Sprintf("principalId eq '%s'", strings.ReplaceAll(principal, "'", "''")), 500)
	if err != nil {
		return "", err
	}
	for _, raw := range items {
		body, err := resource.DecodeBody(raw)
		if err != nil {
			continue
		}
		item := &resource.Object{Observed: body}
		found, err := resource.ParseID(textAt(item.At("id")))
		switch {
		case err != nil || found.Equal(id) || !found.Owner().Equal(scope):
		case strings.EqualFold(textAt(item.At("properties.principalId")), principal) &&
			strings.EqualFold(lastSegment(textAt(item.At("properties.roleDefinitionId"))), lastSegment(role)):
			return found.String(), nil
		}
	}
	return "", nil
}

// ModifyARMResource replaces the name of a role with its ID.
func (RoleAssignment) ModifyARMResource(
	ctx context.Context,
	payload map[string]any,
	obj *resource.Object,
	owner *resource.Object,
	resolver extensions.Resolver,
	client extensions.ARMClient,
	log *slog.Logger,
	next extensions.ARMResourceModifierFunc,
) (map[string]any, error) {
	path := resource.Path{{Name: "properties"}, {Name: "roleDefinitionId"}}
	role := textAt(path.Get(payload))
	if role != "" && !strings.Contains(role, "/") {
		id, err := roleByName(ctx, obj.ID.Owner(), role, client)
		if err != nil {
			return nil, err
		}
		path.Set(payload, id)
	}
	return next(ctx, payload, obj, owner, resolver, client, log)
}

// roleByName returns the resource ID of the role with a display name on the scope.
// A name that is a GUID is the last segment of the ID.
func roleByName(ctx context.Context, scope resource.ID, name string, client extensions.ARMClient) (string, error) {
	if guidName.MatchString(name) {
		return "/providers/Microsoft.Authorization/roleDefinitions/" + strings.ToLower(name), nil
	}
	items, err := client.Find(ctx, scope, "providers/Microsoft.Authorization/roleDefinitions", authorizationAPIVersion, fmt.Sprintf("roleName eq '%s'", strings.ReplaceAll(name, "'", "''")), 10)
	if err != nil {
		return "", fmt.Errorf("find the role %q: %w", name, err)
	}
	for _, raw := range items {
		var role struct {
			ID         string `json:"id"`
			Properties struct {
				RoleName string `json:"roleName"`
			} `json:"properties"`
		}
		if json.Unmarshal(raw, &role) == nil && strings.EqualFold(role.Properties.RoleName, name) && role.ID != "" {
			return role.ID, nil
		}
	}
	return "", permanent(fmt.Errorf("find the role %q: %s has no role of that name; use its resource ID", name, scope.Short()))
}

// Import skips assignments that the scope inherits.
func (RoleAssignment) Import(
	ctx context.Context, obj *resource.Object, owner *resource.Object, log *slog.Logger, next extensions.ImporterFunc,
) (extensions.ImportResult, error) {
	scope := textAt(obj.At("properties.scope"))
	if scope != "" && owner != nil && !strings.EqualFold(strings.TrimSuffix(scope, "/"), owner.ID.String()) {
		return extensions.ImportSkipped("role assignment is inherited"), nil
	}
	return next(ctx, obj, owner, log)
}

// lastSegment returns the name at the end of a resource ID.
func lastSegment(id string) string {
	return id[strings.LastIndex(id, "/")+1:]
}
