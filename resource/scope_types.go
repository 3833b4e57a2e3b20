package resource

import "strings"

// TypeSubscriptionAlias is the ARM type of the alias that creates a subscription.
const TypeSubscriptionAlias = "Microsoft.Subscription/aliases"

// EndsScope reports whether deleting a resource of a type ends a whole scope: the alias
// of a subscription cancels it, and a management group holds the rights of everything
// below it. Such a resource is never pruned, and is deleted only where the request names
// that effect.
func EndsScope(resourceType string) bool {
	return strings.EqualFold(resourceType, TypeSubscriptionAlias) || strings.EqualFold(resourceType, TypeManagementGroup)
}
