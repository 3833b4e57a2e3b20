package azure

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

var _ extensions.ARMResourceModifier = KeyVault{}

// KeyVaultType is the ARM type of a vault.
const KeyVaultType = "Microsoft.KeyVault/vaults"

// Values of properties.createMode that Armature adds to ARM's.
const (
	createOrRecover = "createOrRecover"
	purgeThenCreate = "purgeThenCreate"
)

const deletedVaultsAPIVersion = "2023-07-01"

// KeyVault recovers or purges a deleted vault that still occupies the name, as
// properties.createMode of the manifest requests: createOrRecover or
// purgeThenCreate. A purge takes minutes, so it is started, the pass ends blocked,
// and a later pass continues. It runs for a first creation only: a vault that Armature
// managed or saw, and that was deleted since, is never purged.
type KeyVault struct{}

// ModifyARMResource replaces the two values with ARM's.
func (KeyVault) ModifyARMResource(
	ctx context.Context,
	payload map[string]any,
	obj *resource.Object,
	owner *resource.Object,
	resolver extensions.Resolver,
	client extensions.ARMClient,
	log *slog.Logger,
	next extensions.ARMResourceModifierFunc,
) (map[string]any, error) {
	mode, found := vaultMode(payload)
	if !found && obj.Exists() {
		// A member of a creation alone is not in the body of an update.
		mode, found = vaultMode(obj.Desired)
	}
	if found {
		createMode := "default"
		if !obj.Exists() {
			deleted, err := findDeletedVault(ctx, obj.ID, payload, client)
			if err != nil {
				return nil, err
			}
			if createMode, err = deleted.createMode(ctx, mode, obj.ID, client); err != nil {
				return nil, err
			}
		}
		createModePath().Set(payload, createMode)
	}
	return next(ctx, payload, obj, owner, resolver, client, log)
}

func createModePath() resource.Path {
	return resource.Path{{Name: "properties"}, {Name: "createMode"}}
}

// vaultMode returns the createMode of a payload if it is one of Armature's.
func vaultMode(payload map[string]any) (string, bool) {
	mode := textAt(createModePath().Get(payload))
	return mode, equalFoldAny(mode, createOrRecover, purgeThenCreate)
}

// softDeletedVault is a deleted vault that can be recovered; the zero value is none.
type softDeletedVault struct {
	id   resource.ID
	body *resource.Object
}

// findDeletedVault returns the deleted vault of the same name and location, or none.
func findDeletedVault(ctx context.Context, id resource.ID, payload map[string]any, client extensions.ARMClient) (softDeletedVault, error) {
	location := textAt(resource.Step{Name: "location"}.Get(payload))
	location = strings.ToLower(strings.ReplaceAll(location, " ", ""))
	deleted, err := resource.ParseID(fmt.Sprintf("/subscriptions/%s/providers/Microsoft.KeyVault/locations/%s/deletedVaults/%s", id.Subscription(), location, id.Name()))
	if err != nil {
		return softDeletedVault{}, fmt.Errorf("find a deleted vault: the body has no location: %w", err)
	}
	response, err := client.Get(ctx, deleted, deletedVaultsAPIVersion)
	failure, refused := errors.AsType[*arm.Error](err)
	switch {
	case refused && failure.Status == http.StatusNotFound:
		return softDeletedVault{}, nil
	case err != nil:
		return softDeletedVault{}, fmt.Errorf("find a deleted vault: %w", err)
	}
	body, err := resource.DecodeBody(response.Body)
	if err != nil {
		return softDeletedVault{}, fmt.Errorf("find a deleted vault: %w", err)
	}
	return softDeletedVault{id: deleted, body: &resource.Object{ID: deleted, Observed: body}}, nil
}

// createMode returns the value for ARM, or an error: "not yet" during a purge, a
// permanent one where a user has to act.
func (v softDeletedVault) createMode(ctx context.Context, mode string, id resource.ID, client extensions.ARMClient) (string, error) {
	switch {
	case v.body == nil:
		return "default", nil
	case equalFoldAny(mode, createOrRecover):
		return v.recover(id)
	}
	if protected, _ := v.body.At("properties.purgeProtectionEnabled"); protected == true {
		until, _ := v.body.StringAt("properties.scheduledPurgeDate")
		return "", permanent(fmt.Errorf("cannot purge the deleted KeyVault %s: purge protection is on until %s; use createMode %s or another name", id.Name(), until, createOrRecover))
	}
	if extensions.PurposeOf(ctx) != extensions.PurposeCreation {
		return "", extensions.NotYet(fmt.Sprintf(
			"KeyVault %s was deleted outside Armature, and its keys, secrets and certificates can be recovered, so it is not purged. "+
				"To bring it back, run az keyvault recover --name %s, then armature reconcile; to give it up, run az keyvault purge --name %s", id.Name(), id.Name(), id.Name()),
			extensions.WithReason(resource.ReasonHeld), extensions.WithRetry(resource.RetryVerySlow))
	}
	_, err := client.Post(ctx, v.id, "purge", deletedVaultsAPIVersion, nil)
	failure, refused := errors.AsType[*arm.Error](err)
	if err != nil && (!refused || failure.Status != http.StatusConflict && failure.Status != http.StatusNotFound) {
		return "", fmt.Errorf("purge the deleted vault: %w", err)
	}
	return "", extensions.NotYet(fmt.Sprintf("The deleted KeyVault %s is being purged; the new one is created afterwards", id.Name()))
}

// recover returns the value that recovers the vault. A vault of another resource
// group is an error, because ARM recovers it where it was.
func (v softDeletedVault) recover(id resource.ID) (string, error) {
	text, _ := v.body.StringAt("properties.vaultId")
	old, err := resource.ParseID(text)
	if err == nil && !strings.EqualFold(old.ResourceGroup(), id.ResourceGroup()) {
		return "", permanent(fmt.Errorf("cannot recover KeyVault: new resourceGroup %s does not match old resource group %s", id.ResourceGroup(), old.ResourceGroup()))
	}
	return "recover", nil
}
