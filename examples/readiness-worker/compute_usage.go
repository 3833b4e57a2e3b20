package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

var _ extensions.PreReconciliationChecker = ComputeUsage{}

const (
	usagesAPIVersion = "2024-07-01"
	// maxUsages is the number of usages that are read: a location has about 200.
	maxUsages = 1000
)

// ComputeUsage blocks the creation of a virtual machine while the cores of its region are
// used up, by the list of usages of Microsoft.Compute: Azure would refuse it with
// QuotaExceeded. The manifest states the cores in the label vmCores.
type ComputeUsage struct{}

// usage is one item of the list.
type usage struct {
	Name struct {
		Value string `json:"value"`
	} `json:"name"`
	CurrentValue int `json:"currentValue"`
	Limit        int `json:"limit"`
}

// PreReconcileCheck calls next first: only a creation takes cores.
func (ComputeUsage) PreReconcileCheck(
	ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger,
	next extensions.PreReconcileCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	result, err := next(ctx, obj, owner, resolver, client, log)
	var cores int
	_, _ = fmt.Sscan(obj.Labels["vmCores"], &cores)
	location, _ := obj.DesiredAt("location")
	region, _ := location.(string)
	if err != nil || result.Action() != resource.ActionProceed || obj.Exists() || cores == 0 || region == "" {
		return result, err
	}
	// The list belongs to a location, which is only a part of the path.
	id, err := resource.ParseID("/subscriptions/" + obj.ID.Subscription() + "/providers/Microsoft.Compute/locations/" + strings.ReplaceAll(region, " ", ""))
	if err != nil {
		return result, err
	}
	items, err := client.Find(ctx, id, "usages", usagesAPIVersion, "", maxUsages)
	if err != nil {
		return result, fmt.Errorf("list the usages of %s: %w", region, err)
	}
	for _, item := range items {
		var found usage
		if err := json.Unmarshal(item, &found); err != nil {
			return result, fmt.Errorf("read the usages of %s: %w", region, err)
		}
		if strings.EqualFold(found.Name.Value, "cores") && found.CurrentValue+cores > found.Limit {
			return extensions.BlockReconcile(
				fmt.Sprintf("Quota of cores in %s: %d of %d are used, %d more are needed", region, found.CurrentValue, found.Limit, cores),
				extensions.WithReason("QuotaExceeded"), extensions.WithActor("the owner of the subscription")), nil
		}
	}
	return result, nil
}
