package signing_test

import (
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/internal/signing"
	"github.com/armature-io/armature/resource"
)

const parent = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/rg1/providers/Contoso.Things/parents/p1"

// key returns the key pair of a seed, which is the same in each run.
func key(seed byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(rune(seed)), ed25519.SeedSize)))
}

func public(k ed25519.PrivateKey) ed25519.PublicKey {
	return k.Public().(ed25519.PublicKey) //nolint:forcetypeassert // the type of crypto/ed25519
}

func id(t *testing.T, text string) resource.ID {
	t.Helper()
	parsed, err := resource.ParseID(text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// world is a signer and a verifier with clocks of their own.
type world struct {
	signed, verified time.Time
	signer           *signing.Signer
	verifier         *signing.Verifier
}

func newWorld() *world {
	w := &world{signed: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)}
	w.verified = w.signed
	w.signer = signing.NewSigner(key('a'), "prod", func() time.Time { return w.signed })
	w.verifier = signing.NewVerifier([]ed25519.PublicKey{public(key('b')), public(key('a'))}, "prod", func() time.Time { return w.verified })
	return w
}

func (w *world) spec(t *testing.T, change func(*resource.Desired)) resource.Desired {
	t.Helper()
	desired := resource.Desired{
		ID: id(t, parent), APIVersion: "2024-01-01", Name: "p1", Body: json.RawMessage(`{"tags":{"a":"<1>"}}`),
		Policy: resource.PolicyManage, Labels: map[string]string{"stack": "prod"},
	}
	if change != nil {
		change(&desired)
	}
	signed, err := w.signer.Spec(desired)
	if err != nil {
		t.Fatal(err)
	}
	return throughTemporal(t, signed)
}

func (w *world) order(t *testing.T, change func(*resource.DeletionOrder)) *resource.DeletionOrder {
	t.Helper()
	order := resource.DeletionOrder{ID: id(t, parent)}
	if change != nil {
		change(&order)
	}
	signed, err := w.signer.Order(order)
	if err != nil {
		t.Fatal(err)
	}
	return throughTemporal(t, signed)
}

// throughTemporal returns what is left of a value after two histories.
func throughTemporal[T any](t *testing.T, value T) T {
	t.Helper()
	for range 2 {
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		var read T
		if err := json.Unmarshal(text, &read); err != nil {
			t.Fatal(err)
		}
		value = read
	}
	return value
}

func reasonOf(fault *signing.Fault) resource.Reason {
	if fault == nil {
		return ""
	}
	return fault.Reason
}

func TestSpec(t *testing.T) {
	cases := map[string]struct {
		reason  string
		specs   func(t *testing.T, w *world) []resource.Desired
		want    resource.Reason
		message string
	}{
		"signed": {
			reason: "an honest apply", specs: func(t *testing.T, w *world) []resource.Desired { return []resource.Desired{w.spec(t, nil)} },
		},
		"derived lists": {
			reason: "the worker replaces what the client sent about secrets",
			specs: func(t *testing.T, w *world) []resource.Desired {
				return []resource.Desired{w.spec(t, func(d *resource.Desired) {
					d.Body = json.RawMessage(`{"properties":{"adminPassword":{"$secret":"env:X"}}}`)
					d.Plain, d.Secret, d.SecretRefs = []string{"a"}, []string{"b"}, []string{"env:Y"}
				}).WithSecrets()}
			},
		},
		"aged": {
			reason: "its time is bounded", want: resource.ReasonSignatureOutdated, message: "more than 24h0m0s ago (signing.max-age)",
			specs: func(t *testing.T, w *world) []resource.Desired {
				w.verifier.MaxSpecAge = 24 * time.Hour
				signed := w.spec(t, nil)
				w.verified = w.signed.Add(24*time.Hour + time.Second)
				return []resource.Desired{signed}
			},
		},
		"within its age": {
			reason: "a day is not over",
			specs: func(t *testing.T, w *world) []resource.Desired {
				w.verifier.MaxSpecAge = 24 * time.Hour
				signed := w.spec(t, nil)
				w.verified = w.signed.Add(24 * time.Hour)
				return []resource.Desired{signed}
			},
		},
		"unsigned": {
			reason: "a plain Temporal client", want: resource.ReasonSignatureMissing, message: "is not signed",
			specs: func(t *testing.T, w *world) []resource.Desired {
				desired := w.spec(t, nil)
				desired.Signature = nil
				return []resource.Desired{desired}
			},
		},
		"foreign key": {
			reason: "anyone can make a key", want: resource.ReasonSignatureInvalid, message: "does not accept",
			specs: func(t *testing.T, w *world) []resource.Desired {
				w.signer = signing.NewSigner(key('x'), "prod", func() time.Time { return w.signed })
				return []resource.Desired{w.spec(t, nil)}
			},
		},
		"second key": {
			reason: "keys are rotated with both accepted",
			specs: func(t *testing.T, w *world) []resource.Desired {
				w.signer = signing.NewSigner(key('b'), "prod", func() time.Time { return w.signed })
				return []resource.Desired{w.spec(t, nil)}
			},
		},
		"name of an accepted key": {
			reason: "the ID of a key proves nothing", want: resource.ReasonSignatureInvalid, message: "does not fit",
			specs: func(t *testing.T, w *world) []resource.Desired {
				w.signer = signing.NewSigner(key('x'), "prod", func() time.Time { return w.signed })
				desired := w.spec(t, nil)
				desired.Signature.Key = signing.KeyID(public(key('a')))
				return []resource.Desired{desired}
			},
		},
		"other namespace": {
			reason: "what was signed for a test is not for production", want: resource.ReasonSignatureInvalid, message: "another namespace",
			specs: func(t *testing.T, w *world) []resource.Desired {
				w.signer = signing.NewSigner(key('a'), "test", func() time.Time { return w.signed })
				return []resource.Desired{w.spec(t, nil)}
			},
		},
		"later time": {
			reason: "the time is signed", want: resource.ReasonSignatureInvalid, message: "does not fit",
			specs: func(t *testing.T, w *world) []resource.Desired {
				desired := w.spec(t, nil)
				desired.Signature.At = desired.Signature.At.Add(time.Minute)
				return []resource.Desired{desired}
			},
		},
		"older spec": {
			reason: "a signed spec of last month is replayed", want: resource.ReasonSignatureOutdated, message: "before the newest",
			specs: func(t *testing.T, w *world) []resource.Desired {
				old := w.spec(t, nil)
				w.signed = w.signed.Add(time.Second)
				return []resource.Desired{old, w.spec(t, func(d *resource.Desired) { d.Body = json.RawMessage(`{"new":1}`) }), old}
			},
		},
		"same spec again": {
			reason: "drift is corrected with the spec in force",
			specs: func(t *testing.T, w *world) []resource.Desired {
				spec := w.spec(t, nil)
				w.verified = w.verified.Add(365 * 24 * time.Hour)
				return []resource.Desired{spec, spec}
			},
		},
		"future": {
			reason: "a clock that is wrong would lock out every later spec", want: resource.ReasonSignatureInvalid, message: "in the future",
			specs: func(t *testing.T, w *world) []resource.Desired {
				w.signed = w.signed.Add(time.Hour)
				return []resource.Desired{w.spec(t, nil)}
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			var got *signing.Fault
			for i, desired := range c.specs(t, w) {
				if i > 0 && got != nil {
					t.Fatalf("spec %d: %+v", i-1, got)
				}
				got = w.verifier.Spec(desired)
			}
			if reasonOf(got) != c.want || got != nil && !strings.Contains(got.Message, c.message) {
				t.Errorf("%s: got %+v, want %s %q", c.reason, got, c.want, c.message)
			}
		})
	}
}

// TestEveryFieldIsSigned changes each field of a spec and of an order on its own.
//
//guard:signed-specs
func TestEveryFieldIsSigned(t *testing.T) {
	// Derived by the worker from the body.
	derived := map[string]bool{"Plain": true, "Secret": true, "SecretRefs": true, "Signature": true}
	w := newWorld()
	signed := w.spec(t, nil)
	fields := reflect.TypeFor[resource.Desired]()
	for i := range fields.NumField() {
		name := fields.Field(i).Name
		changed := signed
		alter(t, reflect.ValueOf(&changed).Elem().Field(i), w)
		if name == "Signature" {
			continue
		}
		if fault := w.verifier.Spec(changed); (fault == nil) != derived[name] {
			t.Errorf("%s: changed after the signature, got %+v", name, fault)
		}
	}
	order := w.order(t, nil)
	fields = reflect.TypeFor[resource.DeletionOrder]()
	for i := range fields.NumField() {
		if name := fields.Field(i).Name; name != "Signature" {
			changed := *order
			alter(t, reflect.ValueOf(&changed).Elem().Field(i), w)
			if fault := w.verifier.Deletion(signed, "", &changed); reasonOf(fault) != resource.ReasonSignatureInvalid {
				t.Errorf("%s: changed after the signature, got %+v", name, fault)
			}
		}
	}
}

// alter sets a field to another value.
func alter(t *testing.T, field reflect.Value, w *world) {
	t.Helper()
	switch field.Interface().(type) {
	case resource.ID:
		field.Set(reflect.ValueOf(id(t, parent+"/children/other")))
	case json.RawMessage:
		field.Set(reflect.ValueOf(json.RawMessage(`{"tags":{}}`)))
	case map[string]string:
		field.Set(reflect.ValueOf(map[string]string{"stack": "test"}))
	case []string:
		field.Set(reflect.ValueOf([]string{"x"}))
	case []resource.Reference:
		field.Set(reflect.ValueOf([]resource.Reference{{ID: id(t, parent)}}))
	case []resource.Export:
		field.Set(reflect.ValueOf([]resource.Export{{To: "keyvault:https://v.vault.azure.net/secrets/s"}}))
	case resource.Deletion:
		field.Set(reflect.ValueOf(resource.Deletion{Purge: true}))
	case *resource.Signature:
	default:
		switch field.Kind() {
		case reflect.String:
			field.SetString("changed")
		case reflect.Int64:
			field.SetInt(42)
		case reflect.Bool:
			field.SetBool(true)
		default:
			t.Fatalf("no other value of %s is known", field.Type())
		}
	}
}

func TestDeletion(t *testing.T) {
	child := parent + "/children/c1"
	cases := map[string]struct {
		reason   string
		desired  func(*resource.Desired)
		unsigned bool
		order    func(t *testing.T, w *world) *resource.DeletionOrder
		override string
		want     resource.Reason
	}{
		"signed": {reason: "an honest delete", order: func(t *testing.T, w *world) *resource.DeletionOrder { return w.order(t, nil) }},
		"unsigned": {
			reason: "write access to the namespace deletes nothing", want: resource.ReasonSignatureMissing,
			order: func(*testing.T, *world) *resource.DeletionOrder { return nil },
		},
		"other resource": {
			reason: "an order for one resource is none for another", want: resource.ReasonSignatureInvalid,
			order: func(t *testing.T, w *world) *resource.DeletionOrder {
				return w.order(t, func(o *resource.DeletionOrder) { o.ID = id(t, parent+"x") })
			},
		},
		"cascade": {
			reason: "what is inside goes with it", desired: func(d *resource.Desired) { d.ID = id(t, child) },
			order: func(t *testing.T, w *world) *resource.DeletionOrder {
				return w.order(t, func(o *resource.DeletionOrder) { o.Cascade = true })
			},
		},
		"without cascade": {
			reason: "the order names the owner alone", desired: func(d *resource.Desired) { d.ID = id(t, child) }, want: resource.ReasonSignatureInvalid,
			order: func(t *testing.T, w *world) *resource.DeletionOrder { return w.order(t, nil) },
		},
		"selector": {
			reason: "the spec has the labels",
			order: func(t *testing.T, w *world) *resource.DeletionOrder {
				return w.order(t, func(o *resource.DeletionOrder) { o.Selector = "stack=prod" })
			},
		},
		"selector of another stack": {
			reason: "Temporal listed a resource that does not have the labels", want: resource.ReasonSignatureInvalid,
			order: func(t *testing.T, w *world) *resource.DeletionOrder {
				return w.order(t, func(o *resource.DeletionOrder) { o.Selector = "stack=old" })
			},
		},
		"api-version": {
			reason: "the order states it", override: "2030-01-01",
			order: func(t *testing.T, w *world) *resource.DeletionOrder {
				return w.order(t, func(o *resource.DeletionOrder) { o.APIVersion = "2030-01-01" })
			},
		},
		"api-version that is not signed": {
			reason: "an old version deletes in another way", override: "2010-01-01", want: resource.ReasonSignatureInvalid,
			order: func(t *testing.T, w *world) *resource.DeletionOrder { return w.order(t, nil) },
		},
		"older than the spec": {
			reason: "the resource was created again since", want: resource.ReasonSignatureOutdated,
			order: func(t *testing.T, w *world) *resource.DeletionOrder {
				w.signed = w.signed.Add(-time.Minute)
				return w.order(t, nil)
			},
		},
		"a week old": {
			reason: "an old order is replayed", want: resource.ReasonSignatureOutdated,
			order: func(t *testing.T, w *world) *resource.DeletionOrder {
				w.verified = w.verified.Add(signing.MaxOrderAge + time.Minute)
				return w.order(t, nil)
			},
		},
		"spec of before": {
			reason: "a resource whose manifest is gone can be deleted", unsigned: true,
			order: func(t *testing.T, w *world) *resource.DeletionOrder { return w.order(t, nil) },
		},
		"spec of before that purges": {
			reason: "the purge is not signed", unsigned: true, desired: func(d *resource.Desired) { d.Deletion.Purge = true }, want: resource.ReasonSignatureMissing,
			order: func(t *testing.T, w *world) *resource.DeletionOrder { return w.order(t, nil) },
		},
		"replacement": {
			reason: "the manifest allows it", desired: func(d *resource.Desired) { d.Recreate = resource.RecreateOnImmutable },
			order: func(t *testing.T, w *world) *resource.DeletionOrder {
				return w.order(t, func(o *resource.DeletionOrder) { o.Replace = true })
			},
		},
		"replacement that the manifest does not allow": {
			reason: "an approval to create again is no deletion", want: resource.ReasonSignatureInvalid,
			order: func(t *testing.T, w *world) *resource.DeletionOrder {
				return w.order(t, func(o *resource.DeletionOrder) { o.Replace = true })
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			desired := w.spec(t, c.desired)
			if c.unsigned {
				desired.Signature = nil
			}
			if got := w.verifier.Deletion(desired, c.override, c.order(t, w)); reasonOf(got) != c.want {
				t.Errorf("%s: got %+v, want %s", c.reason, got, c.want)
			}
		})
	}
}

// TestSignedBytesStay compares signatures with recorded ones: a change would make every
// signed spec invalid.
func TestSignedBytesStay(t *testing.T) {
	w := newWorld()
	full := w.spec(t, func(d *resource.Desired) {
		d.Owner, d.OwnerAPIVersion = d.ID.Owner(), "2021-04-01"
		d.References = []resource.Reference{{ID: d.ID.Owner(), APIVersion: "2021-04-01"}}
		d.DependsOn, d.Adopt, d.Recreate, d.Put = d.References, resource.AdoptOnly, resource.RecreateNever, resource.PutMerge
		d.Credential, d.Interval, d.Timeout = "team", time.Hour, time.Minute
		d.Ignore, d.Plain, d.Deletion = []string{"a"}, []string{"b"}, resource.Deletion{Query: map[string]string{"x": "y"}, Purge: true}
	})
	order := w.order(t, func(o *resource.DeletionOrder) {
		o.Cascade, o.EndScope, o.WithData, o.Replace, o.APIVersion, o.Selector = true, true, true, true, "2030-01-01", "a=b"
	})
	lift, err := w.signer.Unfreeze("a=b", w.signed.Add(-time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{"spec": hex(full.Signature), "order": hex(order.Signature), "unfreeze": hex(lift), "key": w.signer.KeyID()}
	want := map[string]string{"key": "a3c761e56d55f45e", "order": "155c5a5fcd89fdc13b324f64134618b5", "spec": "1c7657e78a0a082b66bfa81a3fe30ea8", "unfreeze": "43dadaf683bd06926b36aeda54e46242"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-recorded +now:\n%s", diff)
	}
}

func hex(signature *resource.Signature) string { return fmt.Sprintf("%x", signature.Value[:16]) }
