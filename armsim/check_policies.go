package armsim

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Policy is an Azure Policy assignment at the top of the hierarchy. It applies to every
// PUT and PATCH of groups and of top-level resources in groups.
type Policy struct {
	Name string `json:"name"`
	Type string `json:"type,omitempty"` // glob over the resource type
	// Effect is modify (the tags are added or replaced) or deny (a body that lacks one
	// of the tags is refused; without tags, every body).
	Effect string            `json:"effect"`
	Tags   map[string]string `json:"tags,omitempty"`
}

const policyScope = "/providers/Microsoft.Management/managementGroups/armsim/providers/Microsoft.Authorization/"

// AddPolicy adds an assignment, or replaces the one of that name. Name and Effect are
// required.
func (s *Simulator) AddPolicy(p Policy) error {
	if effect := strings.ToLower(p.Effect); p.Name == "" || effect != "modify" && effect != "deny" {
		return errors.New("a policy needs a name and the effect modify or deny")
	}
	s.RemovePolicy(p.Name)
	s.locked(func() { s.policies = append(s.policies, p) })
	return nil
}

// RemovePolicy removes an assignment; "" removes all.
func (s *Simulator) RemovePolicy(name string) {
	s.locked(func() {
		s.policies = slices.DeleteFunc(s.policies, func(p Policy) bool { return name == "" || p.Name == name })
	})
}

func (s *Simulator) listPolicies() []Policy {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Policy{}, s.policies...)
}

// applyPolicies changes a body before it is stored, or refuses it.
func (s *Simulator) applyPolicies(t target, body object) *response {
	if !t.needsLocation() {
		return nil
	}
	for _, p := range s.policies {
		if !globMatch(p.Type, t.resourceType()) {
			continue
		}
		tags, _ := body["tags"].(object)
		switch strings.ToLower(p.Effect) {
		case "modify":
			if tags == nil {
				tags = object{}
				body["tags"] = tags
			}
			for name, value := range p.Tags {
				tags[name] = value
			}
		case "deny":
			if missing := p.missingTag(tags); len(p.Tags) == 0 || missing != "" {
				return errPolicy(t, p, missing)
			}
		}
	}
	return nil
}

func (p Policy) missingTag(tags object) string {
	for _, name := range slices.Sorted(maps.Keys(p.Tags)) {
		if _, ok := tags[name]; !ok {
			return name
		}
	}
	return ""
}

// errPolicy returns the refusal of a deny policy. It names the assignment in the
// message and in additionalInfo, as ARM does.
func errPolicy(t target, p Policy, missing string) *response {
	assignment, definition := policyScope+"policyAssignments/"+p.Name, policyScope+"policyDefinitions/"+p.Name
	identifiers, _ := json.Marshal([]any{object{ // strings always encode
		"policyAssignment": object{"name": p.Name, "id": assignment},
		"policyDefinition": object{"name": p.Name, "id": definition},
	}})
	resp := gatewayError(http.StatusForbidden, "RequestDisallowedByPolicy",
		"Resource '%s' was disallowed by policy. Policy identifiers: '%s'.", t.name(), identifiers)
	details := object{"evaluatedExpressions": []any{object{
		"result": "True", "expressionKind": "Field", "expression": "tags['" + missing + "']", "path": "tags['" + missing + "']", "operator": "Exists", "targetValue": "false",
	}}}
	resp.body = object{"error": object{
		"code": resp.code, "message": resp.message, "target": t.name(),
		"additionalInfo": []any{object{"type": "PolicyViolation", "info": object{
			"policyDefinitionDisplayName": p.Name, "evaluationDetails": details, "policyDefinitionId": definition, "policyDefinitionName": p.Name,
			"policyDefinitionEffect": "deny", "policyAssignmentId": assignment, "policyAssignmentName": p.Name, "policyAssignmentDisplayName": p.Name,
			"policyAssignmentScope": strings.TrimSuffix(policyScope, "/providers/Microsoft.Authorization/"),
		}}},
	}}
	return resp
}
