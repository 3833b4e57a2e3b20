package activities

import (
	"context"
	"fmt"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
)

// checkScope blocks the deletion of a resource that ends a whole scope, unless the
// request names that effect and the scope is empty; --cascade is not enough. nil lets it
// proceed. ARM itself refuses to delete a management group that has children.
func (a *Activities) checkScope(ctx context.Context, in CheckContentsInput) *resource.Verdict {
	subscription, err := a.subscriptionOf(ctx, in)
	if err != nil {
		verdict := a.contentsErrorVerdict(ctx, in, err)
		return &verdict
	}
	effect := "deletes the management group"
	if !subscription.IsZero() {
		effect = "cancels the subscription " + subscription.Subscription()
	}
	if !in.EndScope {
		return new(resource.Block(resource.ReasonContainsUnmanaged, fmt.Sprintf(
			"a DELETE of %s %s; if that is intended, run `armature delete %s --end-scope`", in.ID.Short(), effect, in.ID)))
	}
	if subscription.IsZero() {
		return nil
	}
	groups, err := a.Client.List(ctx, subscription, "resourcegroups", resource.ResourceGroupAPIVersion, maxContentsCounted)
	if err != nil && !arm.IsAbsent(err) {
		verdict := a.contentsErrorVerdict(ctx, in, err)
		return &verdict
	}
	if len(groups) == 0 {
		return nil
	}
	names := make([]string, len(groups))
	for i, group := range groups {
		names[i] = itemName(group)
	}
	return new(resource.Block(resource.ReasonContainsUnmanaged, fmt.Sprintf(
		"a DELETE of %s %s, which contains resource groups: %s; delete them first", in.ID.Short(), effect, nameContents(names))))
}

// subscriptionOf returns the subscription that an alias names; zero for other types and
// for an alias without one.
func (a *Activities) subscriptionOf(ctx context.Context, in CheckContentsInput) (resource.ID, error) {
	response, err := a.Client.Get(ctx, in.ID, in.APIVersion)
	if arm.IsAbsent(err) {
		return resource.ID{}, nil
	}
	if err != nil {
		return resource.ID{}, err
	}
	body, err := resource.DecodeBody(response.Body)
	if err != nil {
		return resource.ID{}, fmt.Errorf("read %s for its subscription: %w", in.ID, err)
	}
	properties, _ := body["properties"].(map[string]any)
	guid, _ := properties["subscriptionId"].(string)
	if guid == "" {
		return resource.ID{}, nil
	}
	return resource.ParseID("/subscriptions/" + guid)
}
