package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
)

// importedMost bounds the children that one resource names.
const importedMost = 1000

// ImportResourceInput names an existing resource.
type ImportResourceInput struct {
	ID resource.ID `json:"id"`
	// APIVersion reads it; "" takes the newest stable one that the subscription
	// offers.
	APIVersion string `json:"apiVersion,omitempty"`
	// Credential names the one to read with, "" leaves that to the subscription.
	Credential string `json:"credential,omitempty"`
	// Children asks for what is in it too.
	Children bool `json:"children,omitempty"`
}

// ImportResourceResult is what a manifest of the resource says.
type ImportResourceResult struct {
	// Verdict stops the import of this resource.
	Verdict resource.Verdict `json:"verdict"`
	// ID is as Azure spells it.
	ID         resource.ID `json:"id"`
	APIVersion string      `json:"apiVersion,omitempty"`
	// OwnerAPIVersion reads the owner of an extension resource, "" where a
	// manifest needs none.
	OwnerAPIVersion string `json:"ownerAPIVersion,omitempty"`
	// Body is one JSON object without read-only fields and secrets.
	Body json.RawMessage `json:"body,omitempty"`
	// Secrets are the paths of what was left out because it is a secret.
	Secrets []string `json:"secrets,omitempty"`
	// Skipped says why the resource is not worth a manifest.
	Skipped string `json:"skipped,omitempty"`
	// Children are what is in it; ChildAPIVersion reads them, "" the newest.
	Children        []resource.ID `json:"children,omitempty"`
	ChildAPIVersion string        `json:"childAPIVersion,omitempty"`
}

// ImportResource reads a resource and says what a manifest of it would. It never
// writes.
func (a *Activities) ImportResource(ctx context.Context, in ImportResourceInput) (ImportResourceResult, error) {
	ctx = arm.WithCredential(ctx, in.Credential)
	heart := startHeart[readProgress](ctx)
	defer heart.stop()
	requests, cancel := forARM(ctx)
	defer cancel()
	result := ImportResourceResult{ID: in.ID, APIVersion: in.APIVersion}
	var err error
	if result.APIVersion == "" {
		if result.APIVersion, err = a.newest(requests, in.ID); err != nil {
			return a.importFailed(ctx, result, heart, err)
		}
	}
	if result.APIVersion == "" {
		result.Verdict = resource.Fail(resource.ReasonFailed, resource.RetryNone, "the subscription does not tell an api-version of "+in.ID.Type()+"; write ID@api-version")
		return result, nil
	}
	got, err := a.getResource(ctx, GetResourceInput{ID: in.ID, APIVersion: result.APIVersion}, heart)
	if err != nil {
		return ImportResourceResult{}, err
	}
	if again := a.heldBack(heart, got.Verdict); again != nil {
		return ImportResourceResult{}, again
	}
	if result.Verdict = got.Verdict; result.Verdict.Stops() {
		return result, nil
	}
	if !got.Exists {
		result.Verdict = resource.Fail(resource.ReasonNotFound, resource.RetryNone, "it does not exist in Azure")
		return result, nil
	}
	if err := a.describe(requests, got, &result); err != nil {
		return a.importFailed(ctx, result, heart, err)
	}
	if in.Children {
		if err := a.children(requests, &result); err != nil {
			return a.importFailed(ctx, result, heart, err)
		}
	}
	return result, nil
}

// describe fills in what a manifest says.
func (a *Activities) describe(ctx context.Context, got GetResourceResult, result *ImportResourceResult) error {
	observed, err := resource.DecodeBody(got.Observed)
	if err != nil {
		return err
	}
	if text, _ := observed["id"].(string); text != "" {
		if id, err := resource.ParseID(text); err == nil && id.Equal(result.ID) {
			result.ID = id
		}
	}
	request := a.request(resource.Desired{ID: result.ID, APIVersion: result.APIVersion})
	request.Object.Desired, request.Object.Observed = nil, observed
	if owner := result.ID.Owner(); !owner.IsZero() {
		request.Owner = &resource.Object{ID: owner}
	}
	checks, cancel := context.WithTimeout(ctx, readBudget)
	defer cancel()
	decision, err := a.Registry.Import(checks, request)
	if err != nil {
		return err
	}
	if because, skipped := decision.Skipped(); skipped {
		result.Skipped = because
		return nil
	}
	body, masked := drift.Writable(result.ID, observed)
	if body == nil {
		body = map[string]any{}
	}
	result.Secrets = masked
	if result.Body, err = json.Marshal(body); err != nil {
		return fmt.Errorf("encode %s: %w", result.ID, err)
	}
	if owner := result.ID.Owner(); !result.ID.IsChild() && !owner.IsZero() && resource.ContainerAPIVersion(owner) == "" {
		result.OwnerAPIVersion, err = a.newest(ctx, owner)
	}
	return err
}

// newest is the api-version with which a resource is read when nobody says one.
func (a *Activities) newest(ctx context.Context, id resource.ID) (string, error) {
	if version := resource.ContainerAPIVersion(id); version != "" {
		return version, nil
	}
	if id.Subscription() == "" {
		return "", nil
	}
	version, err := a.owners.versions.of(ctx, id)
	var unknown *unknownVersion
	if errors.As(err, &unknown) {
		return "", nil
	}
	return version, err
}

// children lists what is in a resource: everything in a group, the known
// collections of a type.
func (a *Activities) children(ctx context.Context, result *ImportResourceResult) error {
	collections, version := a.Registry.Children(result.ID.Type()), result.APIVersion
	result.ChildAPIVersion = version
	if strings.EqualFold(result.ID.Type(), resource.TypeResourceGroup) {
		collections, version, result.ChildAPIVersion = []string{"resources"}, resource.ResourceGroupAPIVersion, ""
	}
	for _, collection := range collections {
		items, err := a.Client.List(ctx, result.ID, collection, version, importedMost)
		if arm.IsAbsent(err) {
			continue
		}
		if err != nil {
			return err
		}
		for _, item := range items {
			var found struct {
				ID resource.ID `json:"id"`
			}
			if err := json.Unmarshal(item, &found); err != nil || found.ID.IsZero() {
				return fmt.Errorf("list %s of %s: an item has no resource ID", collection, result.ID)
			}
			result.Children = append(result.Children, found.ID)
		}
	}
	return nil
}

// importFailed gives faults a few more attempts, then says what is wrong.
func (a *Activities) importFailed(ctx context.Context, result ImportResourceResult, heart *heart[readProgress], err error) (ImportResourceResult, error) {
	progress := heart.progress()
	progress.Faults++
	heart.record(progress)
	if again, retry := fault(err, progress.Faults); retry && isFault(err) {
		return ImportResourceResult{}, again
	}
	var failure *arm.Error
	if errors.As(err, &failure) {
		result.Verdict = a.verdict(ctx, result.ID, result.APIVersion, err)
		if again := a.heldBack(heart, result.Verdict); again != nil {
			return ImportResourceResult{}, again
		}
		return result, nil
	}
	result.Verdict = resource.Fail(resource.ReasonCheckFailed, resource.RetrySlow, secrets.Scrub(err.Error(), nil))
	return result, nil
}
