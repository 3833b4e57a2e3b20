package arm_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
)

// preflightServer answers one validation and keeps its path and body.
type preflightServer struct {
	*arm.Client
	path string
	body map[string]any
}

func newPreflightServer(t *testing.T, status int, answer string, options ...func(*arm.Options)) *preflightServer {
	t.Helper()
	s := &preflightServer{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(raw, &s.body) != nil || r.Method != http.MethodPost {
			t.Errorf("%s with body %s: %v", r.Method, raw, err)
		}
		s.path = r.URL.Path
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	cloud, err := arm.CloudConfiguration(arm.CloudOptions{Name: arm.CloudCustom, Endpoint: server.URL, AuthorityHost: "https://login.invalid"})
	if err != nil {
		t.Fatal(err)
	}
	o := arm.Options{Cloud: cloud, ReadOnly: true, MayWrite: func(context.Context, arm.Write) error { return errors.New("a validation is no write") }}
	for _, change := range options {
		change(&o)
	}
	if s.Client, err = arm.NewClient(o); err != nil {
		t.Fatal(err)
	}
	return s
}

func proposalOf(t *testing.T, text, body string) arm.Proposal {
	t.Helper()
	id, err := resource.ParseID(text)
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := resource.DecodeBody(json.RawMessage(body))
	if err != nil {
		t.Fatal(err)
	}
	return arm.Proposal{ID: id, APIVersion: "2024-01-01", Body: decoded}
}

const netText = group + "/providers/Microsoft.Network/virtualNetworks/n1"

// TestValidateResourcesRequest checks the request, which counts as a read.
func TestValidateResourcesRequest(t *testing.T) {
	t.Parallel()
	s := newPreflightServer(t, 200, `{"properties":{"validatedResources":[]}}`)
	answer, err := s.ValidateResources(t.Context(), []arm.Proposal{
		proposalOf(t, netText+"/subnets/a", `{"name":"a","id":"x","properties":{"addressPrefix":"10.0.0.0/24"}}`),
		proposalOf(t, netText+"/subnets/b", `{"properties":{"note":"[x]"}}`),
	})
	if err != nil || answer.Verdict != arm.NoObjection {
		t.Fatalf("got %+v, %v", answer, err)
	}
	want := map[string]any{
		"provider": "Microsoft.Network", "type": "virtualNetworks/subnets", "location": "", "scope": group,
		"resources": []any{
			map[string]any{"name": "n1/a", "type": "Microsoft.Network/virtualNetworks/subnets", "apiVersion": "2024-01-01", "properties": map[string]any{"addressPrefix": "10.0.0.0/24"}},
			map[string]any{"name": "n1/b", "type": "Microsoft.Network/virtualNetworks/subnets", "apiVersion": "2024-01-01", "properties": map[string]any{"note": "[x]"}},
		},
	}
	if diff := cmp.Diff(want, s.body); diff != "" || s.path != "/providers/Microsoft.Resources/validateResources" {
		t.Errorf("POST %s (-want +got)\n%s", s.path, diff)
	}
}

// TestValidateDeploymentRequest checks scope, path and template of a deployment.
func TestValidateDeploymentRequest(t *testing.T) {
	t.Parallel()
	const lock = `{"properties":{"level":"CanNotDelete","notes":"[keep]"}}`
	type resourceOf = map[string]any
	cases := map[string]struct {
		reason, id, body string
		groupAbsent      bool
		scope            string
		want             any
	}{
		"InGroup": {
			reason: "texts in brackets are literal", id: netText, body: `{"location":"westus2","tags":{"a":"[x]","b":"[x","c":"[[x]"}}`, scope: group,
			want: []any{resourceOf{"type": "Microsoft.Network/virtualNetworks", "name": "n1", "apiVersion": "2024-01-01", "location": "westus2",
				"tags": resourceOf{"a": "[[x]", "b": "[x", "c": "[[[x]"}}},
		},
		"Child": {
			reason: "a child is named with its parents", id: netText + "/subnets/a", body: `{}`, scope: group,
			want: []any{resourceOf{"type": "Microsoft.Network/virtualNetworks/subnets", "name": "n1/a", "apiVersion": "2024-01-01"}},
		},
		"Extension": {
			reason: "what a resource has attached names it as its scope", id: netText + "/providers/Microsoft.Authorization/locks/l", body: lock, scope: group,
			want: []any{resourceOf{"type": "Microsoft.Authorization/locks", "name": "l", "apiVersion": "2024-01-01", "scope": "Microsoft.Network/virtualNetworks/n1",
				"properties": resourceOf{"level": "CanNotDelete", "notes": "[[keep]"}}},
		},
		"Group": {
			reason: "a group is deployed to its subscription", id: group, body: `{"location":"westus2"}`, scope: subscription,
			want: []any{resourceOf{"type": "Microsoft.Resources/resourceGroups", "name": "RG.(1)", "apiVersion": "2024-01-01", "location": "westus2"}},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newPreflightServer(t, 200, `{"properties":{"provisioningState":"Succeeded"}}`)
			answer, err := s.ValidateDeployment(t.Context(), proposalOf(t, c.id, c.body), arm.DeploymentOptions{Level: arm.ValidateAsReader, GroupAbsent: c.groupAbsent})
			if err != nil || answer.Verdict != arm.NoObjection {
				t.Fatalf("%s: got %+v, %v", c.reason, answer, err)
			}
			properties := s.body["properties"].(map[string]any)
			template := properties["template"].(map[string]any)
			if diff := cmp.Diff(c.want, template["resources"]); diff != "" || properties["validationLevel"] != "ProviderNoRbac" || properties["mode"] != "Incremental" {
				t.Errorf("%s: %v (-want +got)\n%s", c.reason, properties, diff)
			}
			want := c.scope + "/providers/Microsoft.Resources/deployments/"
			if len(s.path) < len(want) || s.path[:len(want)] != want {
				t.Errorf("%s: POST %s, want it below %s", c.reason, s.path, want)
			}
		})
	}
}

