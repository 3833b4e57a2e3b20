package armsim

import (
	"encoding/json"
	"net/http"
	"sort"
	"strings"
)

// Policy is an Azure Policy assignment over everything: it meets every PUT and
// PATCH of groups and of top-level resources in groups.
type Policy struct {
	Name string `json:"name"`
	Type string `json:"type,omitempty"` // glob over the resource type
	// Effect is modify (the tags are added or replaced) or deny (a body that lacks
	// one of the tags is refused; without tags, every body).
	Effect string            `json:"effect"`
	Tags   map[string]string `json:"tags,omitempty"`
}

const policyScope = "/providers/Microsoft.Management/managementGroups/armsim/providers/Microsoft.Authorization/"

// AddPolicy adds an assignment, or replaces the one of that name.
func (s *Simulator) AddPolicy(p Policy) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addPolicy(p)
}

func (s *Simulator) addPolicy(p Policy) {
	s.removePolicy(p.Name)
	s.policies = append(s.policies, p)
}

// RemovePolicy removes an assignment; "" removes all.
func (s *Simulator) RemovePolicy(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removePolicy(name)
}

func (s *Simulator) removePolicy(name string) {
	kept := []Policy{}
	for _, p := range s.policies {
		if name != "" && p.Name != name {
			kept = append(kept, p)
		}
	}
	s.policies = kept
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
			}
			for name, value := range p.Tags {
				tags[name] = value
			}
			body["tags"] = tags
		case "deny":
			if missing := p.missingTag(tags); len(p.Tags) == 0 || missing != "" {
				return errPolicy(t, p, missing)
			}
		}
	}
	return nil
}

func (p Policy) missingTag(tags object) string {
	names := make([]string, 0, len(p.Tags))
	for name := range p.Tags {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if _, ok := tags[name]; !ok {
			return name
		}
	}
	return ""
}

// errPolicy names the assignment in the message and in additionalInfo, as ARM does.
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
