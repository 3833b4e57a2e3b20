package armsim

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

const deploymentType = "Microsoft.Resources/deployments"

// proposal is one PUT that a client asks about.
type proposal struct {
	id, apiVersion string
	body           object
}

// validateResources serves POST providers/Microsoft.Resources/validateResources, which asks
// providers about PUTs of one type, location and scope; nil for other requests. The API is not
// documented. The request and the two levels of details are those of
// Azure/terraform-provider-azapi (internal/services/preflight) and of
// learn.microsoft.com/azure/developer/terraform/how-to-use-preflight-validation. It needs the
// right to write the resources.
func (s *Simulator) validateResources(q *request) *response {
	if !strings.EqualFold(q.target.namespace, "Microsoft.Resources") || !strings.EqualFold(q.target.action, "validateResources") || q.r.Method != http.MethodPost {
		return nil
	}
	body, refused := readBody(q)
	if refused != nil {
		return refused
	}
	proposals, refused := readProposals(body)
	if refused != nil {
		return refused
	}
	provider, types := text(body, "provider"), text(body, "type")
	if s.answerFor(provider + "/" + types).NoPreflight {
		return gatewayError(http.StatusBadRequest, "PreflightNotSupported", "The resource type '%s/%s' does not support preflight validation.", provider, types)
	}
	var details []any
	ids := []any{}
	for _, p := range proposals {
		inner := q.proposed(p)
		if resp := s.checkRights(inner); resp != nil {
			return resp
		}
		details = append(details, s.objections(inner, p.body)...)
		ids = append(ids, p.id)
	}
	if len(details) > 0 {
		return withDetails(http.StatusBadRequest, "ResourceValidationFailed",
			fmt.Sprintf("Resource validation failed, correlation id: '%s', see details for more information.", q.correlationID), details)
	}
	return newResponse(http.StatusOK, object{"properties": object{"validatedResources": ids}})
}

// readProposals reads the body of validateResources.
func readProposals(body object) ([]proposal, *response) {
	provider, types, scope := text(body, "provider"), text(body, "type"), text(body, "scope")
	list, _ := body["resources"].([]any)
	if provider == "" || types == "" || scope == "" || len(list) == 0 {
		return nil, errContent("Required property 'provider', 'type', 'scope' or 'resources' not found in JSON")
	}
	var proposals []proposal
	for _, item := range list {
		stated, _ := item.(object)
		id, ok := proposedID(scope, provider+"/"+types, text(stated, "name"))
		switch {
		case !ok || text(stated, "apiVersion") == "":
			return nil, errContent("A resource of type '%s/%s' has the name '%s' and the api-version '%s'", provider, types, text(stated, "name"), text(stated, "apiVersion"))
		case text(stated, "location") != "" && !sameLocation(text(stated, "location"), text(body, "location")):
			return nil, errContent("The location '%s' of a resource differs from the location '%s' of the request", text(stated, "location"), text(body, "location"))
		}
		proposals = append(proposals, proposal{id: id, apiVersion: text(stated, "apiVersion"), body: withoutMembers(stated, "name", "apiVersion", "type", "dependsOn", "scope")})
	}
	return proposals, nil
}

// proposedID returns the ID of a resource at a scope, by its type and its name of as many
// segments.
func proposedID(scope, resourceType, name string) (string, bool) {
	scope = strings.TrimRight(scope, "/")
	if strings.EqualFold(resourceType, groupType) {
		return scope + "/resourceGroups/" + name, name != ""
	}
	types, names := strings.Split(resourceType, "/"), strings.Split(name, "/")
	if len(types) != len(names)+1 {
		return "", false
	}
	id := scope + "/providers/" + types[0]
	for i, segment := range names {
		if segment == "" {
			return "", false
		}
		id += "/" + types[i+1] + "/" + segment
	}
	return id, true
}

// proposed returns a PUT that a request asks about.
func (q *request) proposed(p proposal) *request {
	inner := *q
	inner.target, _ = parseID(p.id)
	inner.resourceType, inner.apiVersion = inner.target.resourceType(), p.apiVersion
	inner.body, _ = json.Marshal(p.body) // decoded JSON encodes
	inner.shape, inner.fault = nil, ""
	inner.r = &http.Request{
		Method: http.MethodPut, Host: q.r.Host, TLS: q.r.TLS, Header: http.Header{"Authorization": q.r.Header["Authorization"]},
		URL: &url.URL{Path: p.id, RawQuery: url.Values{"api-version": {p.apiVersion}}.Encode()},
	}
	return &inner
}

