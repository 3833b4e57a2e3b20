package extensions

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"strings"

	"github.com/armature-io/armature/resource"
	"github.com/google/uuid"
)

var (
	_ PreReconciliationChecker = RoleAssignment{}
	_ ARMResourceModifier      = RoleAssignment{}
	_ Importer                 = RoleAssignment{}
)

// RoleAssignmentType is the ARM type of a role assignment.
const RoleAssignmentType = "Microsoft.Authorization/roleAssignments"

const authorizationAPIVersion = "2022-04-01"

// RoleAssignment knows that an assignment's name is a GUID, that a principal has
// a role on a scope once, and that people know roles by name.
type RoleAssignment struct{}

var guidName = regexp.MustCompile(`(?i)^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// StableRoleAssignmentName is the GUID that one scope, role and principal always
// lead to: the same manifest written twice means the same assignment.
func StableRoleAssignmentName(scope resource.ID, roleDefinition, principal string) string {
	key := strings.ToLower(scope.Key() + "|" + lastSegment(roleDefinition) + "|" + principal)
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte("armature:role-assignment:"+key)).String()
}

// PreReconcileCheck refuses a name that is no GUID, and, before a create, an
// assignment that exists under another name: ARM would refuse it too, and not
// say which.
func (RoleAssignment) PreReconcileCheck(
	ctx context.Context,
	obj *resource.Object,
	owner *resource.Object,
	resolver Resolver,
	client ARMClient,
	log *slog.Logger,
	next PreReconcileCheckFunc,
) (PreReconcileCheckResult, error) {
	role, principal := textAt(obj.DesiredAt("properties.roleDefinitionId")), textAt(obj.DesiredAt("properties.principalId"))
	scope := obj.ID.Owner()
	if !guidName.MatchString(obj.ID.Name()) {
		return BlockReconcile(fmt.Sprintf("The name of a role assignment must be a GUID, not %q; one that stays the same for this scope, role and principal is %s",
			obj.ID.Name(), StableRoleAssignmentName(scope, role, principal)), WithReason("InvalidRoleAssignmentId"), WithSeverity(resource.SeverityError)), nil
	}
	if !obj.Exists() && principal != "" && !scope.IsZero() {
		other, err := otherAssignment(ctx, obj.ID, role, principal, client)
		if err != nil {
			// The PUT tells; who may assign may not always list.
			log.DebugContext(ctx, "role assignments of the scope cannot be listed", "id", obj.ID.String(), "error", err)
		}
		if other != "" {
			return BlockReconcile(fmt.Sprintf("The principal %s has this role on %s already, by the assignment %s: give the manifest that name, or delete the other one",
				principal, scope.Short(), other), WithReason("RoleAssignmentExists"), WithRetry(resource.RetryVerySlow)), nil
		}
	}
	result, err := next(ctx, obj, owner, resolver, client, log)
	if err != nil || !obj.Exists() || strings.Contains(role, "/") || !onlyDiffersAt(result, "properties.roleDefinitionId") {
		return result, err
	}
	// The manifest names the role, Azure shows its ID.
	meant, err := roleByName(ctx, scope, role, client)
	if err == nil && strings.EqualFold(lastSegment(meant), lastSegment(textAt(obj.At("properties.roleDefinitionId")))) {
		return result.inSync("In sync: Azure has the role " + role), nil
	}
	return result, err
}

// otherAssignment is the ID of an assignment of the same role and principal on
// exactly the same scope.
func otherAssignment(ctx context.Context, id resource.ID, role, principal string, client ARMClient) (string, error) {
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

// textAt is a value that is a text, else "".
func textAt(value any, _ bool) string {
	text, _ := value.(string)
	return text
}

// ModifyARMResource replaces the name of a role by its ID.
func (RoleAssignment) ModifyARMResource(
	ctx context.Context,
	payload map[string]any,
	obj *resource.Object,
	owner *resource.Object,
	resolver Resolver,
	client ARMClient,
	log *slog.Logger,
	next ARMResourceModifierFunc,
) (map[string]any, error) {
	path := resource.Path{{Name: "properties"}, {Name: "roleDefinitionId"}}
	role := textAt(path.Get(payload))
	if role != "" && !strings.Contains(role, "/") {
		id, err := roleByName(ctx, obj.ID.Owner(), role, client)
		if err != nil {
			return nil, err
		}
		set(payload, path, id)
	}
	return next(ctx, payload, obj, owner, resolver, client, log)
}

// roleByName finds the role that people call so, on the scope.
func roleByName(ctx context.Context, scope resource.ID, name string, client ARMClient) (string, error) {
	if guidName.MatchString(name) {
		name = strings.ToLower(name)
		return "/providers/Microsoft.Authorization/roleDefinitions/" + name, nil
	}
	items, err := client.Find(ctx, scope, "providers/Microsoft.Authorization/roleDefinitions", authorizationAPIVersion, fmt.Sprintf("roleName eq '%s'", strings.ReplaceAll(name, "'", "''")), 10)
	if err != nil {
		return "", fmt.Errorf("look for the role %q: %w", name, err)
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
	return "", final(fmt.Errorf("look for the role %q: %s knows no role of that name; write its resource ID", name, scope.Short()))
}

// Import leaves out assignments that the scope inherits.
func (RoleAssignment) Import(
	ctx context.Context, obj *resource.Object, owner *resource.Object, log *slog.Logger, next ImporterFunc,
) (ImportResult, error) {
	scope := textAt(obj.At("properties.scope"))
	if scope != "" && owner != nil && !strings.EqualFold(strings.TrimSuffix(scope, "/"), owner.ID.String()) {
		return ImportSkipped("role assignment is inherited"), nil
	}
	return next(ctx, obj, owner, log)
}
