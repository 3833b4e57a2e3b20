package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/armature-io/armature/activities/importing"
	"github.com/armature-io/armature/activities/lookup"
	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
)

// ImportResourceInput is an existing resource.
type ImportResourceInput struct {
	ID resource.ID `json:"id"`
	// APIVersion is the version to read it with; "" is the newest stable one that the
	// subscription offers.
	APIVersion string `json:"apiVersion,omitempty"`
	// Credential is the one to read with; "" leaves the choice to the subscription.
	Credential string `json:"credential,omitempty"`
	// Contents requests everything in it.
	Contents *importing.Request `json:"contents,omitempty"`
	// Managed is the spec of a managed resource whose outputs are read instead of the
	// content of a manifest; nil for none. Whole returns its body too, with secrets masked.
	Managed *resource.Desired `json:"managed,omitempty"`
	Whole   bool              `json:"whole,omitempty"`
}

// ImportResourceResult is the content of a manifest of the resource.
type ImportResourceResult struct {
	// Verdict stops the import of this resource.
	Verdict resource.Verdict `json:"verdict"`
	// ID is the ID in the case that Azure returns.
	ID         resource.ID `json:"id"`
	APIVersion string      `json:"apiVersion,omitempty"`
	// OwnerAPIVersion is the version to read the owner of an extension resource with,
	// "" where a manifest needs none.
	OwnerAPIVersion string `json:"ownerAPIVersion,omitempty"`
	// Body is one JSON object without read-only fields and secrets.
	Body json.RawMessage `json:"body,omitempty"`
	// Secrets are the paths of the secrets that were left out, and Unshown those of
	// properties that no GET of the type shows.
	Secrets []string `json:"secrets,omitempty"`
	Unshown []string `json:"unshown,omitempty"`
	// Owned name the values that were left out because another owner moves them, with the
	// owner; at most 20. A managed resource keeps them: its manifest may state them.
	Owned []string `json:"owned,omitempty"`
	// Unread name the parts of the resource that Azure refused to show, with the right that a
	// request for them needs.
	Unread []string `json:"unread,omitempty"`
	// Managed is set where Armature manages the resource already. StatedItems are then the named
	// items of the lists in its manifest, by property.
	Managed     bool                `json:"managed,omitempty"`
	StatedItems map[string][]string `json:"statedItems,omitempty"`
	// Skipped is why the resource needs no manifest, "" where it needs one.
	Skipped string `json:"skipped,omitempty"`
	// Contents is what is in it, nil where the input did not request it.
	Contents *importing.Contents `json:"contents,omitempty"`
	// Outputs are the values of the outputs of a managed resource, and WithoutValue why
	// others have none, both by name.
	Outputs      map[string]any    `json:"outputs,omitempty"`
	WithoutValue map[string]string `json:"withoutValue,omitempty"`
}

// importRun is one attempt of ImportResource.
type importRun struct {
	*resourceReader
	fleet     Fleet
	memories  MemoryReader
	lister    *importing.Lister
	heartbeat *heartbeater[readProgress]
	// recorded is the spec of the resource, nil if Armature does not manage it.
	recorded *resource.Desired
}

// ImportResource reads a resource and returns the content of its manifest. It never
// writes.
func (a *Activities) ImportResource(ctx context.Context, in ImportResourceInput) (ImportResourceResult, error) {
	if in.Managed != nil {
		in.ID, in.Credential = in.Managed.ID, in.Managed.Credential
	}
	ctx = withCredential(ctx, in.Credential, in.ID)
	heartbeat := startHeartbeat[readProgress](ctx)
	defer heartbeat.stop()
	i := importRun{
		resourceReader: a.resourceReader.startedAt(a.options.StartTime(ctx)), fleet: a.Fleet, memories: a.Memory, lister: a.imports, heartbeat: heartbeat,
	}
	requests, cancel := requestContext(ctx)
	defer cancel()
	if in.Managed != nil {
		return i.readOutputs(requests, in)
	}
	result := ImportResourceResult{ID: in.ID, APIVersion: in.APIVersion}
	var err error
	if in.Contents != nil && (in.Contents.Only || in.Contents.Query != "") {
		result.Contents, err = i.importContents(requests, in, in.APIVersion)
		return result, err
	}
	if result.APIVersion == "" {
		if result.APIVersion, err = i.newestVersion(requests, in.ID); err != nil {
			return i.importFailed(ctx, result, err)
		}
	}
	if result.APIVersion == "" {
		result.Verdict = noVersion(in.ID)
		return result, nil
	}
	target, err := i.importTarget(requests, in.ID, result.APIVersion)
	if err != nil {
		return i.importFailed(ctx, result, err)
	}
	got, err := i.readExisting(ctx, target, &result)
	if err != nil || result.Verdict.Stops() {
		return result, err
	}
	if err := i.describe(requests, got, &result); err != nil {
		return i.importFailed(ctx, result, err)
	}
	if in.Contents != nil {
		in.ID = result.ID
		result.Contents, err = i.importContents(requests, in, result.APIVersion)
	}
	return result, err
}

// importTarget returns what to read. The spec of a managed resource names secrets that
// neither their names nor the published types reveal.
func (i *importRun) importTarget(ctx context.Context, id resource.ID, version string) (resource.Target, error) {
	target := resource.Target{ID: id, APIVersion: version}
	for _, part := range i.registry.Facts(id.Type()).Comparison.Parts {
		target.Parts = append(target.Parts, part.Path)
	}
	memory, managed, err := i.memories.ReadMemory(ctx, id)
	if err == nil && managed && memory.Desired != nil {
		i.recorded = memory.Desired
		known := memory.Desired.WithSecrets()
		target.Secret, target.SecretRefs = known.Secret, known.SecretRefs
	}
	return target, err
}

