package armsim_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/armsim"
)

const (
	validateResources = "/providers/Microsoft.Resources/validateResources?api-version=2020-10-01"
	validateInGroup   = group + "/providers/Microsoft.Resources/deployments/d/validate?api-version=2025-03-01"
	validateAbove     = root + "/providers/Microsoft.Resources/deployments/d/validate?api-version=2025-03-01"
)

// leaves returns code and target of the innermost errors of a response.
func leaves(r response) []string {
	var all []string
	var add func(node any)
	add = func(node any) {
		o, _ := node.(map[string]any)
		details, _ := o["details"].([]any)
		for _, detail := range details {
			add(detail)
		}
		if len(details) == 0 {
			all = append(all, fmt.Sprint(o["code"], " ", o["target"]))
		}
	}
	add(r.at("error"))
	return all
}

// storageBody returns the body of a validation of storage accounts.
func storageBody(resources ...string) string {
	return fmt.Sprintf(`{"provider":"Microsoft.Storage","type":"storageAccounts","location":"westus2","scope":%q,"resources":[%s]}`, group, strings.Join(resources, ","))
}

const goodAccount = `{"name":"good","apiVersion":"2023-01-01","location":"West US 2","kind":"StorageV2","sku":{"name":"Standard_LRS"},"properties":{}}`

// TestValidateResources checks that a validation finds what a PUT would, and writes nothing.
func TestValidateResources(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason, body string
		change       func(*harness)
		status       int
		code         string
		leaves       []string
	}{
		"good": {reason: "nothing to object", body: storageBody(goodAccount), status: 200},
		"two of one body": {
			reason: "all findings of a body have a target", status: 400, code: "ResourceValidationFailed",
			body:   storageBody(`{"name":"bad","apiVersion":"2023-01-01","location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"},"properties":{"minimumTlsVerison":"TLS1_2","supportsHttpsTrafficOnly":"yes"}}`),
			leaves: []string{"InvalidRequestContent properties.minimumTlsVerison", "InvalidRequestContent properties.supportsHttpsTrafficOnly"},
		},
		"one of two resources": {
			reason: "the good one is not named", status: 400, code: "ResourceValidationFailed",
			body:   storageBody(goodAccount, `{"name":"bad","apiVersion":"2023-01-01","location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"},"properties":{"a":1}}`),
			leaves: []string{"InvalidRequestContent properties.a"},
		},
		"policy": {
			reason: "policies deny at ARM, with the name as target", status: 400, code: "ResourceValidationFailed",
			change: func(h *harness) {
				if err := h.AddPolicy(armsim.Policy{Name: "tags", Type: "Microsoft.Storage/*", Effect: "deny", Tags: map[string]string{"cost": ""}}); err != nil {
					h.t.Fatal(err)
				}
			},
			body: storageBody(goodAccount), leaves: []string{"RequestDisallowedByPolicy good"},
		},
		"absent group": {reason: "the scope need not exist", body: strings.ReplaceAll(storageBody(goodAccount), "rg1", "rg9"), status: 200},
		"no right": {
			reason: "the API needs the right to write", status: 403, code: "AuthorizationFailed", leaves: []string{"AuthorizationFailed <nil>"},
			change: func(h *harness) { h.Deny(armsim.Denial{Scope: "*/storageAccounts/*", Method: "PUT"}) }, body: storageBody(goodAccount),
		},
		"unsupported": {
			reason: "many providers have no preflight", status: 400, code: "PreflightNotSupported", leaves: []string{"PreflightNotSupported <nil>"},
			change: func(h *harness) { h.AnswerType(armsim.AnswerRule{Type: "Microsoft.Storage/*", NoPreflight: true}) }, body: storageBody(goodAccount),
		},
		"other location": {
			reason: "one request is about one location", status: 400, code: "InvalidRequestContent", leaves: []string{"InvalidRequestContent <nil>"},
			body: strings.Replace(storageBody(goodAccount), "westus2", "eastus", 1),
		},
		"segments": {
			reason: "a name has a segment for each of the type", status: 400, code: "InvalidRequestContent", leaves: []string{"InvalidRequestContent <nil>"},
			body: strings.Replace(storageBody(goodAccount), `"good"`, `"a/b"`, 1),
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, armsim.Options{Validate: true})
			h.makeGroup()
			if tc.change != nil {
				tc.change(h)
			}
			h.ResetCounters()
			got := h.do("POST", validateResources, tc.body)
			h.want(got, tc.status, tc.code)
			if tc.status != 200 {
				if diff := cmp.Diff(tc.leaves, leaves(got)); diff != "" {
					t.Errorf("%s (-want +got)\n%s\n%s", tc.reason, diff, got.raw)
				}
			}
			if len(h.Writes()) != 0 || h.do("GET", account+version, "").status != 404 {
				t.Errorf("%s: a validation wrote %v", tc.reason, h.Writes())
			}
		})
	}
}

// template returns the body of a validation of a deployment.
func template(level, location, resources string) string {
	return fmt.Sprintf(`{%s"properties":{"mode":"Incremental","validationLevel":%q,"template":{"$schema":"https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#","contentVersion":"1.0.0.0","resources":[%s]}}}`,
		location, level, resources)
}

