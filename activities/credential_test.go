package activities

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/armature-io/armature/activities/contents"
	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

// elsewhere returns a world with another tenant's simulator behind the credential
// "other".
func elsewhere(t *testing.T) (*world, *armsim.Simulator) {
	t.Helper()
	var w *world
	other := armsim.New(armsim.Options{})
	w = newWorld(t, func(s *setup) { s.others = map[string]http.Handler{"other": other} })
	return w, other
}

// TestCredentialIsUsed checks that every activity with requests to ARM uses the
// credential of the manifest, and no other one.
func TestCredentialIsUsed(t *testing.T) {
	t.Parallel()
	spec := func(w *world) resource.Desired {
		d := desired(w.t, databaseText, `{"location":"westus2"}`)
		d.Credential = "other"
		return d
	}
	cases := map[string]func(w *world) error{
		"CheckOwner": func(w *world) error {
			local(w, w.acts.CheckOwner, CheckOwnerInput{Desired: spec(w)})
			return nil
		},
		"PreCheck": func(w *world) error {
			local(w, w.acts.PreCheck, PreCheckInput{Desired: spec(w), Observed: json.RawMessage(`{}`)})
			return nil
		},
		"PostCheck": func(w *world) error {
			local(w, w.acts.PostCheck, PostCheckInput{Desired: spec(w), Observed: json.RawMessage(`{}`)})
			return nil
		},
		"GetResource": func(w *world) error {
			_, err := run(w, w.acts.GetResource, GetResourceInput{Target: resource.Target{ID: id(w.t, databaseText), APIVersion: "2023-08-15", Credential: "other"}})
			return err
		},
		"PutResource": func(w *world) error {
			_, err := run(w, w.acts.PutResource, PutResourceInput{Desired: spec(w), ObservedAt: w.now()})
			return err
		},
		"PollOperation": func(w *world) error {
			in := PollOperationInput{Target: resource.Target{ID: id(w.t, databaseText), APIVersion: "2023-08-15", Credential: "other"}}
			_, _ = run(w, w.acts.PollOperation, in) // the first attempt only waits
			_, _ = run(w, w.acts.PollOperation, in)
			return nil
		},
		"DeleteResource": func(w *world) error {
			_, err := run(w, w.acts.DeleteResource, DeleteResourceInput{Desired: spec(w)})
			return err
		},
		"CheckContents": func(w *world) error {
			_, err := run(w, w.acts.CheckContents, contents.Request{ID: id(w.t, groupText), APIVersion: "2021-04-01", Credential: "other"})
			return err
		},
		"RegisterProvider": func(w *world) error {
			_, err := run(w, w.acts.RegisterProvider, RegisterProviderInput{ID: id(w.t, databaseText), Credential: "other"})
			return err
		},
		"PlanResource": func(w *world) error {
			_, err := run(w, w.acts.PlanResource, PlanResourceInput{Desired: spec(w)})
			return err
		},
		"ImportResource": func(w *world) error {
			_, err := run(w, w.acts.ImportResource, ImportResourceInput{ID: id(w.t, clusterText), APIVersion: "2023-08-15", Credential: "other"})
			return err
		},
	}
	for name, call := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, other := elsewhere(t)
			must(t, other.Put(clusterText, map[string]any{"location": "westus2", "properties": map[string]any{"state": "Running"}}))
			must(t, call(w))
			if got := w.requests(); len(got) != 0 {
				t.Errorf("requests with another credential: %v", got)
			}
			if len(other.Requests()) == 0 {
				t.Error("no request with the credential of the manifest")
			}
		})
	}
}

// TestCredentialUnknown checks the message about a credential that the worker does
// not have, at every step that uses one.
func TestCredentialUnknown(t *testing.T) {
	t.Parallel()
	w, _ := elsewhere(t)
	spec := desired(t, databaseText, `{}`)
	spec.Credential = "prod"
	const message = `the worker has no credential "prod", only default, other; correct reconcile.credential, or add it to the worker's config`
	owner := local(w, w.acts.CheckOwner, CheckOwnerInput{Desired: spec})
	want(t, owner.Verdict, resource.ActionError, arm.CodeCredentialNotUsable, resource.RetryVerySlow, message)
	got, err := run(w, w.acts.GetResource, GetResourceInput{Target: resource.Target{ID: spec.ID, APIVersion: spec.APIVersion, Credential: "prod"}})
	must(t, err)
	want(t, got.Verdict, resource.ActionError, arm.CodeCredentialNotUsable, resource.RetryVerySlow, message)
	put, err := run(w, w.acts.PutResource, PutResourceInput{Desired: spec, ObservedAt: w.now()})
	must(t, err)
	want(t, put.Verdict, resource.ActionError, arm.CodeCredentialNotUsable, resource.RetryVerySlow, message)
	if put.Sent || put.Unknown || len(w.requests()) != 0 {
		t.Errorf("%+v, requests %v: nothing was sent", put, w.requests())
	}
}

// TestOwnerCacheSeparatesCredentials checks that a credential never gets what
// another one could read.
func TestOwnerCacheSeparatesCredentials(t *testing.T) {
	t.Parallel()
	w, other := elsewhere(t)
	must(t, other.Put(clusterText, map[string]any{"location": "westus2", "properties": map[string]any{"state": "Running"}}))
	spec := desired(t, databaseText, `{}`)
	spec.Credential = "other"
	want(t, local(w, w.acts.CheckOwner, CheckOwnerInput{Desired: spec}).Verdict, resource.ActionProceed, "", "")
	spec.Credential = ""
	want(t, local(w, w.acts.CheckOwner, CheckOwnerInput{Desired: spec}).Verdict, resource.ActionBlock, resource.ReasonWaitingForOwner, resource.RetrySlow)
	// The reading of a step with one credential is not shared either.
	_, err := run(w, w.acts.GetResource, GetResourceInput{Target: resource.Target{ID: id(t, clusterText), APIVersion: "2023-08-15", Credential: "other"}})
	must(t, err)
	want(t, local(w, w.acts.CheckOwner, CheckOwnerInput{Desired: spec}).Verdict, resource.ActionBlock, resource.ReasonWaitingForOwner, resource.RetrySlow)
}
