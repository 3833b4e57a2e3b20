package extensionhost_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/extensions/extensiontest"
	"github.com/armature-io/armature/resource"
)

// Specification of the post-checker, pattern 1: ready by the resource's state.
func TestSpecPostState(t *testing.T) {
	situations(t, postLink(func(obj, _ *resource.Object, w given) (extensions.PostReconcileCheckResult, error) {
		state := obj.ProvisioningState()
		switch state {
		case "":
			return extensions.PostReconcileCheckResultFailure("provisioning state not yet available"), nil
		case "Succeeded":
			return w.nextPost()
		}
		return extensions.PostReconcileCheckResultFailure(fmt.Sprintf("resource still provisioning: %s", state)), nil
	}), map[string]situation{
		"no state":  {reason: "not yet", observed: `{}`, want: fails, why: "PostReconciliationFailure", severity: "Warning", class: "Slow", message: "provisioning state not yet available"},
		"running":   {reason: "not yet", observed: `{"properties":{"provisioningState":"Provisioning"}}`, want: fails, message: "resource still provisioning: Provisioning"},
		"succeeded": {reason: "ready", observed: `{"properties":{"provisioningState":"Succeeded"}}`, want: readyNow, why: "Succeeded"},
	})
}

// rollout reads the progress from another Azure resource: pattern 2, and the checks
// of certificates and DNS, which read other resources.
func rollout(askedID, path, done, waiting string) postLink {
	return func(_, _ *resource.Object, w given) (extensions.PostReconcileCheckResult, error) {
		id, err := resource.ParseID(askedID)
		if err != nil {
			return extensions.PostReconcileCheckResult{}, err
		}
		response, err := w.client.Get(w.ctx, id, "2023-01-01")
		if arm.IsAbsent(err) {
			return extensions.PostReconcileCheckResultFailure(waiting), nil
		}
		if err != nil {
			return extensions.PostReconcileCheckResult{}, fmt.Errorf("query %s: %w", id.Name(), err)
		}
		var body map[string]any
		if err := json.Unmarshal(response.Body, &body); err != nil {
			return extensions.PostReconcileCheckResult{}, err
		}
		found := resource.Object{Observed: body}
		if state, _ := found.StringAt(path); state != done {
			return extensions.PostReconcileCheckResultFailure(waiting), nil
		}
		return w.nextPost()
	}
}

func judgeRollout(t *testing.T, asked, path, done, waiting string) {
	shows := func(state string) *extensiontest.Client {
		return &extensiontest.Client{Resources: map[string]string{asked: `{"properties":{"state":"` + state + `"}}`}}
	}
	situations(t, rollout(asked, path, done, waiting), map[string]situation{
		"pending": {reason: "in progress", observed: `{}`, client: shows("InProgress"), want: fails, message: waiting},
		"absent":  {reason: "not started", observed: `{}`, want: fails, message: waiting},
		"done":    {reason: "ready", observed: `{}`, client: shows(done), want: readyNow},
		"unknown": {reason: "the query failed: an error, not a failure", observed: `{}`, client: &extensiontest.Client{Err: errors.New("cut")}, want: errs, why: "CheckFailed", severity: "Warning", class: "Slow"},
	})
}

// Pattern 2: query Azure for additional state.
func TestSpecPostOtherQuery(t *testing.T) {
	judgeRollout(t, childID+"/deployments/current", "properties.state", "Done", "deployment still in progress")
}

// Readiness: certificates.
func TestSpecPostCertificate(t *testing.T) {
	judgeRollout(t, childID+"/certificates/tls", "properties.state", "Issued", "the certificate is not issued yet")
}

// Readiness: DNS.
func TestSpecPostDNS(t *testing.T) {
	judgeRollout(t, childID+"/dnsRecords/www", "properties.state", "Propagated", "the DNS record is not everywhere yet")
}

// Pattern 3: dependent resources must be ready.
func TestSpecPostDependents(t *testing.T) {
	const other = groupID + "/providers/Contoso.Things/things/t1"
	const body = `{"properties":{"dependsOnId":"` + other + `"}}`
	link := postLink(func(obj, _ *resource.Object, w given) (extensions.PostReconcileCheckResult, error) {
		text, set := obj.DesiredAt("properties.dependsOnId")
		if !set {
			return w.nextPost()
		}
		id, err := resource.ParseID(fmt.Sprint(text))
		if err != nil {
			return extensions.PostReconcileCheckResult{}, err
		}
		found, err := w.resolver.Resolve(w.ctx, resource.Reference{ID: id, APIVersion: "2023-01-01"})
		if err != nil {
			return extensions.PostReconcileCheckResult{}, err
		}
		if !found.Ready {
			return extensions.PostReconcileCheckResultFailure("waiting for dependent resource to be ready", extensions.WithWaitingFor(id)), nil
		}
		return w.nextPost()
	})
	knows := func(state string) *extensiontest.Resolver {
		return &extensiontest.Resolver{Resources: map[string]string{other: `{"properties":{"provisioningState":"` + state + `"}}`}}
	}
	situations(t, link, map[string]situation{
		"absent":    {reason: "not there", desired: body, observed: `{}`, want: fails, message: "waiting for dependent resource to be ready"},
		"not ready": {reason: "changing", desired: body, observed: `{}`, resolver: knows("Creating"), want: fails, message: "waiting for dependent resource to be ready"},
		"ready":     {reason: "ready", desired: body, observed: `{}`, resolver: knows("Succeeded"), want: readyNow},
		"none":      {reason: "optional", observed: `{}`, want: readyNow},
		"broken":    {reason: "the look-up failed", desired: body, observed: `{}`, resolver: &extensiontest.Resolver{Err: errors.New("no")}, want: errs},
	})
}

// Decision record 2023-03: the check gives severity, reason and message.
func TestSpecPostSeverityReasonMessage(t *testing.T) {
	situations(t, postLink(func(obj, _ *resource.Object, w given) (extensions.PostReconcileCheckResult, error) {
		switch state, _ := obj.StringAt("properties.approval"); state {
		case "Pending":
			return extensions.PostReconcileCheckResultFailure("ask the owner of the other side", extensions.WithReason("ApprovalPending"), extensions.WithSeverity(resource.SeverityInfo)), nil
		case "Rejected":
			return extensions.PostReconcileCheckResultFailure("it was rejected", extensions.WithReason("ApprovalRejected"), extensions.WithSeverity(resource.SeverityError)), nil
		}
		return w.nextPost()
	}), map[string]situation{
		"pending":  {reason: "the happy path", observed: `{"properties":{"approval":"Pending"}}`, want: fails, why: "ApprovalPending", severity: "Info", class: "Slow", message: "ask the owner of the other side"},
		"rejected": {reason: "it is not retried until a user acts", observed: `{"properties":{"approval":"Rejected"}}`, want: fails, why: "ApprovalRejected", severity: "Error", class: "None", message: "it was rejected"},
		"approved": {reason: "ready", observed: `{"properties":{"approval":"Approved"}}`, want: readyNow},
	})
}