// TestValidateDeploymentOfAbsentGroup checks that the deployment goes above the group and creates
// it.
func TestValidateDeploymentOfAbsentGroup(t *testing.T) {
	t.Parallel()
	s := newPreflightServer(t, 200, `{}`)
	_, err := s.ValidateDeployment(t.Context(), proposalOf(t, netText, `{"location":"westus2","tags":{"a":"[x]"}}`), arm.DeploymentOptions{Level: arm.ValidateAsWriter, GroupAbsent: true})
	if err != nil {
		t.Fatal(err)
	}
	resources := s.body["properties"].(map[string]any)["template"].(map[string]any)["resources"].([]any)
	nested := resources[1].(map[string]any)
	inner := nested["properties"].(map[string]any)["template"].(map[string]any)["resources"].([]any)[0].(map[string]any)
	if s.body["location"] != "westus2" || resources[0].(map[string]any)["name"] != "RG.(1)" || nested["resourceGroup"] != "RG.(1)" ||
		inner["name"] != "n1" || inner["tags"].(map[string]any)["a"] != "[[x]" {
		t.Errorf("POST %s %v", s.path, s.body)
	}
	answer, err := s.ValidateDeployment(t.Context(), proposalOf(t, netText, `{}`), arm.DeploymentOptions{GroupAbsent: true})
	if err != nil || answer.Verdict != arm.Unjudged || answer.Refusal == nil {
		t.Errorf("without a location: %+v, %v", answer, err)
	}
}

