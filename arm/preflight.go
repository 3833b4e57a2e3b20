package arm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
)

// The api-versions of the validations. validateResources is not documented; its version, request
// and answer are those of Azure/terraform-provider-azapi (internal/services/preflight) and
// Azure/aztfpreflight. Of deployments it is the first stable one with validationLevel.
const (
	validateResourcesVersion = "2020-10-01"
	deploymentsVersion       = "2025-03-01"
)

// ValidationLevel is how much a validation of a deployment checks.
type ValidationLevel string

// The levels that ask the provider: with and without the right to write the resource.
// Source: https://learn.microsoft.com/rest/api/resources/deployments/validate
const (
	ValidateAsWriter ValidationLevel = "Provider"
	ValidateAsReader ValidationLevel = "ProviderNoRbac"
)

// Proposal is a PUT that ARM is asked about before it is sent.
type Proposal struct {
	ID         resource.ID
	APIVersion string
	// Body is the body of the PUT, which is not changed.
	Body map[string]any
}

// ProposalGroup has the common values of the proposals in one ValidateResources.
type ProposalGroup struct{ Provider, Type, Location, Scope string }

// Group returns the group of a proposal.
func (p Proposal) Group() ProposalGroup {
	scope, _ := p.place()
	provider, nested, _ := strings.Cut(p.ID.Type(), "/")
	return ProposalGroup{
		Provider: strings.ToLower(provider), Type: strings.ToLower(nested), Scope: scope.Key(),
		Location: resource.NormalLocation(jsontree.Text(p.Body, "location")),
	}
}

// place returns the scope of a resource, zero for the tenant, and its name of as many segments as
// its type has.
func (p Proposal) place() (scope resource.ID, name string) {
	name = p.ID.Short()
	at := p.ID
	for at.IsChild() {
		at = at.Owner()
	}
	return at.Owner(), name
}

// entry returns the proposal as both validations take it.
func (p Proposal) entry() map[string]any {
	entry := jsontree.Clone(p.Body)
	if entry == nil {
		entry = map[string]any{}
	}
	for _, name := range []string{"id", "name", "type", "apiVersion"} {
		if own, _, stated := jsontree.Member(entry, name); stated {
			delete(entry, own)
		}
	}
	_, entry["name"] = p.place()
	entry["type"], entry["apiVersion"] = p.ID.Type(), p.APIVersion
	return entry
}

// Verdict is the result of a validation.
type Verdict string

// The verdicts. Unsupported: the validation does not know the type. Unjudged: ARM refused the
// validation itself, which says nothing about the proposals.
const (
	NoObjection Verdict = "noObjection"
	Objected    Verdict = "objected"
	Unsupported Verdict = "unsupported"
	Unjudged    Verdict = "unjudged"
)

// Answer is ARM's answer to a validation.
type Answer struct {
	// Verdict is "" while an operation runs: Poll its Token.
	Verdict Verdict
	// Objections are the innermost errors, in ARM's order.
	Objections []Detail
	// Refusal is ARM's error, nil without one.
	Refusal *Error
	Operation
}

// ValidateResources asks ARM about proposals of one group. It changes nothing. A returned error
// is one of the transport, of a budget, or of a service that failed.
func (c *Client) ValidateResources(ctx context.Context, proposals []Proposal) (Answer, error) {
	scope, _ := proposals[0].place()
	provider, nested, _ := strings.Cut(proposals[0].ID.Type(), "/")
	body := map[string]any{"provider": provider, "type": nested, "location": proposals[0].Group().Location, "scope": scopePath(scope)}
	entries := make([]any, len(proposals))
	for i, p := range proposals {
		entries[i] = p.entry()
	}
	body["resources"] = entries
	answer, err := c.validate(ctx, proposals[0].ID, "/providers/Microsoft.Resources/validateResources", validateResourcesVersion, body)
	if err != nil {
		return Answer{}, fmt.Errorf("ask ARM about %s: %w", proposals[0].ID.Type(), err)
	}
	return answer, nil
}

// scopePath returns the path of a scope: "/" for the tenant.
func scopePath(scope resource.ID) string {
	if scope.IsZero() || strings.EqualFold(scope.Type(), resource.TypeTenant) {
		return "/"
	}
	return scope.String()
}

// DeploymentOptions are the options of ValidateDeployment.
type DeploymentOptions struct {
	Level ValidationLevel
	// GroupAbsent is set if the resource group does not exist: the deployment goes to the
	// subscription and contains the group.
	GroupAbsent bool
}

