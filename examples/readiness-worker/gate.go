package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

var _ extensions.PreReconciliationChecker = Gate{}

// maxReasonBytes bounds what is read of a refusal.
const maxReasonBytes = 500

// Gate holds each PUT until another service approves it: a GET of URL with the resource's
// ID and the action returns 200. It is asked only where a PUT is necessary.
type Gate struct {
	URL    string
	Client *http.Client
}

// PreReconcileCheck calls next first, and blocks a PUT that is not approved.
func (g Gate) PreReconcileCheck(
	ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger,
	next extensions.PreReconcileCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	result, err := next(ctx, obj, owner, resolver, client, log)
	if err != nil || result.Action() != resource.ActionProceed {
		return result, err
	}
	action := "update"
	if !obj.Exists() {
		action = "create"
	}
	reason, err := g.ask(ctx, obj.ID, action)
	switch {
	case err != nil:
		// Without an answer there is no approval; the next try asks again.
		return extensions.BlockReconcile("The approval gate gave no answer: " + err.Error()), nil
	case reason != "":
		return extensions.BlockReconcile(fmt.Sprintf("The approval gate has not approved to %s this resource: %s", action, reason),
			extensions.WithReason("ApprovalPending"), extensions.WithActor("the approver")), nil
	}
	return result, nil
}

// ask returns why the gate does not approve, "" where it does.
func (g Gate) ask(ctx context.Context, id resource.ID, action string) (string, error) {
	query := url.Values{"id": {id.String()}, "action": {action}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, g.URL+"?"+query.Encode(), nil)
	if err != nil {
		return "", err
	}
	response, err := g.Client.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxReasonBytes))
	if err != nil {
		return "", err
	}
	if response.StatusCode == http.StatusOK {
		return "", nil
	}
	return strings.TrimSpace(response.Status + " " + string(text)), nil
}
