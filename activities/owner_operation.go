package activities

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

// beingMade are the provisioning states that services show before a new resource accepts
// requests in it or about it. Some of them show Created long before it does.
func beingMade(state string) bool {
	return slices.ContainsFunc([]string{"Accepted", "Activating", "Allocating", "Created", "Creating", "Preparing", "Provisioning"}, func(made string) bool {
		return strings.EqualFold(state, made)
	})
}

// waitForOwnerOperation blocks while the workflow of a managed owner waits for the
// operation of its PUT and Azure shows the owner as being made. It is for the states
// that the owner check lets pass: words such as Created, and scopes of extension
// resources. Where Temporal cannot be asked, the verdict stays.
func (a *Activities) waitForOwnerOperation(ctx context.Context, verdict resource.Verdict, request extensionhost.Request) resource.Verdict {
	owner := request.Owner
	if !owner.Exists() || !beingMade(owner.ProvisioningState()) {
		return verdict
	}
	managed, known, err := a.Fleet.Managed(ctx, owner.ID)
	if err != nil || !known || !managed.Operating {
		return verdict
	}
	stop := resource.Block(resource.ReasonReconciliationBlocked, fmt.Sprintf(
		"the owner %s (%s) is still being created: its provisioning state is %q, and its own reconciliation waits for the operation",
		owner.ID.Short(), owner.ID.Type(), owner.ProvisioningState()))
	stop.WaitingFor, stop.Freshness = []resource.ID{owner.ID}, owner.Freshness
	return stop
}