const (
	inTemplate = `{"type":"Microsoft.Storage/storageAccounts","name":"good","apiVersion":"2023-01-01","location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"},"properties":{},"tags":{"a":%q}}`
	absent     = `{"type":"Microsoft.Resources/deployments","apiVersion":"2025-03-01","name":"in","resourceGroup":"rg9","properties":{"template":{"$schema":"x","contentVersion":"1.0.0.0","resources":[` + inTemplate + `]}}}`
	newGroup   = `{"type":"Microsoft.Resources/resourceGroups","apiVersion":"2021-04-01","name":"rg9","location":"westus2"},`
)

// TestValidateDeployment checks the levels, the expressions and the scopes of a validation.
func TestValidateDeployment(t *testing.T) {
	t.Parallel()
	deny := func(h *harness) { h.Deny(armsim.Denial{Scope: "*/storageAccounts/*", Method: "PUT"}) }
	tests := map[string]struct {
		reason, url, body string
		change            func(*harness)
		status            int
		code              string
	}{
		"good":            {reason: "nothing to object", url: validateInGroup, body: template("Provider", "", fmt.Sprintf(inTemplate, "x")), status: 200},
		"literal":         {reason: "two brackets begin a literal text", url: validateInGroup, body: template("Provider", "", fmt.Sprintf(inTemplate, "[[x]")), status: 200},
		"open bracket":    {reason: "one bracket alone is literal", url: validateInGroup, body: template("Provider", "", fmt.Sprintf(inTemplate, "[x")), status: 200},
		"expression":      {reason: "other texts in brackets are evaluated", url: validateInGroup, body: template("Provider", "", fmt.Sprintf(inTemplate, "[x]")), status: 400, code: "InvalidTemplate"},
		"objection":       {reason: "the provider is asked", url: validateInGroup, body: template("Provider", "", strings.Replace(fmt.Sprintf(inTemplate, "x"), `"properties":{}`, `"properties":{"a":1}`, 1)), status: 400, code: "InvalidTemplateDeployment"},
		"template only":   {reason: "the level Template asks no provider", url: validateInGroup, body: template("Template", "", strings.Replace(fmt.Sprintf(inTemplate, "x"), `"properties":{}`, `"properties":{"a":1}`, 1)), status: 200},
		"rights":          {reason: "Provider needs the right to write", url: validateInGroup, change: deny, body: template("Provider", "", fmt.Sprintf(inTemplate, "x")), status: 403, code: "InvalidTemplateDeployment"},
		"reader":          {reason: "ProviderNoRbac needs none", url: validateInGroup, change: deny, body: template("ProviderNoRbac", "", fmt.Sprintf(inTemplate, "x")), status: 200},
		"no group":        {reason: "the scope must exist", url: strings.ReplaceAll(validateInGroup, "rg1", "rg9"), body: template("Provider", "", fmt.Sprintf(inTemplate, "x")), status: 404, code: "ResourceGroupNotFound"},
		"nested":          {reason: "the template creates the group", url: validateAbove, body: template("Provider", `"location":"westus2",`, newGroup+fmt.Sprintf(absent, "[[x]")), status: 200},
		"nested in none":  {reason: "nothing creates the group", url: validateAbove, body: template("Provider", `"location":"westus2",`, fmt.Sprintf(absent, "x")), status: 404, code: "ResourceGroupNotFound"},
		"without a place": {reason: "a subscription is in no location", url: validateAbove, body: template("Provider", "", newGroup+fmt.Sprintf(absent, "x")), status: 400, code: "LocationRequired"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, armsim.Options{Validate: true})
			h.makeGroup()
			if tc.change != nil {
				tc.change(h)
			}
			h.ResetCounters()
			got := h.do("POST", tc.url, tc.body)
			if got.status != tc.status || got.code() != tc.code {
				t.Errorf("%s: got %d %q, want %d %q: %s", tc.reason, got.status, got.code(), tc.status, tc.code, got.raw)
			}
			if len(h.Writes()) != 0 {
				t.Errorf("%s: a validation wrote %v", tc.reason, h.Writes())
			}
		})
	}
}

// TestValidateDeploymentInOperation checks that the last poll returns the answer.
func TestValidateDeploymentInOperation(t *testing.T) {
	t.Parallel()
	h := newHarness(t, armsim.Options{Validate: true})
	h.makeGroup()
	h.AddOperationRule(armsim.OperationRule{Type: "Microsoft.Resources/deployments", Spec: armsim.OperationSpec{Shape: armsim.ShapeLocation, Seconds: 5, RetryAfter: []float64{1}}})
	for bad, code := range map[string]string{`{}`: "", `{"a":1}`: "InvalidTemplateDeployment"} {
		accepted := h.do("POST", validateInGroup, template("Provider", "", strings.Replace(fmt.Sprintf(inTemplate, "x"), `"properties":{}`, `"properties":`+bad, 1)))
		h.want(accepted, 202, "")
		poll := accepted.header.Get("Location")
		h.want(h.do("GET", poll, ""), 202, "")
		h.pass(10 * time.Second)
		if got := h.do("GET", poll, ""); got.code() != code || (code == "") != (got.status == 200) {
			t.Errorf("with properties %s: got %d %q, want %q: %s", bad, got.status, got.code(), code, got.raw)
		}
	}
}
