package activities

import (
	"context"
	"crypto/ed25519"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/internal/signing"
	"github.com/armature-io/armature/resource"
)

// signatures makes the worker demand signatures of the returned signer, in the
// namespace prod.
func signatures(w *world) *signing.Signer {
	key := ed25519.NewKeyFromSeed([]byte(strings.Repeat("k", ed25519.SeedSize)))
	w.acts.Signatures = signing.NewVerifier([]ed25519.PublicKey{key.Public().(ed25519.PublicKey)}, "prod", w.now) //nolint:forcetypeassert // the type of crypto/ed25519
	return signing.NewSigner(key, "prod", w.now)
}

// TestGuardSignatures sends PutResource the specs that a writer in the Temporal namespace
// could make.
//
//guard:signed-specs
func TestGuardSignatures(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		forge   func(w *world, signed resource.Desired) resource.Desired
		warn    bool
		why     resource.Reason
		message string
	}{
		"signed":   {reason: "what CI applied", forge: func(_ *world, d resource.Desired) resource.Desired { return d }},
		"unsigned": {reason: "an apply past the CLI", forge: unsigned, why: resource.ReasonSignatureMissing, message: "apply its manifest again with --signing-key"},
		"body": {
			reason: "the signature of another body", why: resource.ReasonSignatureInvalid, message: "does not fit",
			forge: func(_ *world, d resource.Desired) resource.Desired {
				d.Body = []byte(`{"location":"westus2","properties":{"size":9}}`)
				return d
			},
		},
		"policy": {
			reason: "what decides about writes is signed", why: resource.ReasonSignatureInvalid, message: "does not fit",
			forge: func(_ *world, d resource.Desired) resource.Desired { d.Put = resource.PutReplace; return d },
		},
		"warn": {reason: "until all manifests are signed", forge: unsigned, warn: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(s *setup) { s.options.WarnOfSignatures = c.warn })
			w.put(groupText, `{"location":"westus2"}`)
			signed, err := signatures(w).Spec(desired(t, thingText, plannedBody))
			must(t, err)
			put, err := run(w, w.acts.PutResource, PutResourceInput{Desired: c.forge(w, signed), Kind: PutCreation, ObservedAt: w.now()})
			must(t, err)
			if written := w.puts(thingText) == 1; written != (c.why == "") || put.Sent != written {
				t.Errorf("%s: written %v, %+v", c.reason, written, put.Verdict)
			}
			if c.why != "" {
				want(t, put.Verdict, resource.ActionBlock, c.why, resource.RetrySlow, c.message)
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			if logged := strings.Contains(w.log.String(), "without an accepted signature"); logged != c.warn {
				t.Errorf("a warning in the log: %v", logged)
			}
		})
	}
}

func unsigned(_ *world, d resource.Desired) resource.Desired {
	d.Signature = nil
	return d
}

// TestGuardOldSignature applies again what was signed before.
//
//guard:signed-specs
func TestGuardOldSignature(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(groupText, `{"location":"westus2"}`)
	signer := signatures(w)
	old, err := signer.Spec(desired(t, thingText, plannedBody))
	must(t, err)
	w.advance(time.Minute)
	newest, err := signer.Spec(desired(t, thingText, `{"location":"westus2","properties":{"size":2}}`))
	must(t, err)
	for _, spec := range []resource.Desired{newest, old} {
		_, err := run(w, w.acts.PutResource, PutResourceInput{Desired: spec, Kind: PutCreation, ObservedAt: w.now()})
		must(t, err)
		w.fresh()
	}
	put, err := run(w, w.acts.PutResource, PutResourceInput{Desired: old, ObservedAt: w.now()})
	must(t, err)
	want(t, put.Verdict, resource.ActionBlock, resource.ReasonSignatureOutdated, resource.RetrySlow, "before the newest one")
	if n := w.puts(thingText); n != 1 {
		t.Errorf("%d PUTs, want that of the newest spec", n)
	}
}