// checkRights refuses a PUT that the client has no right to.
func (s *Simulator) checkRights(q *request) *response {
	if resp := s.checkDenied(q); resp != nil {
		return resp
	}
	return s.checkDenyAssignments(q)
}

// objections returns an error object for each refusal that a PUT of the body would meet, as far
// as it follows from what is stored. It stores nothing. Existence and state of what the resource
// is in do not count: a preflight asks about resources that a deployment creates together.
func (s *Simulator) objections(q *request, body object) []any {
	for _, check := range []func(*request) *response{s.checkAPIVersion, s.checkSubscription, s.checkProvider, s.checkType} {
		if resp := check(q); resp != nil {
			return []any{objection(resp, q.target.name())}
		}
	}
	if resp := q.readShape(); resp != nil {
		return []any{objection(resp, q.target.name())}
	}
	var ofProvider, all []any
	add := func(resp *response) {
		if resp.gateway {
			all = append(all, objection(resp, q.target.name()))
			return
		}
		ofProvider = append(ofProvider, objection(resp, q.target.name()))
	}
	r := s.find(q.target.id)
	for _, f := range s.findings(q, r, body) {
		add(refuseBody(q, []finding{f}))
	}
	if resp := s.checkContent(q, r, cloneObject(body)); resp != nil {
		add(resp)
	}
	if len(ofProvider) > 0 {
		all = append(all, object{"code": "PreflightValidationCheckFailed",
			"message": "Preflight validation failed. Please refer to the details for the specific errors.", "details": ofProvider})
	}
	return all
}

// objection returns the error object of a refusal. One without a target gets the name of the
// resource, as recorded errors of the API have it.
func objection(resp *response, target string) object {
	body, _ := resp.body.(object)
	shown, ok := body["error"].(object)
	if !ok {
		shown = object{"code": resp.code, "message": resp.message}
	}
	shown = cloneObject(shown)
	setDefault(shown, "target", target)
	return shown
}

func withDetails(status int, code, message string, details []any) *response {
	resp := armError(status, code, "%s", message)
	resp.body = object{"error": object{"code": code, "message": message, "details": details}}
	return resp
}

// validateDeployment serves POST {scope}/providers/Microsoft.Resources/deployments/{name}/validate;
// nil for other requests. Its answer is an operation if a rule for operations of deployments
// says so (learn.microsoft.com/rest/api/resources/deployments/validate).
func (s *Simulator) validateDeployment(q *request) *response {
	if !strings.EqualFold(q.resourceType, deploymentType) || !strings.EqualFold(q.target.action, "validate") {
		return nil
	}
	body, refused := readBody(q)
	if refused != nil {
		return refused
	}
	answer := s.judgeDeployment(q, body)
	spec := s.specFor(deploymentType, q.target.id, "create")
	if spec.Shape == ShapeSync {
		return answer
	}
	spec.Shape = ShapeLocation
	op := s.newOperation(q.target, &resource{id: q.target.id, typ: deploymentType, body: object{}}, "validate", spec, q)
	op.detached, op.answer = true, answer
	resp := newResponse(http.StatusAccepted, nil)
	s.setOperationHeaders(resp, op, q)
	return resp
}

