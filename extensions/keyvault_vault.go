package extensions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
)

var _ ARMResourceModifier = KeyVault{}

// KeyVaultType is the ARM type of a vault.
const KeyVaultType = "Microsoft.KeyVault/vaults"

// Words of properties.createMode that are Armature's, not ARM's.
const (
	createOrRecover = "createOrRecover"
	purgeThenCreate = "purgeThenCreate"
)

const deletedVaultsAPIVersion = "2023-07-01"

// KeyVault recovers or purges a deleted vault that still holds the name, as the
// manifest says in properties.createMode: createOrRecover or purgeThenCreate.
// A purge takes minutes: it is started and the pass ends blocked, to look again.
type KeyVault struct{}

// ModifyARMResource replaces the two words by ARM's.
func (KeyVault) ModifyARMResource(
	ctx context.Context,
	payload map[string]any,
	obj *resource.Object,
	owner *resource.Object,
	resolver Resolver,
	client ARMClient,
	log *slog.Logger,
	next ARMResourceModifierFunc,
) (map[string]any, error) {
	mode, asks := vaultMode(payload)
	if asks {
		createMode := "default"
		if !obj.Exists() {
			deleted, err := deletedVault(ctx, obj.ID, payload, client)
			if err != nil {
				return nil, err
			}
			if createMode, err = deleted.createMode(ctx, mode, obj.ID, client); err != nil {
				return nil, err
			}
		}
		set(payload, resource.Path{{Name: "properties"}, {Name: "createMode"}}, createMode)
	}
	return next(ctx, payload, obj, owner, resolver, client, log)
}

func vaultMode(payload map[string]any) (string, bool) {
	properties, _ := resource.Step{Name: "properties"}.Get(payload)
	value, _ := resource.Step{Name: "createMode"}.Get(properties)
	mode, _ := value.(string)
	return mode, among(mode, createOrRecover, purgeThenCreate)
}

// vaultRemains is a deleted vault, or none.
type vaultRemains struct {
	id   resource.ID
	body *resource.Object
}

// deletedVault looks for a deleted vault of the same name and place.
func deletedVault(ctx context.Context, id resource.ID, payload map[string]any, client ARMClient) (vaultRemains, error) {
	location, _ := payload[spelt(payload, "location")].(string)
	place := strings.ToLower(strings.ReplaceAll(location, " ", ""))
	deleted, err := resource.ParseID(fmt.Sprintf("/subscriptions/%s/providers/Microsoft.KeyVault/locations/%s/deletedVaults/%s", id.Subscription(), place, id.Name()))
	if err != nil {
		return vaultRemains{}, fmt.Errorf("look for a deleted vault: the body has no location: %w", err)
	}
	response, err := client.Get(ctx, deleted, deletedVaultsAPIVersion)
	var failure *arm.Error
	switch {
	case errors.As(err, &failure) && failure.Status == http.StatusNotFound:
		return vaultRemains{}, nil
	case err != nil:
		return vaultRemains{}, fmt.Errorf("look for a deleted vault: %w", err)
	}
	body, err := resource.DecodeBody(response.Body)
	if err != nil {
		return vaultRemains{}, fmt.Errorf("look for a deleted vault: %w", err)
	}
	return vaultRemains{id: deleted, body: &resource.Object{ID: deleted, Observed: body}}, nil
}

// createMode is what to tell ARM, or an error: "not yet" while a purge goes on,
// a final one where nobody but a person can help.
func (v vaultRemains) createMode(ctx context.Context, mode string, id resource.ID, client ARMClient) (string, error) {
	switch {
	case v.body == nil:
		return "default", nil
	case among(mode, createOrRecover):
		return v.recover(id)
	}
	if protected, _ := v.body.At("properties.purgeProtectionEnabled"); protected == true {
		until, _ := v.body.StringAt("properties.scheduledPurgeDate")
		return "", final(fmt.Errorf("cannot purge the deleted KeyVault %s: it is protected against it until %s; use createMode %s or another name", id.Name(), until, createOrRecover))
	}
	_, err := client.Post(ctx, v.id, "purge", deletedVaultsAPIVersion, nil)
	var failure *arm.Error
	if err != nil && (!errors.As(err, &failure) || failure.Status != http.StatusConflict && failure.Status != http.StatusNotFound) {
		return "", fmt.Errorf("purge the deleted vault: %w", err)
	}
	return "", NotYet(fmt.Sprintf("The deleted KeyVault %s is being purged; the new one is created when it is gone", id.Name()))
}

// recover refuses to bring a vault back into another group: ARM recovers it
// where it was.
func (v vaultRemains) recover(id resource.ID) (string, error) {
	text, _ := v.body.StringAt("properties.vaultId")
	old, err := resource.ParseID(text)
	if err == nil && !strings.EqualFold(old.ResourceGroup(), id.ResourceGroup()) {
		return "", final(fmt.Errorf("cannot recover KeyVault: new resourceGroup %s does not match old resource group %s", id.ResourceGroup(), old.ResourceGroup()))
	}
	return "recover", nil
}

// final is an error that no further try mends.
func final(err error) error {
	return NewReadyConditionImpactingError(err, resource.SeverityError, resource.ReasonFailed)
}