// readExisting reads a resource for a command. The verdict of result stops where it cannot
// be read or does not exist; an error asks Temporal for another attempt.
func (i *importRun) readExisting(ctx context.Context, target resource.Target, result *ImportResourceResult) (GetResourceResult, error) {
	got, err := i.getResource(ctx, GetResourceInput{Target: target}, i.heartbeat)
	if err == nil {
		err = i.awaitBudget(i.heartbeat, got.Verdict)
	}
	if err != nil {
		return GetResourceResult{}, err
	}
	if result.Verdict = got.Verdict; !result.Verdict.Stops() && !got.Exists {
		result.Verdict = resource.Fail(resource.ReasonNotFound, resource.RetryNone, "it does not exist in Azure")
	}
	return got, nil
}

// describe fills in the content of the manifest.
func (i *importRun) describe(ctx context.Context, got GetResourceResult, result *ImportResourceResult) error {
	observed, err := resource.DecodeBody(got.Observed)
	if err != nil {
		return err
	}
	if text, _ := observed["id"].(string); text != "" {
		if id, err := resource.ParseID(text); err == nil && id.Equal(result.ID) {
			result.ID = id
		}
	}
	request := i.request(resource.Desired{ID: result.ID, APIVersion: result.APIVersion})
	request.Object.Desired, request.Object.Observed = nil, observed
	if owner := result.ID.Owner(); !owner.IsZero() {
		request.Owner = &resource.Object{ID: owner}
	}
	checks, cancel := context.WithTimeout(ctx, lookup.Timeout)
	defer cancel()
	decision, err := i.registry.Import(checks, request)
	if err != nil {
		return err
	}
	if because, skipped := decision.Skipped(); skipped {
		result.Skipped = because
		return nil
	}
	for _, part := range request.Facts.Parts {
		if !slices.Contains(got.Completed, part.Path) {
			result.Unread = append(result.Unread, part.Path+" needs "+part.Right(result.ID.Type()))
		}
	}
	request.Facts.ForImport(observed)
	body, masked := drift.Writable(result.ID, observed)
	if body == nil {
		body = map[string]any{}
	}
	result.Secrets = masked
	if _, result.Managed, err = i.fleet.Managed(ctx, result.ID); err != nil {
		return fmt.Errorf("look up %s: %w", result.ID.Short(), err)
	}
	if result.Managed {
		result.StatedItems = i.statedItems()
	} else {
		body, result.Owned = i.withoutOwned(checks, request, body)
	}
	if result.Body, err = json.Marshal(body); err != nil {
		return fmt.Errorf("encode %s: %w", result.ID, err)
	}
	result.Unshown = drift.Unshown(result.ID, result.APIVersion, observed)
	if owner := result.ID.Owner(); !result.ID.IsChild() && !owner.IsZero() && resource.ContainerAPIVersion(owner) == "" {
		result.OwnerAPIVersion, err = i.newestVersion(ctx, owner)
	}
	return err
}

// statedItems returns the named items of the lists in the manifest of a managed resource, nil if
// no manifest is recorded.
func (i *importRun) statedItems() map[string][]string {
	if i.recorded == nil {
		return nil
	}
	body, err := resource.DecodeBody(i.recorded.Body)
	if err != nil {
		return nil // its pass reports the error
	}
	return importing.NamedItems(body)
}

// newestVersion returns the api-version to read a resource with where none is
// stated, "" where none is listed.
func (i *importRun) newestVersion(ctx context.Context, id resource.ID) (string, error) {
	version, err := i.lookup.APIVersion(ctx, id)
	if _, ok := errors.AsType[*lookup.UnknownVersionError](err); ok {
		return "", nil
	}
	return version, err
}

// noVersion returns the verdict about a resource of which newestVersion knows no version.
func noVersion(id resource.ID) resource.Verdict {
	return resource.Fail(resource.ReasonFailed, resource.RetryNone, "the subscription lists no api-version of "+id.Type()+"; write ID@api-version")
}

// importFailed retries a transient error; any other one, or one too many, is a
// verdict.
func (i *importRun) importFailed(ctx context.Context, result ImportResourceResult, err error) (ImportResourceResult, error) {
	if retry := countTransient(i.heartbeat, err); retry != nil {
		return ImportResourceResult{}, retry
	}
	if !isARMError(err) {
		result.Verdict = resource.Fail(resource.ReasonCheckFailed, resource.RetrySlow, secrets.Scrub(err.Error(), nil))
		return result, nil
	}
	result.Verdict = i.errorVerdict(ctx, result.ID, result.APIVersion, err)
	if retry := i.awaitBudget(i.heartbeat, result.Verdict); retry != nil {
		return ImportResourceResult{}, retry
	}
	return result, nil
}

// importContents lists what is in a resource or scope. Its error asks Temporal for another
// attempt.
func (i *importRun) importContents(ctx context.Context, in ImportResourceInput, version string) (*importing.Contents, error) {
	return i.lister.List(ctx, importing.Call{ //nolint:wrapcheck // its error is one of Failed
		ID: in.ID, APIVersion: version, Request: *in.Contents, Now: i.now,
		Failed: func(version string, err error) (resource.Verdict, error) {
			failed, retry := i.importFailed(ctx, ImportResourceResult{ID: in.ID, APIVersion: version}, err)
			return failed.Verdict, retry
		},
	})
}
