package contents

import (
	"context"
	"fmt"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
)

// CheckScope blocks the deletion of a resource that ends a whole scope, unless the
// request names that effect and the scope is empty; --cascade is not enough. A nil verdict
// lets it proceed. ARM itself refuses to delete a management group that has children.
func (l Looker) CheckScope(ctx context.Context, in Request) (*resource.Verdict, error) {
	if !resource.EndsScope(in.ID.Type()) {
		return nil, nil
	}
	subscription, err := l.subscriptionOf(ctx, in)
	if err != nil {
		return nil, err
	}
	effect := "deletes the management group"
	if !subscription.IsZero() {
		effect = "cancels the subscription " + subscription.Subscription()
	}
	if !in.EndScope {
		return new(resource.Block(resource.ReasonContainsUnmanaged, fmt.Sprintf(
			"a DELETE of %s %s; if that is intended, run `armature delete %s --end-scope`", in.ID.Short(), effect, in.ID))), nil
	}
	if subscription.IsZero() {
		return nil, nil
	}
	groups, err := l.Client.List(ctx, subscription, "resourcegroups", resource.ResourceGroupAPIVersion, maxCounted)
	if err != nil && !arm.IsAbsent(err) {
		return nil, err
	}
	if len(groups) == 0 {
		return nil, nil
	}
	names := make([]string, len(groups))
	for i, group := range groups {
		names[i] = ItemName(group)
	}
	return new(resource.Block(resource.ReasonContainsUnmanaged, fmt.Sprintf(
		"a DELETE of %s %s, which contains resource groups: %s; delete them first", in.ID.Short(), effect, NameAll(names)))), nil
}

// subscriptionOf returns the subscription that an alias names; zero for other types and
// for an alias without one.
func (l Looker) subscriptionOf(ctx context.Context, in Request) (resource.ID, error) {
	response, err := l.Client.Get(ctx, in.ID, in.APIVersion)
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