// TestGuardSignedRecords writes after all workers and the workflow started anew, so that only
// the record outside of Temporal knows what was signed last.
//
//guard:signed-specs
func TestGuardSignedRecords(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		// what is written then, of what was signed before and after the newest statement.
		choose  func(older, newer resource.Desired) resource.Desired
		deleted bool
		warn    bool
		why     resource.Reason
	}{
		"older":   {reason: "a replay of an older spec, stated again", choose: func(older, _ resource.Desired) resource.Desired { return older }, why: resource.ReasonSignatureOutdated},
		"newer":   {reason: "an honest apply", choose: func(_, newer resource.Desired) resource.Desired { return newer }},
		"deleted": {reason: "a replay of the spec of what was deleted", deleted: true, choose: func(older, _ resource.Desired) resource.Desired { return older }, why: resource.ReasonSignatureOutdated},
		"again":   {reason: "an honest apply after the deletion", deleted: true, choose: func(_, newer resource.Desired) resource.Desired { return newer }},
		"warn":    {reason: "until all manifests are signed", choose: func(older, _ resource.Desired) resource.Desired { return older }, warn: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(s *setup) { s.options.WarnOfSignatures, s.options.Records = c.warn, newDocuments() })
			w.put(groupText, `{"location":"westus2"}`)
			signer := signatures(w)
			sign := func(size string) resource.Desired {
				signed, err := signer.Spec(desired(t, thingText, `{"location":"westus2","properties":{"size":`+size+`}}`))
				must(t, err)
				w.advance(time.Minute)
				return signed
			}
			older, newest := sign("1"), sign("2")
			facts := func(generation int) PassFacts {
				return PassFacts{Generation: int64(generation), StatedAt: statedAt(generation)}
			}
			_, _ = finish(w, w.acts.PutResource, PutResourceInput{Desired: newest, PassFacts: facts(1), Kind: PutCreation, ObservedAt: w.now()})
			if n := w.puts(thingText); n != 1 {
				t.Fatalf("%d PUTs of the newest spec", n)
			}
			if c.deleted {
				in := DeleteResourceInput{Desired: newest, PassFacts: facts(2)}
				order, err := signer.Order(resource.DeletionOrder{ID: newest.ID})
				must(t, err)
				in.Order = order
				_, _ = finish(w, w.acts.DeleteResource, in)
				w.advance(time.Minute)
			}
			signer = signatures(w) // a worker that remembers nothing
			before := w.puts(thingText)
			put, _ := finish(w, w.acts.PutResource, PutResourceInput{
				Desired: c.choose(older, sign("3")), PassFacts: facts(3), Kind: kindIf(c.deleted, PutRecreation, PutChange), ObservedAt: w.now(),
			})
			if written := w.puts(thingText) > before; written != (c.why == "") || c.why != "" && put.Verdict.Reason != c.why {
				t.Errorf("%s: written %v, %+v", c.reason, written, put.Verdict)
			}
		})
	}
}

// TestGuardSignedDeletion deletes with and without a signed request.
//
//guard:signed-specs
func TestGuardSignedDeletion(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		order   *resource.DeletionOrder
		version string
		why     resource.Reason
	}{
		"signed":      {reason: "what a user requested", order: &resource.DeletionOrder{ID: id(t, thingText)}},
		"unsigned":    {reason: "an update past the CLI, or the activity alone", why: resource.ReasonSignatureMissing},
		"another one": {reason: "the order names another resource", order: &resource.DeletionOrder{ID: id(t, groupText+"/providers/Contoso.Things/things/t2")}, why: resource.ReasonSignatureInvalid},
		"group":       {reason: "the cascade of its group", order: &resource.DeletionOrder{ID: id(t, groupText), Cascade: true}},
		"api-version": {reason: "the deletion replaces the version of the spec", order: &resource.DeletionOrder{ID: id(t, thingText), APIVersion: "2024-01-01"}, version: "2024-01-01"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put(thingText, thingBody)
			signer := signatures(w)
			in := DeleteResourceInput{}
			var err error
			in.Desired, err = signer.Spec(desired(t, thingText, thingBody))
			must(t, err)
			if c.version != "" {
				in.SpecVersion, in.Desired.APIVersion = in.Desired.APIVersion, c.version
			}
			if c.order != nil {
				in.Order, err = signer.Order(*c.order)
				must(t, err)
			}
			got, err := run(w, w.acts.DeleteResource, in)
			must(t, err)
			if gone := len(w.sim.Resources(thingText, "")) == 0; gone != (c.why == "") {
				t.Errorf("%s: deleted %v, %+v", c.reason, gone, got)
			}
			if c.why != "" {
				want(t, got.Verdict, resource.ActionBlock, c.why, resource.RetrySlow, "nothing is written")
				purged, err := run(w, w.acts.PurgeResource, PurgeResourceInput{Desired: in.Desired, SignedDeletion: writing.SignedDeletion{Order: in.Order}})
				must(t, err)
				want(t, purged.Verdict, resource.ActionBlock, c.why, resource.RetrySlow)
			}
		})
	}
}

// TestGuardSignaturesOfExtensions checks that a POST of an extension needs the signature
// of the spec, and the registration of a provider none.
//
//guard:signed-specs
func TestGuardSignaturesOfExtensions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(thingText, thingBody)
	signer := signatures(w)
	d := desired(t, thingText, thingBody)
	post := func(d resource.Desired) error {
		ctx := writing.WithStep(context.Background(), writing.Step{Checks: w.acts.checks(), Desired: d, Progress: func() any { return nil }})
		_, err := w.acts.Client.Post(ctx, d.ID, "sync", d.APIVersion, nil)
		return err
	}
	if verdict, blocked := writing.Blocked(post(d)); !blocked || verdict.Reason != resource.ReasonSignatureMissing {
		t.Errorf("a POST on behalf of an unsigned spec: %+v", verdict)
	}
	signed, err := signer.Spec(d)
	must(t, err)
	if verdict, blocked := writing.Blocked(post(signed)); blocked {
		t.Errorf("a POST on behalf of a signed spec: %+v", verdict)
	}
	w.sim.SetProvider("Contoso.Things", "NotRegistered")
	before := w.posts()
	_, _ = finish(w, w.acts.RegisterProvider, RegisterProviderInput{ID: d.ID, Namespace: "Contoso.Things"})
	if w.posts() == before {
		t.Error("a provider was not registered")
	}
}
