package activities

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/activities/contents"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

// tenantCell is one cell of the matrix: the credential that a manifest names, and the
// resource that is reached.
type tenantCell struct {
	credential string
	target     resource.ID
}

// tenantWay is a way to read or write. onBehalf is set where a resource of team a reaches
// the target; else the target itself is the resource.
type tenantWay struct {
	reason   string
	onBehalf bool
	given    func(w *tenants, c tenantCell)
	act      func(w *tenants, c tenantCell)
}

// own returns the spec of the resource of team a, with a body of its own.
func (c tenantCell) own(t *testing.T, body string) resource.Desired {
	t.Helper()
	spec := desired(t, tenantThing(tenantA, "t1"), body)
	spec.Credential = c.credential
	return spec
}

// ofTarget returns the spec of the target.
func (c tenantCell) ofTarget(t *testing.T, body string) resource.Desired {
	t.Helper()
	spec := desired(t, c.target.String(), body)
	spec.Credential = c.credential
	return spec
}

// referring returns the spec of the resource of team a, with a value of the target.
func (c tenantCell) referring(t *testing.T) resource.Desired {
	t.Helper()
	spec := c.own(t, `{"location":"westus2","tags":{"label":{"$ref":"`+c.target.String()+`","path":"properties.label","apiVersion":"2023-08-15"}}}`)
	spec.References = []resource.Reference{{ID: c.target, APIVersion: "2023-08-15"}}
	return spec
}

const tenantBody = `{"location":"westus2","properties":{"size":2}}`

// extended returns the way of an extension of the resource of team a.
func extended(reason string, reach func(ctx context.Context, target resource.ID, resolver extensions.Resolver, client extensions.ARMClient)) tenantWay {
	return tenantWay{reason: reason, onBehalf: true, act: func(w *tenants, c tenantCell) {
		w.reach = func(ctx context.Context, resolver extensions.Resolver, client extensions.ARMClient) {
			reach(ctx, c.target, resolver, client)
		}
		// As if the spec named no credential: the extension gets what the resource has.
		_, err := run(w.world, w.acts.PutResource, PutResourceInput{Desired: c.own(w.t, tenantBody), Kind: PutUncompared, ObservedAt: w.now()})
		must(w.t, err)
	}}
}

// direct returns the way of a step whose resource is the target.
func direct[In, Out any](reason string, step func(*tenants) func(context.Context, In) (Out, error), in func(w *tenants, c tenantCell) In) tenantWay {
	return tenantWay{reason: reason, act: func(w *tenants, c tenantCell) {
		if _, err := run(w.world, step(w), in(w, c)); err != nil && !strings.Contains(err.Error(), "not yet") {
			w.t.Logf("%s: %v", reason, err)
		}
	}}
}

func tenantWays() map[string]tenantWay {
	ways := tenantReferences()
	for name, way := range tenantSteps() {
		ways[name] = way
	}
	return ways
}