// judgeDeployment returns the answer to a validation.
func (s *Simulator) judgeDeployment(q *request, body object) *response {
	name := q.target.name()
	if q.target.group == "" && text(body, "location") == "" {
		return gatewayError(http.StatusBadRequest, "LocationRequired", "The location property is required for this definition.")
	}
	level := text(body, "properties.validationLevel")
	switch {
	case !strings.EqualFold(text(body, "properties.mode"), "Incremental"):
		return gatewayError(http.StatusBadRequest, "InvalidDeployment", "The deployment mode '%s' is not supported here.", text(body, "properties.mode"))
	case level != "" && !containsFold([]string{"Template", "Provider", "ProviderNoRbac"}, level):
		return errContent("Error converting value \"%s\" to type 'DeploymentValidationLevel'. Path 'properties.validationLevel'", level)
	}
	template, _ := properties(body)["template"].(object)
	proposals, fault := s.readTemplate(template, q.target.scope)
	if fault != "" {
		return gatewayError(http.StatusBadRequest, "InvalidTemplate", "Deployment template validation failed: '%s'.", fault)
	}
	if strings.EqualFold(level, "Template") {
		return newResponse(http.StatusOK, object{"properties": object{"provisioningState": "Succeeded"}})
	}
	var details []any
	ids := []any{}
	for _, p := range proposals {
		inner := q.proposed(p)
		if resp := s.checkRights(inner); resp != nil && !strings.EqualFold(level, "ProviderNoRbac") {
			return gatewayError(http.StatusForbidden, "InvalidTemplateDeployment",
				"Deployment failed with multiple errors: 'Authorization failed for template resource '%s' of type '%s'. %s'", inner.target.name(), inner.resourceType, resp.message)
		}
		if inner.target.group != "" && s.find(groupOf(p.id)) == nil && !slices.ContainsFunc(proposals, func(other proposal) bool { return key(other.id) == key(groupOf(p.id)) }) {
			return errGroupNotFound(inner.target.group)
		}
		details = append(details, s.objections(inner, p.body)...)
		ids = append(ids, object{"id": p.id})
	}
	if len(details) > 0 {
		return withDetails(http.StatusBadRequest, "InvalidTemplateDeployment",
			fmt.Sprintf("The template deployment '%s' is not valid according to the validation procedure. The tracking id is '%s'. See inner errors for details.", name, q.correlationID), details)
	}
	return newResponse(http.StatusOK, object{"id": q.target.id, "name": name, "type": deploymentType,
		"properties": object{"mode": "Incremental", "provisioningState": "Succeeded", "validatedResources": ids}})
}

// groupOf returns the ID of the group that a resource is in.
func groupOf(id string) string {
	t, _ := parseID(id)
	return "/subscriptions/" + t.subscription + "/resourceGroups/" + t.group
}

// readTemplate returns the resources of a template that is deployed to a scope, with those of
// nested deployments. A text in brackets is an expression, which the simulator does not
// evaluate; two opening brackets begin a literal text
// (learn.microsoft.com/azure/azure-resource-manager/templates/template-expressions).
func (s *Simulator) readTemplate(template object, scope string) (proposals []proposal, fault string) {
	if text(template, "$schema") == "" || text(template, "contentVersion") == "" {
		return nil, "The template has no '$schema' or no 'contentVersion'"
	}
	list, _ := template["resources"].([]any)
	for _, item := range list {
		stated, _ := item.(object)
		if strings.EqualFold(text(stated, "type"), deploymentType) {
			// Of a nested deployment, whose expressions are its own.
			inner := scope
			if group := text(stated, "resourceGroup"); group != "" {
				inner += "/resourceGroups/" + group
			}
			nested, _ := properties(stated)["template"].(object)
			below, fault := s.readTemplate(nested, inner)
			if fault != "" {
				return nil, fault
			}
			proposals = append(proposals, below...)
			continue
		}
		evaluated, bad := literal(stated)
		if bad != "" {
			return nil, "Unable to process template language expressions: '" + bad + "'"
		}
		stated, _ = evaluated.(object)
		at := scope
		if extended := text(stated, "scope"); extended != "" {
			at += "/providers/" + extended
		}
		id, ok := proposedID(at, text(stated, "type"), text(stated, "name"))
		if !ok || text(stated, "apiVersion") == "" {
			return nil, fmt.Sprintf("The resource '%s' of type '%s' has incorrect segment lengths, or no api-version", text(stated, "name"), text(stated, "type"))
		}
		proposals = append(proposals, proposal{id: id, apiVersion: text(stated, "apiVersion"),
			body: withoutMembers(stated, "name", "apiVersion", "type", "dependsOn", "scope", "comments", "condition")})
	}
	return proposals, ""
}

// literal returns a value of a template in which all texts are literal, or an expression in it.
func literal(value any) (out any, expression string) {
	switch v := value.(type) {
	case object:
		made := object{}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if made[name], expression = literal(v[name]); expression != "" {
				return nil, expression
			}
		}
		return made, ""
	case []any:
		made := make([]any, len(v))
		for i := range v {
			if made[i], expression = literal(v[i]); expression != "" {
				return nil, expression
			}
		}
		return made, ""
	case string:
		switch {
		case !strings.HasPrefix(v, "[") || !strings.HasSuffix(v, "]"):
		case strings.HasPrefix(v, "[["):
			return v[1:], ""
		default:
			return nil, v
		}
	}
	return value, ""
}

// withoutMembers returns an object without some members.
func withoutMembers(o object, names ...string) object {
	out := cloneObject(o)
	for _, name := range names {
		delete(out, name)
	}
	return out
}