// TestPreflightAnswers classifies ARM's answers.
func TestPreflightAnswers(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason     string
		status     int
		answer     string
		want       arm.Verdict
		objections []arm.Detail
		failed     bool
	}{
		"Nested": {
			reason: "the innermost errors count (learn.microsoft.com, how-to-use-preflight-validation)", status: 400, want: arm.Objected,
			answer: `{"error":{"code":"ResourceValidationFailed","message":"Resource validation failed, see details.","details":[
				{"code":"PreflightValidationCheckFailed","message":"Preflight validation failed.","details":[{"code":"StorageAccountAlreadyTaken","target":"example","message":"The storage account named example is already taken."}]},
				{"code":"InvalidAddressPrefixFormat","target":"properties.addressSpace","message":"Address prefix 10.0.0.0/160 is not formatted correctly.","details":[]}]}}`,
			objections: []arm.Detail{
				{Code: "StorageAccountAlreadyTaken", Target: "example", Message: "The storage account named example is already taken."},
				{Code: "InvalidAddressPrefixFormat", Target: "properties.addressSpace", Message: "Address prefix 10.0.0.0/160 is not formatted correctly."},
			},
		},
		"Direct": {
			reason: "an error without details is the objection", status: 400, want: arm.Objected,
			answer:     `{"error":{"code":"SkuNotAvailable","message":"no such size","target":"sku.name"}}`,
			objections: []arm.Detail{{Code: "SkuNotAvailable", Target: "sku.name", Message: "no such size (target sku.name)"}},
		},
		"In200": {
			reason: "older versions answer 200 with the error", status: 200, want: arm.Objected,
			answer:     `{"error":{"code":"InvalidTemplateDeployment","message":"not valid","details":[{"code":"QuotaExceeded","message":"no cores"}]}}`,
			objections: []arm.Detail{{Code: "QuotaExceeded", Message: "no cores"}},
		},
		"Policy": {
			reason: "a policy is named by its error, not by its violation", status: 403, want: arm.Objected,
			answer:     `{"error":{"code":"RequestDisallowedByPolicy","message":"disallowed by tags","target":"a","additionalInfo":[{"type":"PolicyViolation","info":{"policyAssignmentId":"tags"}}]}}`,
			objections: []arm.Detail{{Code: "RequestDisallowedByPolicy", Target: "a", Message: "disallowed by tags"}},
		},
		"WriteRight": {
			reason: "the worker may not write the resource", status: 403, want: arm.Objected,
			answer:     `{"error":{"code":"InvalidTemplateDeployment","message":"Authorization failed for template resource 'a'."}}`,
			objections: []arm.Detail{{Code: "InvalidTemplateDeployment", Message: "Authorization failed for template resource 'a'."}},
		},
		"NoRight":      {reason: "the worker may not ask", status: 403, want: arm.Unjudged, answer: `{"error":{"code":"AuthorizationFailed","message":"no action 'validate'"}}`},
		"OldCloud":     {reason: "an older cloud lacks the API", status: 404, want: arm.Unjudged, answer: `{"error":{"code":"InvalidResourceType","message":"no validateResources"}}`},
		"NoBody":       {reason: "a gateway without the API", status: 404, want: arm.Unjudged, answer: ``},
		"Template":     {reason: "our template is at fault, not the manifest", status: 400, want: arm.Unjudged, answer: `{"error":{"code":"InvalidTemplate","message":"Deployment template validation failed"}}`},
		"Unsupported":  {reason: "the type has no preflight", status: 400, want: arm.Unsupported, answer: `{"error":{"code":"PreflightNotSupported","message":"The type does not support preflight validation."}}`},
		"NotSupported": {reason: "an objection may speak of support", status: 400, want: arm.Objected, answer: `{"error":{"code":"ResourceValidationFailed","message":"x","details":[{"code":"SkuNotSupported","message":"validation: not supported"}]}}`, objections: []arm.Detail{{Code: "SkuNotSupported", Message: "validation: not supported"}}},
		"Broken":       {reason: "a service that failed says nothing", status: 503, failed: true, answer: `{"error":{"code":"ServiceUnavailable","message":"x"}}`},
		"Throttled":    {reason: "a budget may allow it later", status: 429, failed: true, answer: `{"error":{"code":"SubscriptionRequestsThrottled","message":"x"}}`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newPreflightServer(t, c.status, c.answer)
			answer, err := s.ValidateDeployment(t.Context(), proposalOf(t, netText, `{}`), arm.DeploymentOptions{Level: arm.ValidateAsWriter})
			if (err != nil) != c.failed || answer.Verdict != c.want {
				t.Fatalf("%s: got %+v, %v, want %q", c.reason, answer, err, c.want)
			}
			if diff := cmp.Diff(c.objections, answer.Objections); diff != "" {
				t.Errorf("%s (-want +got)\n%s", c.reason, diff)
			}
		})
	}
}
