package extensionhost_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/extensions/extensiontest"
	"github.com/armature-io/armature/resource"
)

// Specification of the pre-checker, example and pattern 1: the owner must be
// there and ready.
func TestSpecPreOwnerReady(t *testing.T) {
	situations(t, preLink(func(_, owner *resource.Object, w given) (extensions.PreReconcileCheckResult, error) {
		switch {
		case !owner.Exists():
			return extensions.BlockReconcile("owner not found", extensions.WithReason(resource.ReasonWaitingForOwner)), nil
		case !owner.IsReady():
			return extensions.BlockReconcile(fmt.Sprintf("waiting for owner %s to be ready", owner.ID.Name())), nil
		}
		return w.next()
	}), map[string]situation{
		"ready":     {reason: "the owner is ready", owner: `{"properties":{"provisioningState":"Succeeded"}}`, want: proceed, why: "NotFound"},
		"no state":  {reason: "absent means Succeeded", owner: `{}`, want: proceed},
		"not ready": {reason: "wait", owner: `{"properties":{"provisioningState":"Creating"}}`, want: block, message: "waiting for owner p1 to be ready"},
		"failed":    {reason: "a failed owner is not ready", owner: `{"properties":{"provisioningState":"Failed"}}`, want: block, message: "waiting for owner p1 to be ready"},
		"absent":    {reason: "missing in Azure", owner: ``, want: block, why: "WaitingForOwner", class: "Slow", message: "owner not found"},
		"nil":       {reason: "no owner at all", none: true, want: block, message: "owner not found"},
		"condition": {reason: "provisioned, but not Ready", owner: `{}`, managed: &resource.Managed{Reason: "PendingApproval"}, want: block, message: "waiting for owner p1 to be ready"},
		"both":      {reason: "Ready in Armature too", owner: `{}`, managed: &resource.Managed{Ready: true}, want: proceed},
		"busy":      {reason: "it was Ready before another user changed it", owner: `{"properties":{"provisioningState":"Updating"}}`, managed: &resource.Managed{Ready: true}, want: block, message: "waiting for owner p1 to be ready"},
	})
}

// Pattern 2: required references must exist and be ready.
func TestSpecPreReferences(t *testing.T) {
	const network = groupID + "/providers/Contoso.Things/networks/n1"
	const body = `{"properties":{"networkId":"` + network + `"}}`
	knows := func(body string) *extensiontest.Resolver {
		return &extensiontest.Resolver{Resources: map[string]string{network: body}}
	}
	situations(t, preLink(func(obj, _ *resource.Object, w given) (extensions.PreReconcileCheckResult, error) {
		text, _ := obj.DesiredAt("properties.networkId")
		id, err := resource.ParseID(fmt.Sprint(text))
		if err != nil {
			return w.next()
		}
		resolved, err := w.resolver.Resolve(w.ctx, resource.Reference{ID: id, APIVersion: "2023-01-01"})
		switch {
		case err != nil:
			return extensions.PreReconcileCheckResult{}, err
		case !resolved.Found:
			return extensions.BlockReconcile("required network reference not found", extensions.WithReason(resource.ReasonReferenceNotFound), extensions.WithWaitingFor(id)), nil
		case !resolved.Object.IsReady():
			return extensions.BlockReconcile("required network not ready", extensions.WithReason(resource.ReasonReferenceNotReady), extensions.WithWaitingFor(id)), nil
		}
		return w.next()
	}), map[string]situation{
		"not found":    {reason: "absent", desired: body, want: block, why: "ReferenceNotFound", class: "Slow", message: "required network reference not found"},
		"not ready":    {reason: "changing", desired: body, resolver: knows(`{"properties":{"provisioningState":"Updating"}}`), want: block, why: "ReferenceNotReady", message: "required network not ready"},
		"ready":        {reason: "there", desired: body, resolver: knows(`{}`), want: proceed},
		"no reference": {reason: "optional", want: proceed},
		"condition": {reason: "provisioned, but not Ready", desired: body, resolver: &extensiontest.Resolver{
			Resources: map[string]string{network: `{}`}, Managed: map[string]resource.Managed{network: {Reason: "PendingApproval"}},
		}, want: block, message: "required network not ready"},
		"lookup fails": {reason: "an error is not a verdict about the network", desired: body, resolver: &extensiontest.Resolver{Err: errors.New("no answer")}, want: errs, why: "CheckFailed"},
	})
}

// Pattern 3: an invalid configuration blocks permanently, severity Error.
func TestSpecPreInvalidConfiguration(t *testing.T) {
	situations(t, preLink(func(obj, _ *resource.Object, w given) (extensions.PreReconcileCheckResult, error) {
		if mode, set := obj.DesiredAt("properties.mode"); set && mode != "fast" && mode != "safe" {
			return extensions.PreReconcileCheckResult{}, extensions.NewReadyConditionImpactingError(
				fmt.Errorf("mode %v is neither fast nor safe", mode), resource.SeverityError, resource.ReasonFailed)
		}
		return w.next()
	}), map[string]situation{
		"invalid": {reason: "a retry cannot succeed", desired: `{"properties":{"mode":"odd"}}`, want: errs, why: "Failed", severity: "Error", class: "None", message: "mode odd is neither fast nor safe"},
		"valid":   {reason: "fine", desired: `{"properties":{"mode":"fast"}}`, want: proceed},
		"not set": {reason: "optional", want: proceed},
	})
}