// ValidateDeployment asks ARM about a deployment of one proposal. It changes nothing. The errors
// are those of ValidateResources.
func (c *Client) ValidateDeployment(ctx context.Context, p Proposal, options DeploymentOptions) (Answer, error) {
	scope, body := deploymentOf(p, options)
	location := jsontree.Text(body, "location")
	if !strings.EqualFold(scope.Type(), resource.TypeResourceGroup) && location == "" {
		return Answer{Verdict: Unjudged, Refusal: &Error{
			Message: "a deployment outside of a resource group needs a location, and the manifest states none"}}, nil
	}
	path := strings.TrimSuffix(scopePath(scope), "/") + "/providers/Microsoft.Resources/deployments/" + deploymentName(p.ID) + "/validate"
	answer, err := c.validate(ctx, p.ID, path, deploymentsVersion, body)
	if err != nil {
		return Answer{}, fmt.Errorf("ask ARM about a deployment of %s: %w", p.ID.Short(), err)
	}
	return answer, nil
}

// deploymentName returns the name of the deployment that ARM is asked about. ARM stores none.
func deploymentName(id resource.ID) string {
	sum := sha256.Sum256([]byte(id.Key()))
	return "armature-preflight-" + hex.EncodeToString(sum[:4])
}

// deploymentOf returns the scope of a deployment of a proposal and the body of its validation.
func deploymentOf(p Proposal, options DeploymentOptions) (resource.ID, map[string]any) {
	entry := escapeExpressions(p.entry())
	scope, _ := p.place()
	extended := scope
	for !scope.IsZero() && !scope.IsContainer() {
		scope = scope.Owner()
	}
	if rest := strings.TrimPrefix(extended.String(), scope.String()); rest != "" {
		entry["scope"] = strings.TrimPrefix(rest, "/providers/")
	}
	resources := []any{entry}
	location := jsontree.Value(p.Body, "location")
	if options.GroupAbsent && strings.EqualFold(scope.Type(), resource.TypeResourceGroup) {
		group := scope
		scope = group.Owner()
		resources = []any{
			map[string]any{"type": resource.TypeResourceGroup, "apiVersion": resource.ResourceGroupAPIVersion, "name": group.Name(), "location": location},
			map[string]any{
				"type": "Microsoft.Resources/deployments", "apiVersion": deploymentsVersion, "name": deploymentName(p.ID),
				"resourceGroup": group.Name(), "dependsOn": []any{group.String()},
				"properties": map[string]any{
					"mode": "Incremental", "expressionEvaluationOptions": map[string]any{"scope": "inner"}, "template": templateOf(resources),
				},
			},
		}
	}
	body := map[string]any{"properties": map[string]any{"mode": "Incremental", "validationLevel": string(options.Level), "template": templateOf(resources)}}
	if !strings.EqualFold(scope.Type(), resource.TypeResourceGroup) && location != nil {
		body["location"] = location
	}
	return scope, body
}

func templateOf(resources []any) map[string]any {
	return map[string]any{
		"$schema":        "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#",
		"contentVersion": "1.0.0.0", "resources": resources,
	}
}

// escapeExpressions doubles the first bracket of the texts that a template would evaluate: those
// in brackets. Others that begin with a bracket are literal, and a second one would stay.
// Source: https://learn.microsoft.com/azure/azure-resource-manager/templates/template-expressions#escape-characters
func escapeExpressions(entry map[string]any) map[string]any {
	edited := jsontree.Edit(entry, func(_ string, value any) (any, jsontree.Next) {
		if text, ok := value.(string); ok && strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") {
			return "[" + text, jsontree.Done
		}
		return value, jsontree.Inside
	})
	object, _ := edited.(map[string]any)
	return object
}

// validate posts a validation on behalf of a resource.
func (c *Client) validate(ctx context.Context, subject resource.ID, path, apiVersion string, body map[string]any) (Answer, error) {
	c, err := c.For(ctx, subject)
	if err != nil {
		return Answer{}, err
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return Answer{}, fmt.Errorf("encode the validation: %w", err)
	}
	target, err := c.path(path, apiVersion)
	if err != nil {
		return Answer{}, err
	}
	trip := &roundTrip{call: CallPost, typ: "Microsoft.Resources/deployments", action: "validate", reads: true}
	resp, payload, err := c.do(ctx, trip, http.MethodPost, target, raw, nil)
	if err != nil {
		return Answer{}, err
	}
	if !success(resp.StatusCode) {
		return judge(newError(http.MethodPost, resp.StatusCode, resp.Header, payload, c.now))
	}
	operation := c.newOperation(resp, payload, writeRequest{method: http.MethodPost, id: subject, reads: true})
	return judgeOperation(operation)
}

