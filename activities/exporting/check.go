package exporting

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
	"github.com/armature-io/armature/types"
)

// keySwitch is a property with which a service rejects its keys, although an action still
// lists them.
type keySwitch struct {
	path string
	// off is the value with which the keys are rejected.
	off any
	// actions are the actions that it affects, in lower case; none for all.
	actions []string
}

// keySwitches returns the table. Sources: the properties of the types as published, and the
// pages about disabled local authentication at learn.microsoft.com of Cosmos DB, Azure Cache
// for Redis, Azure Managed Redis, Log Analytics workspaces, Storage accounts ("Prevent Shared
// Key authorization") and AKS ("Manage local accounts").
func keySwitches() []keySwitch {
	return []keySwitch{
		{path: "properties.disableLocalAuth", off: true},
		{path: "properties.features.disableLocalAuth", off: true},
		{path: "properties.disableAccessKeyAuthentication", off: true},
		{path: "properties.accessKeysAuthentication", off: "Disabled"},
		{path: "properties.allowSharedKeyAccess", off: false},
		{path: "properties.disableLocalAccounts", off: true, actions: []string{"listclusteradmincredential"}},
	}
}

// KeysDisabled returns the property with which the service rejects its keys, "" for none.
func KeysDisabled(observed map[string]any) string {
	for _, s := range keySwitches() {
		path, err := resource.ParsePath(s.path)
		if err != nil {
			continue
		}
		if value, _ := path.Get(observed); value == s.off {
			return s.path
		}
	}
	return ""
}

// disables reports whether a property makes the answers of an action useless.
func disables(property, action string) bool {
	return slices.ContainsFunc(keySwitches(), func(s keySwitch) bool {
		return s.path == property && (len(s.actions) == 0 || slices.Contains(s.actions, strings.ToLower(action)))
	})
}

// checkExport returns the secret of an export, or the verdict that forbids the export before
// anything is sent.
func (e *Exporter) checkExport(ctx context.Context, export resource.Export) (resource.VaultSecret, *resource.Verdict) {
	notAllowed := func(format string, args ...any) *resource.Verdict {
		return withExport(export, new(resource.Fail(resource.ReasonExportNotAllowed, resource.RetryVerySlow, fmt.Sprintf(format, args...))))
	}
	target, err := export.Target()
	if err != nil {
		return target, notAllowed("it is no secret of a key vault; %v", err)
	}
	holder := e.settings.Client.SecretHolder(ctx)
	if holder == "" {
		return target, notAllowed("the resource may not use its credential, so it has no vaults")
	}
	allowed := e.settings.Vaults[holder]
	if !slices.ContainsFunc(allowed, func(p resource.VaultPattern) bool { return p.Allows(target) }) {
		key := "export.vaults"
		if holder != arm.CredentialDefaultName {
			key = "credentials." + holder + ".export.vaults"
		}
		return target, notAllowed("the worker's configuration does not allow this secret for resources of the credential %s; add it to %s, for example https://%s/secrets/PREFIX*, or use another name",
			holder, key, target.Host)
	}
	if action := export.From.Action; action != "" {
		if _, _, err := types.FindListAction(e.desired.ID.Type(), e.desired.APIVersion, action, e.settings.Registry.Facts(e.desired.ID.Type()).ReadActionNames()...); err != nil {
			return target, notAllowed("%v", err)
		}
		if disables(e.settings.KeysDisabled, action) {
			return target, withExport(export, new(resource.Fail(resource.ReasonExportRefused, resource.RetryVerySlow, fmt.Sprintf(
				"local authentication is disabled (%s), so the service rejects what %s lists; use an identity, or enable it", e.settings.KeysDisabled, action))))
		}
	}
	return target, nil
}

// withExport adds the secret to the message of a verdict.
func withExport(export resource.Export, verdict *resource.Verdict) *resource.Verdict {
	if verdict == nil {
		return nil
	}
	named := *verdict
	named.Message = "export to " + strings.TrimPrefix(export.To, resource.VaultScheme) + ": " + named.Message
	return &named
}

// foreignSecret returns the verdict of a secret that Armature did not write for the resource.
func foreignSecret(export resource.Export, stored *arm.StoredSecret) *resource.Verdict {
	why := "the secret exists, and Armature did not write it"
	if other := stored.Tags[resource.ExportTag]; other != "" {
		why = "the secret is an export of another resource (" + other + ")"
	}
	return withExport(export, new(resource.Fail(resource.ReasonExportRefused, resource.RetryVerySlow, why+
		"; it is never overwritten: use another name, delete and purge it, or hand it over with a tag "+resource.ExportTag+" with the ID of this resource")))
}

// vaultFailed returns the verdict of a request that a vault refused, or the error that makes
// Temporal retry one that failed.
func (e *Exporter) vaultFailed(ctx context.Context, export resource.Export, err error) (*resource.Verdict, error) {
	if _, refused := errors.AsType[*arm.WriteRefusedError](err); refused {
		stop, err := e.settings.Failures.Request(ctx, err, e.values)
		return withExport(export, stop), err //nolint:wrapcheck // it is for Temporal
	}
	failure, ok := errors.AsType[*arm.VaultError](err)
	if !ok { // a client that is read-only
		return e.settings.Failures.Request(ctx, err, e.values) //nolint:wrapcheck // the same
	}
	class, reason, message := resource.RetryVerySlow, resource.ReasonExportRefused, secrets.Scrub(failure.Error(), e.values)
	switch {
	case failure.NotAllowed():
		reason = resource.ReasonExportNotAllowed
	case failure.Kind == arm.VaultDenied:
		class = resource.RetrySlow
	case failure.Kind == arm.VaultUnavailable:
		if retry := e.settings.Failures.Transient(message); retry != nil {
			return nil, retry //nolint:wrapcheck // the same
		}
		reason, class = resource.ReasonArmUnreachable, resource.RetrySlow
	}
	stop := resource.Fail(reason, class, message)
	return withExport(export, &stop), nil
}