// Pattern 4: an own query of ARM; Locked and Deleting block, what is not created
// yet proceeds, a refused query is an error.
func TestSpecPreOwnQuery(t *testing.T) {
	shows := func(status string) *extensiontest.Client {
		return &extensiontest.Client{Resources: map[string]string{childID: `{"properties":{"status":"` + status + `"}}`}}
	}
	situations(t, preLink(func(obj, _ *resource.Object, w given) (extensions.PreReconcileCheckResult, error) {
		response, err := w.client.Get(w.ctx, obj.ID, "2023-01-01")
		if arm.IsAbsent(err) {
			return w.next() // not created yet
		}
		if err != nil {
			return extensions.PreReconcileCheckResult{}, err
		}
		var state struct{ Properties struct{ Status string } }
		if err := json.Unmarshal(response.Body, &state); err != nil {
			return extensions.PreReconcileCheckResult{}, err
		}
		if status := state.Properties.Status; status == "Locked" || status == "Deleting" {
			return extensions.BlockReconcile(fmt.Sprintf("resource in %s state, cannot reconcile", status)), nil
		}
		return w.next()
	}), map[string]situation{
		"Locked":      {reason: "locked", observed: `{}`, client: shows("Locked"), want: block, message: "resource in Locked state, cannot reconcile"},
		"Deleting":    {reason: "going", observed: `{}`, client: shows("Deleting"), want: block, message: "resource in Deleting state, cannot reconcile"},
		"Active":      {reason: "fine", observed: `{}`, client: shows("Active"), want: skips},
		"not created": {reason: "not created yet proceeds", want: proceed, why: "NotFound"},
		"refused":     {reason: "needs attention", observed: `{}`, client: &extensiontest.Client{Err: &arm.Error{Status: 403, Code: "AuthorizationFailed", RequestID: "r1"}}, want: errs, why: "CheckFailed"},
	})
}

// Pattern 5: gates of rate and quota.
func TestSpecPreRateAndQuota(t *testing.T) {
	const usage = groupID + "/providers/Contoso.Things/usages/cores"
	used := func(text string) *extensiontest.Client {
		return &extensiontest.Client{Resources: map[string]string{usage: text}}
	}
	gate := func(throttled bool) preLink {
		return func(_, _ *resource.Object, w given) (extensions.PreReconcileCheckResult, error) {
			if throttled {
				return extensions.BlockReconcile("rate limit reached, waiting before retry", extensions.WithReason(resource.ReasonThrottled)), nil
			}
			id, err := resource.ParseID(usage)
			if err != nil {
				return extensions.PreReconcileCheckResult{}, err
			}
			response, err := w.client.Get(w.ctx, id, "2023-01-01")
			if err != nil {
				return extensions.PreReconcileCheckResult{}, fmt.Errorf("check quota: %w", err)
			}
			var quota struct{ Current, Limit int }
			if err := json.Unmarshal(response.Body, &quota); err != nil {
				return extensions.PreReconcileCheckResult{}, err
			}
			if quota.Current >= quota.Limit {
				return extensions.BlockReconcile("quota exceeded"), nil
			}
			return w.next()
		}
	}
	situations(t, gate(false), map[string]situation{
		"over":    {reason: "full", client: used(`{"current":10,"limit":10}`), want: block, message: "quota exceeded"},
		"under":   {reason: "room", client: used(`{"current":9,"limit":10}`), want: proceed},
		"unknown": {reason: "the gate itself failed", want: errs, why: "CheckFailed"},
	})
	situations(t, gate(true), map[string]situation{
		"throttled": {reason: "waits", want: block, why: "Throttled", class: "Slow", message: "rate limit reached, waiting before retry"},
	})
}

// An external system: a change calendar behind HTTP states whether work is allowed.
func TestSpecPreExternalSystem(t *testing.T) {
	answer := http.StatusOK
	calendar := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(answer) }))
	defer calendar.Close()
	link := preLink(func(_, _ *resource.Object, w given) (extensions.PreReconcileCheckResult, error) {
		request, err := http.NewRequestWithContext(w.ctx, http.MethodGet, calendar.URL, nil)
		if err != nil {
			return extensions.PreReconcileCheckResult{}, err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return extensions.PreReconcileCheckResult{}, err
		}
		defer response.Body.Close()
		if response.StatusCode == http.StatusLocked {
			return extensions.BlockReconcile("change freeze", extensions.WithSeverity(resource.SeverityInfo)), nil
		}
		return w.next()
	})
	situation{reason: "open", want: proceed}.judge(t, link)
	answer = http.StatusLocked
	situation{reason: "frozen", want: block, severity: "Info", class: "Slow", message: "change freeze"}.judge(t, link)
	calendar.Close()
	situation{reason: "an unreachable calendar is an error", want: errs, why: "CheckFailed"}.judge(t, link)
}

// Decision record 2022-12: acting before and after the standard action, and a
// PUT only on a difference.
func TestSpecPreBeforeAndAfterTheDefault(t *testing.T) {
	situations(t, preLink(func(_, _ *resource.Object, w given) (extensions.PreReconcileCheckResult, error) {
		result, err := w.next()
		if err == nil && result.Action() == proceed && len(result.Differences()) > 0 {
			return extensions.BlockReconcile("changes wait for the window: " + result.Differences()[0].Path), nil
		}
		return result, err
	}), map[string]situation{
		"in sync": {reason: "no difference, no PUT", desired: `{"a":1}`, observed: `{"a":1}`, want: skips, why: "InSync"},
		"differs": {reason: "the link gets the differences of the default check", desired: `{"a":1}`, observed: `{"a":2}`, want: block, message: "changes wait for the window: a"},
		"absent":  {reason: "a create has no difference", want: proceed, why: "NotFound"},
	})
}