// tenantReferences are the ways in which a resource reaches another one.
func tenantReferences() map[string]tenantWay {
	return map[string]tenantWay{
		"ref": {reason: "a value of the other team's resource", onBehalf: true, act: func(w *tenants, c tenantCell) {
			local(w.world, w.acts.CheckOwner, CheckOwnerInput{Desired: c.referring(w.t)})
		}},
		"ref at the comparison": {reason: "the value is resolved again", onBehalf: true, act: func(w *tenants, c tenantCell) {
			local(w.world, w.acts.PreCheck, PreCheckInput{Desired: c.referring(w.t), Observed: json.RawMessage(tenantBody)})
		}},
		"ref in a plan": {reason: "a plan prints what it read", onBehalf: true, act: func(w *tenants, c tenantCell) {
			_, err := run(w.world, w.acts.PlanResource, PlanResourceInput{Desired: c.referring(w.t)})
			must(w.t, err)
		}},
		"ref without a version": {reason: "the newest api-version is looked up too", onBehalf: true, act: func(w *tenants, c tenantCell) {
			spec := c.referring(w.t)
			spec.References[0].APIVersion = ""
			local(w.world, w.acts.CheckOwner, CheckOwnerInput{Desired: spec})
		}},
		"dependsOn": {reason: "whether it is ready is known of its own", onBehalf: true, act: func(w *tenants, c tenantCell) {
			spec := c.own(w.t, tenantBody)
			spec.DependsOn = []resource.Reference{{ID: c.target, APIVersion: "2023-08-15"}}
			local(w.world, w.acts.CheckOwner, CheckOwnerInput{Desired: spec})
		}},
		"get of an extension": extended("extensions read with the resource's credential", func(ctx context.Context, target resource.ID, _ extensions.Resolver, client extensions.ARMClient) {
			_, _ = client.Get(ctx, target, "2023-08-15")
		}),
		"resolve of an extension": extended("also by the cache of readings", func(ctx context.Context, target resource.ID, resolver extensions.Resolver, _ extensions.ARMClient) {
			_, _ = resolver.Resolve(ctx, resource.Reference{ID: target, APIVersion: "2023-08-15"})
		}),
		"list of an extension": extended("also by a list", func(ctx context.Context, target resource.ID, _ extensions.Resolver, client extensions.ARMClient) {
			_, _ = client.Find(ctx, target, "parts", "2023-08-15", "", 10)
		}),
		"action of an extension": extended("also by an action", func(ctx context.Context, target resource.ID, _ extensions.Resolver, client extensions.ARMClient) {
			_, _ = client.Post(ctx, target, "listKeys", "2023-08-15", nil)
		}),
		"next link": extended("a list that leads elsewhere", func(ctx context.Context, _ resource.ID, _ extensions.Resolver, client extensions.ARMClient) {
			own, _ := resource.ParseID(tenantThing(tenantA, "t1"))
			_, _ = client.Find(ctx, own, "parts", "2023-08-15", "", 10)
		}).after(func(w *tenants, c tenantCell) {
			w.pages[strings.ToLower(tenantThing(tenantA, "t1"))+"/parts"] = c.target.String() + "/parts?api-version=2023-08-15"
		}),
		"resume token": {reason: "a token from a history", onBehalf: true, act: func(w *tenants, c tenantCell) {
			// A token contains the name of the connection, also where the manifest names none.
			token, err := json.Marshal(map[string]any{
				"via": "azure-asyncoperation", "type": "Contoso.Things/things", "credential": cmp.Or(c.credential, "a"), "poller": tenantPoller(w, c),
			})
			must(w.t, err)
			for range 3 { // the first attempt only waits
				_, _ = run(w.world, w.acts.PollOperation, PollOperationInput{Target: c.own(w.t, "{}").Target(), Token: string(token), Delete: true})
				w.advance(time.Minute)
			}
		}},
	}
}

// after adds what happens before the step.
func (way tenantWay) after(given func(w *tenants, c tenantCell)) tenantWay {
	way.given = given
	return way
}

