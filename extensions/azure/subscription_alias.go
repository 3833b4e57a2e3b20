package azure

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

var (
	_ extensions.Deleter        = SubscriptionAlias{}
	_ extensions.SuccessHandler = SubscriptionAlias{}
)

// SubscriptionAliasType is the ARM type of the alias that creates a subscription.
const SubscriptionAliasType = resource.TypeSubscriptionAlias

const cancelAPIVersion = "2021-10-01"

// SubscriptionAlias cancels the subscription before its alias is deleted. Deleting
// the alias alone would leave the subscription behind, running and billed.
type SubscriptionAlias struct{}

// Delete cancels the subscription, then deletes the alias. A subscription that
// is canceled already or no longer exists is no error.
func (SubscriptionAlias) Delete(
	ctx context.Context, obj *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger, next extensions.DeleterFunc,
) error {
	subscription, err := subscriptionOf(ctx, obj, client)
	if err != nil {
		return err
	}
	if !subscription.IsZero() {
		_, err := client.Post(ctx, subscription, "providers/Microsoft.Subscription/cancel", cancelAPIVersion, nil)
		failure, refused := errors.AsType[*arm.Error](err)
		switch {
		case refused && equalFoldAny(failure.Code, "SubscriptionNotFound", "SubscriptionAlreadyCanceled", "ReadOnlyDisabledSubscription"):
		case err != nil:
			return fmt.Errorf("cancel the subscription before its alias is deleted: %w", err)
		}
	}
	return next(ctx, obj, resolver, client, log)
}

// subscriptionOf returns the subscription of an alias, zero when there is none. It
// reads the alias, because a deleter may get the desired state only.
func subscriptionOf(ctx context.Context, obj *resource.Object, client extensions.ARMClient) (resource.ID, error) {
	body := obj.Observed
	if body == nil {
		response, err := client.Get(ctx, obj.ID, obj.APIVersion)
		if arm.IsAbsent(err) {
			return resource.ID{}, nil
		}
		if err != nil {
			return resource.ID{}, fmt.Errorf("read the alias for its subscription: %w", err)
		}
		if body, err = resource.DecodeBody(response.Body); err != nil {
			return resource.ID{}, fmt.Errorf("read the alias for its subscription: %w", err)
		}
	}
	alias := &resource.Object{Observed: body}
	guid := textAt(alias.At("properties.subscriptionId"))
	if guid == "" {
		return resource.ID{}, nil
	}
	return resource.ParseID("/subscriptions/" + guid)
}

// HandleSuccess logs the ID of the new subscription, which manifests of its resources
// need.
func (SubscriptionAlias) HandleSuccess(
	ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger,
	next extensions.SuccessHandlerFunc,
) error {
	if guid := textAt(obj.At("properties.subscriptionId")); guid != "" {
		log.InfoContext(ctx, "subscription of the alias", "id", obj.ID.String(), "subscription", "/subscriptions/"+guid)
	}
	return next(ctx, obj, owner, resolver, client, log)
}
