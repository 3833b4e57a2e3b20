package activities

import (
	"net/http"
	"testing"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

const (
	secretThing = `{"location":"westus2","properties":{"size":1,"note":{"$secret":"env:ARMATURE_SECRET_ACTIVITIES"}}}`
	echoed      = "The value " + planted + " is known."
)

// TestLaterResponsesShowNoSecret lets ARM repeat a secret of the PUT in responses to later
// requests, in message and code.
func TestLaterResponsesShowNoSecret(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reason string
		fault  armsim.Fault
		send   func(*testing.T, *world) any
	}{
		"delete": {
			"the message of a refusal", armsim.Fault{Method: http.MethodDelete, Status: 400, Code: "Refused", Message: echoed},
			func(t *testing.T, w *world) any {
				t.Helper()
				got, _ := finish(w, w.acts.DeleteResource, DeleteResourceInput{Desired: desired(t, thingText, secretThing)})
				want(t, got.Verdict, resource.ActionError, "Refused", got.Verdict.Class, "(masked)")
				return got
			},
		},
		"code of a delete": {
			"codes become reasons, which search attributes and metrics show", armsim.Fault{Method: http.MethodDelete, Status: 400, Code: planted, Message: echoed},
			func(t *testing.T, w *world) any {
				t.Helper()
				got, _ := finish(w, w.acts.DeleteResource, DeleteResourceInput{Desired: desired(t, thingText, secretThing)})
				want(t, got.Verdict, resource.ActionError, resource.ReasonUnknownError, got.Verdict.Class, "(masked)")
				return got
			},
		},
		"code of a put": {
			"an error of the activity has the code too", armsim.Fault{Method: http.MethodPut, Status: 500, Code: planted, Message: echoed, Count: 1},
			func(t *testing.T, w *world) any {
				t.Helper()
				_, err := run(w, w.acts.PutResource, PutResourceInput{Desired: desired(t, thingText, secretThing), Kind: PutUncompared})
				if err == nil {
					t.Error("the PUT has no error, want one that is retried")
				}
				return err
			},
		},
		"code of an operation": {
			"the same for the error of an operation", armsim.Fault{Method: http.MethodTrace},
			func(t *testing.T, w *world) any {
				t.Helper()
				put, err := run(w, w.acts.PutResource, PutResourceInput{Desired: desired(t, thingText, secretThing), Kind: PutCreationAgain})
				must(t, err)
				got, _ := finish(w, w.acts.PollOperation, PollOperationInput{
					Target: desired(t, thingText, secretThing).WithSecrets().Target(), Token: put.Token, Expect: ExpectPresent,
				})
				if got.Verdict.Reason == resource.Reason(planted) || !got.Verdict.Stops() {
					t.Errorf("the verdict is %+v, want an error with another reason", got.Verdict)
				}
				return got
			},
		},
		"purge": {
			"a transient error becomes an error of the activity", armsim.Fault{Method: http.MethodPost, Status: 500, Code: "Broken", Message: echoed, Count: 1},
			func(t *testing.T, w *world) any {
				t.Helper()
				body := `{"location":"westus2","properties":{"note":{"$secret":"env:ARMATURE_SECRET_ACTIVITIES"}}}`
				w.put(purgeVault, `{"location":"westus2"}`)
				spec := desired(t, purgeVault, body)
				spec.Deletion.Purge = true
				deleteNow(w, spec)
				got, err := run(w, w.acts.PurgeResource, PurgeResourceInput{Desired: spec, Since: w.now()})
				if err == nil {
					t.Errorf("the purge returned %+v, want an error that is retried", got)
				}
				return err
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _ := putWorld(t, func(s *setup) {
				s.sim.Operations = []armsim.OperationRule{{Type: "Contoso.Things/*", On: "put", Spec: armsim.OperationSpec{
					Shape: armsim.ShapeAsync, Polls: 1, Outcome: "Failed", ErrorCode: planted, ErrorMessage: echoed,
				}}}
			})
			if name != "code of an operation" {
				w.put(thingText, thingBody)
			}
			w.sim.AddFault(c.fault)
			w.leaks(planted, c.send(t, w), w.verdicts)
		})
	}
}

// TestRefusalDigestHasNoSecret checks that the digest of a refusal, which is in histories,
// does not depend on a secret: a guess could be compared with it.
func TestRefusalDigestHasNoSecret(t *testing.T) {
	t.Parallel()
	digest := func(message string) string {
		w, _ := putWorld(t)
		w.put(thingText, thingBody)
		w.sim.AddFault(armsim.Fault{Method: http.MethodDelete, Status: 400, Code: "Refused", Message: message})
		got, _ := finish(w, w.acts.DeleteResource, DeleteResourceInput{Desired: desired(t, thingText, secretThing)})
		return got.Verdict.RefusalDigest
	}
	if a, b := digest(echoed), digest("The value (masked) is known."); a != b || a == "" {
		t.Errorf("the digests are %q and %q, want the same", a, b)
	}
	if a, b := digest(echoed), digest("Another reason."); a == b {
		t.Errorf("two reasons have the digest %q", a)
	}
}

// TestExportErrorsShowNoValue lets the key vault repeat the value of a write, and ARM the
// value of the secret in the answer to the next action.
func TestExportErrorsShowNoValue(t *testing.T) {
	t.Parallel()
	w, in := exportWorld(t)
	first, err := run(w, w.acts.ExportValues, in)
	must(t, err)
	old := w.secret("app-key").Versions[0].Value
	in.Known = first.Exports
	must(t, w.sim.RegenerateKey(armsim.KeyChange{ID: accountText, Name: "key1"}))
	answer, err := w.acts.Client.Read(t.Context(), in.Desired.ID, "listKeys", "2023-01-01")
	must(t, err)
	body, err := resource.DecodeBody(answer.Body)
	must(t, err)
	path, err := resource.ParsePath("keys[keyName=key1].value")
	must(t, err)
	found, _ := path.Get(body)
	key, _ := found.(string)
	if key == "" || key == old {
		t.Fatalf("the key is %q after %q, want another one", key, old)
	}
	refused := w.sim.AddFault(armsim.Fault{Method: http.MethodPut, Path: "/vaults/kv/secrets/app-key", Status: 403, Code: "Forbidden", Message: "The value " + key + " may not follow " + old})
	got, err := run(w, w.acts.ExportValues, in)
	must(t, err)
	want(t, got.Verdict, resource.ActionError, resource.ReasonExportRefused, resource.RetrySlow, "(masked) may not follow (masked)")
	w.leaks(key, got, w.verdicts)
	w.leaks(old, got, w.verdicts)
	w.sim.RemoveFault(refused)
	w.sim.AddFault(armsim.Fault{Method: http.MethodPost, Path: accountText, Status: 400, Code: "KeyInUse", Message: "The key " + old + " is used."})
	w.fresh()
	got, err = run(w, w.acts.ExportValues, in)
	must(t, err)
	want(t, got.Verdict, resource.ActionError, resource.ReasonExportRefused, got.Verdict.Class, "The key (masked) is used.")
	w.leaks(old, got, w.verdicts)
}
