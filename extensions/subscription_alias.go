package extensions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
)

var (
	_ Deleter                   = SubscriptionAlias{}
	_ SuccessfulCreationHandler = SubscriptionAlias{}
)

// SubscriptionAliasType is the ARM type of the alias by which a subscription is
// made.
const SubscriptionAliasType = "Microsoft.Subscription/aliases"

const cancelAPIVersion = "2021-10-01"

// SubscriptionAlias cancels the subscription before its alias is deleted: the
// alias alone would leave it behind, running and paid for.
type SubscriptionAlias struct{}

// Delete cancels the subscription, then deletes the alias. A subscription that
// is canceled already, or gone, is no obstacle.
func (SubscriptionAlias) Delete(
	ctx context.Context, obj *resource.Object, resolver Resolver, client ARMClient, log *slog.Logger, next DeleterFunc,
) error {
	made, err := subscriptionOf(ctx, obj, client)
	if err != nil {
		return err
	}
	if !made.IsZero() {
		_, err := client.Post(ctx, made, "providers/Microsoft.Subscription/cancel", cancelAPIVersion, nil)
		var failure *arm.Error
		switch {
		case errors.As(err, &failure) && among(failure.Code, "SubscriptionNotFound", "SubscriptionAlreadyCanceled", "ReadOnlyDisabledSubscription"):
		case err != nil:
			return fmt.Errorf("cancel the subscription before its alias is deleted: %w", err)
		}
	}
	return next(ctx, obj, resolver, client, log)
}

// subscriptionOf reads the alias: a deleter knows what is desired only.
func subscriptionOf(ctx context.Context, obj *resource.Object, client ARMClient) (resource.ID, error) {
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
	shown := &resource.Object{Observed: body}
	guid := textAt(shown.At("properties.subscriptionId"))
	if guid == "" {
		return resource.ID{}, nil
	}
	return resource.ParseID("/subscriptions/" + guid)
}

// Success says which subscription came of it: what stands below it names it.
func (SubscriptionAlias) Success(
	ctx context.Context, obj *resource.Object, log *slog.Logger, next SuccessfulCreationHandlerFunc,
) error {
	if guid := textAt(obj.At("properties.subscriptionId")); guid != "" {
		log.InfoContext(ctx, "subscription of the alias", "id", obj.ID.String(), "subscription", "/subscriptions/"+guid)
	}
	return next(ctx, obj, log)
}