// tenantSteps are the steps of a pass, of a deletion and of the dry runs, of the target
// itself.
func tenantSteps() map[string]tenantWay {
	return map[string]tenantWay{
		"owner": {reason: "the owner of the resource", act: func(w *tenants, c tenantCell) {
			local(w.world, w.acts.CheckOwner, CheckOwnerInput{Desired: c.ofTarget(w.t, tenantBody)})
		}},
		"read": direct("the resource", func(w *tenants) func(context.Context, GetResourceInput) (GetResourceResult, error) {
			return w.acts.GetResource
		}, func(w *tenants, c tenantCell) GetResourceInput {
			return GetResourceInput{Target: c.ofTarget(w.t, "{}").Target()}
		}),
		"identity": direct("where a moved resource is now", func(w *tenants) func(context.Context, GetResourceInput) (GetResourceResult, error) {
			return w.acts.GetResource
		}, func(w *tenants, c tenantCell) GetResourceInput {
			target := c.ofTarget(w.t, "{}").Target()
			target.ID = id(w.t, tenantThing(c.target.Subscription(), "gone"))
			return GetResourceInput{Target: target, Identity: resource.Identity{"properties.vmId": "x"}}
		}),
		"plan": direct("a plan prints what it read", func(w *tenants) func(context.Context, PlanResourceInput) (PlanResourceResult, error) {
			return w.acts.PlanResource
		}, func(w *tenants, c tenantCell) PlanResourceInput {
			return PlanResourceInput{Desired: c.ofTarget(w.t, tenantBody)}
		}),
		"import": direct("an import prints what it read", func(w *tenants) func(context.Context, ImportResourceInput) (ImportResourceResult, error) {
			return w.acts.ImportResource
		}, func(_ *tenants, c tenantCell) ImportResourceInput {
			return ImportResourceInput{ID: c.target, APIVersion: "2023-08-15", Credential: c.credential}
		}),
		"put":         tenantPut("a PUT with the values of others", func(*resource.Desired) {}),
		"put: merge":  tenantPut("a PUT on top of what is there", func(d *resource.Desired) { d.Put = resource.PutMerge }),
		"put: patch":  tenantPut("a PATCH", func(d *resource.Desired) { d.Put = resource.PutPatch }),
		"ignore":      tenantPut("ignored values are read and sent", func(d *resource.Desired) { d.Ignore = []string{"properties.label"} }),
		"delete":      tenantDelete("a DELETE"),
		"contents":    direct("what a DELETE would remove", contentsStep, contentsInput),
		"replacement": tenantPut("the same with another name for the target", func(d *resource.Desired) { d.Recreate = resource.RecreateAlways }),
		"provider": direct("the registration of a provider", func(w *tenants) func(context.Context, RegisterProviderInput) (RegisterProviderResult, error) {
			return w.acts.RegisterProvider
		}, func(_ *tenants, c tenantCell) RegisterProviderInput {
			return RegisterProviderInput{ID: c.target, Namespace: "Contoso.Things", Credential: c.credential}
		}),
		"purge": direct("what Azure keeps of a deleted resource", func(w *tenants) func(context.Context, PurgeResourceInput) (PurgeResourceResult, error) {
			return w.acts.PurgeResource
		}, func(w *tenants, c tenantCell) PurgeResourceInput {
			spec := c.ofTarget(w.t, `{"location":"westus2"}`)
			spec.ID = id(w.t, strings.Replace(c.target.String(), "Contoso.Things/things/t2", "Microsoft.KeyVault/vaults/v1", 1))
			spec.APIVersion, spec.Deletion.Purge = "2023-07-01", true
			return PurgeResourceInput{Desired: spec, Since: w.now()}
		}),
		"move": direct("the new place of a moved resource", func(w *tenants) func(context.Context, MoveResourceInput) (MoveResourceResult, error) {
			return w.acts.MoveResource
		}, func(w *tenants, c tenantCell) MoveResourceInput {
			old := c.ofTarget(w.t, tenantBody)
			old.ID = id(w.t, tenantThing(c.target.Subscription(), "old"))
			w.fleet.memories = map[string]WorkflowMemory{old.ID.Key(): {Desired: &old, Identity: resource.Identity{"properties.vmId": "x"}, Existed: true}}
			w.fleet.managed = map[string]Managed{old.ID.Key(): {ID: old.ID}}
			return MoveResourceInput{Old: old.ID, New: c.target}
		}),
	}
}

func tenantPut(reason string, change func(*resource.Desired)) tenantWay {
	return direct(reason, func(w *tenants) func(context.Context, PutResourceInput) (PutResourceResult, error) {
		return w.acts.PutResource
	}, func(w *tenants, c tenantCell) PutResourceInput {
		spec := c.ofTarget(w.t, tenantBody)
		change(&spec)
		return PutResourceInput{Desired: spec, ObservedAt: w.now()}
	})
}

func tenantDelete(reason string) tenantWay {
	return direct(reason, func(w *tenants) func(context.Context, DeleteResourceInput) (DeleteResourceResult, error) {
		return w.acts.DeleteResource
	}, func(w *tenants, c tenantCell) DeleteResourceInput {
		return DeleteResourceInput{Desired: c.ofTarget(w.t, tenantBody)}
	})
}

func contentsStep(w *tenants) func(context.Context, contents.Request) (CheckContentsResult, error) {
	return w.acts.CheckContents
}

func contentsInput(_ *tenants, c tenantCell) contents.Request {
	return contents.Request{ID: c.target.Owner(), APIVersion: resource.ResourceGroupAPIVersion, Credential: c.credential}
}

// tenantPoller returns azcore's token of an operation at the target.
func tenantPoller(w *tenants, c tenantCell) string {
	url := w.server.URL + c.target.String() + "?api-version=2023-08-15"
	raw, _ := json.Marshal(map[string]any{"type": "RawMessage", "token": map[string]any{
		"asyncURL": url, "locURL": "", "origURL": w.server.URL + tenantThing(tenantA, "t1"), "method": "PUT", "finalState": "", "state": "InProgress",
	}})
	return string(raw)
}

// secretFolder makes the folder of a team, with a link to that of the other one.
func secretFolder(t *testing.T, base, team string) string {
	t.Helper()
	folder := filepath.Join(base, team)
	must(t, os.MkdirAll(folder, 0o750))
	must(t, os.WriteFile(filepath.Join(folder, team+"-password"), []byte(planted), 0o600))
	must(t, os.Symlink("../b/b-password", filepath.Join(folder, "to-b")))
	return folder
}