// judgeOperation returns the answer of a finished operation, or its token.
func judgeOperation(operation Operation) (Answer, error) {
	switch {
	case operation.Token != "":
		return Answer{Operation: operation}, nil
	case !operation.Done:
		return Answer{Verdict: Unjudged, Refusal: &Error{Message: "ARM accepted the validation and named nothing to poll"}}, nil
	}
	// Older api-versions answer 200 with the error.
	if failure := parseError(operation.Body); innerError(decodeObject(string(operation.Body))) != nil {
		failure.Status, failure.RequestID = operation.Status, operation.RequestID
		failure.classify(http.MethodPost)
		return judge(failure)
	}
	return Answer{Verdict: NoObjection}, nil
}

// PollValidation polls the operation of an answer once.
func (c *Client) PollValidation(ctx context.Context, token string) (Answer, error) {
	poll, err := c.Poll(ctx, token)
	switch {
	case err != nil:
		return Answer{}, err
	case poll.Err != nil:
		return judge(poll.Err)
	case poll.Done:
		return Answer{Verdict: NoObjection}, nil
	case poll.Token == "":
		return Answer{Verdict: Unjudged, Refusal: &Error{Message: "the operation of the validation cannot be read"}}, nil
	}
	return Answer{Operation: Operation{Token: poll.Token, Response: Response{RetryAfter: poll.RetryAfter}}}, nil
}

// verdictCodes are the outer codes with which ARM rejects proposals: of validateResources, of a
// deployment, of one check, of policies, and of links to other resources.
var verdictCodes = []string{
	"ResourceValidationFailed", "InvalidTemplateDeployment", "PreflightValidationCheckFailed", "MultipleErrorsOccurred",
	"RequestDisallowedByPolicy", "LinkedAuthorizationFailed", "LinkedInvalidPropertyId",
}

// requestCodes are the codes with which ARM rejects the validation itself, if they are the outer
// ones: a malformed request or template, and a scope that is absent.
var requestCodes = []string{
	"InvalidTemplate", "InvalidDeployment", "InvalidRequestContent", "InvalidRequestFormat", "InvalidApiVersionParameter", "InvalidResourceType",
	"NoRegisteredProviderFound", "LocationRequired", "ResourceGroupNotFound", "SubscriptionNotFound", "InvalidDeploymentName", "DeploymentActive",
}

// judge returns the answer that an error is, or the error if it says nothing about proposals and
// may end by itself.
func judge(failure *Error) (Answer, error) {
	is := func(codes []string) bool {
		return slices.ContainsFunc(codes, func(code string) bool { return strings.EqualFold(code, failure.Code) })
	}
	words := strings.ToLower(failure.Code + " " + failure.Message)
	switch status := failure.Status; {
	case failure.Transient() || failure.Class == ClassThrottled:
		return Answer{}, failure
	case is(verdictCodes):
		return Answer{Verdict: Objected, Objections: failure.causes(), Refusal: failure}, nil
	case strings.Contains(strings.ReplaceAll(words, " ", ""), "notsupport") && (strings.Contains(words, "preflight") || strings.Contains(words, "validat")):
		return Answer{Verdict: Unsupported, Refusal: failure}, nil
	case is(requestCodes), status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusNotFound,
		status == http.StatusMethodNotAllowed, status == http.StatusNotImplemented:
		return Answer{Verdict: Unjudged, Refusal: failure}, nil
	}
	return Answer{Verdict: Objected, Objections: failure.causes(), Refusal: failure}, nil
}

// causes returns the innermost errors: those that no further details explain.
func (e *Error) causes() []Detail {
	var causes []Detail
	for _, detail := range e.Details {
		if !detail.Explained && !strings.EqualFold(detail.Code, policyViolation) {
			causes = append(causes, detail)
		}
	}
	if len(causes) == 0 {
		causes = []Detail{{Code: e.Code, Message: e.Message, Target: e.Target}}
	}
	return causes
}
