package signing

import (
	"crypto/ed25519"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/armature-io/armature/resource"
)

const (
	// maxAhead is how far the clock of a signer may be ahead of the worker's.
	maxAhead = 10 * time.Minute
	// MaxOrderAge is how long a signed deletion counts: an old one must not delete what
	// was created again since.
	MaxOrderAge = 7 * 24 * time.Hour
	// maxLiftAge is how long a signed unfreeze counts.
	maxLiftAge = 10 * time.Minute
	// maxRemembered bounds the resources of which a worker remembers the newest
	// signature.
	maxRemembered = 100_000
)

// Fault is why a signature does not allow a write.
type Fault struct {
	Reason resource.Reason
	// Message completes the sentence "nothing is written: ...".
	Message string
}

// Verifier checks signatures with the public keys of a worker. It remembers the newest
// signature of each resource for as long as the process runs.
type Verifier struct {
	keys      map[string]ed25519.PublicKey
	namespace string
	now       func() time.Time
	// MaxSpecAge is how long a signed spec counts, 0 for ever. It is set before the first use.
	MaxSpecAge time.Duration

	mu     sync.Mutex
	newest map[string]time.Time
}

// NewVerifier returns a verifier for the resources of a Temporal namespace.
func NewVerifier(keys []ed25519.PublicKey, namespace string, now func() time.Time) *Verifier {
	v := &Verifier{keys: map[string]ed25519.PublicKey{}, namespace: namespace, now: now, newest: map[string]time.Time{}}
	for _, key := range keys {
		v.keys[KeyID(key)] = key
	}
	return v
}

// KeyIDs returns the IDs of the accepted keys, sorted.
func (v *Verifier) KeyIDs() []string {
	ids := make([]string, 0, len(v.keys))
	for id := range v.keys {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// Spec returns why a spec may not be written, nil if it may.
func (v *Verifier) Spec(desired resource.Desired) *Fault {
	if desired.Signature == nil {
		return &Fault{resource.ReasonSignatureMissing, "its spec is not signed, and this worker writes signed specs only"}
	}
	text, err := specMessage(v.namespace, desired.Signature.At, desired)
	if err != nil {
		return &Fault{resource.ReasonSignatureInvalid, err.Error()}
	}
	if fault := v.check("spec", desired.Signature, text); fault != nil {
		return fault
	}
	if age := v.now().Sub(desired.Signature.At); v.MaxSpecAge > 0 && age > v.MaxSpecAge {
		return &Fault{resource.ReasonSignatureOutdated, fmt.Sprintf("its spec was signed at %s, more than %s ago (signing.max-age)",
			desired.Signature.At.Format(time.RFC3339), v.MaxSpecAge)}
	}
	return v.remember(desired.ID, "spec", desired.Signature.At)
}

// Deletion returns why a resource may not be deleted, nil if it may: the order must be
// for this resource, or for one that contains it and what is inside; it must not be older
// than the spec. Override is the api-version that replaces that of the spec, "" for none.
// A resource whose spec no accepted key signed may be deleted by a signed order, without
// parameters that the spec states.
func (v *Verifier) Deletion(desired resource.Desired, override string, order *resource.DeletionOrder) *Fault {
	if order == nil || order.Signature == nil {
		return &Fault{resource.ReasonSignatureMissing, "its deletion is not signed, and this worker deletes only what a signed request names"}
	}
	text, err := orderMessage(v.namespace, order.Signature.At, *order)
	if err != nil {
		return &Fault{resource.ReasonSignatureInvalid, err.Error()}
	}
	if fault := v.check("deletion", order.Signature, text); fault != nil {
		return fault
	}
	if fault := v.matches(desired, override, order); fault != nil {
		return fault
	}
	if fault := v.specOf(desired, order); fault != nil || order.Replace {
		return fault
	}
	return v.remember(desired.ID, "deletion", order.Signature.At)
}

// Unfreeze returns why the freeze with a selector that was set at a time may not be lifted,
// nil if it may.
func (v *Verifier) Unfreeze(selector string, since time.Time, signature *resource.Signature) *Fault {
	switch {
	case signature == nil:
		return &Fault{resource.ReasonSignatureMissing, "its request is not signed, and this worker lifts freezes only for signed ones; pass --signing-key"}
	case since.IsZero():
		return &Fault{resource.ReasonSignatureInvalid, "its request does not name the freeze to lift"}
	}
	text, err := liftMessage(v.namespace, signature.At, selector, since)
	if err != nil {
		return &Fault{resource.ReasonSignatureInvalid, err.Error()}
	}
	if fault := v.check("request", signature, text); fault != nil {
		return fault
	}
	if v.now().Sub(signature.At) > maxLiftAge {
		return &Fault{resource.ReasonSignatureOutdated, fmt.Sprintf("its request was signed at %s, more than %s ago; set the clock of the signer, and run the command again",
			signature.At.Format(time.RFC3339), maxLiftAge)}
	}
	return nil
}

// specOf returns why the spec of a resource does not allow its deletion, nil if it does. A
// spec that no accepted key signed adds nothing to the order: no purge, no parameters.
func (v *Verifier) specOf(desired resource.Desired, order *resource.DeletionOrder) *Fault {
	fault := &Fault{resource.ReasonSignatureMissing, "its spec is not signed"}
	if desired.Signature != nil {
		text, err := specMessage(v.namespace, desired.Signature.At, desired)
		if err != nil {
			return &Fault{resource.ReasonSignatureInvalid, err.Error()}
		}
		fault = v.check("spec", desired.Signature, text)
	}
	switch {
	case fault != nil && (!desired.Deletion.IsZero() || order.Replace):
		fault.Message += ", and states how the resource is deleted or replaced"
		return fault
	case fault == nil && order.Signature.At.Before(desired.Signature.At):
		return outdated("deletion", order.Signature.At, desired.Signature.At)
	}
	return nil
}

// matches returns why an order is not for a resource, nil if it is.
func (v *Verifier) matches(desired resource.Desired, override string, order *resource.DeletionOrder) *Fault {
	inside := order.Cascade && strings.HasPrefix(desired.ID.Key(), order.ID.Key()+"/")
	selector, err := resource.ParseSelector(order.Selector)
	switch {
	case !order.ID.Equal(desired.ID) && !inside:
		return &Fault{resource.ReasonSignatureInvalid, "the signed deletion is for " + order.ID.String()}
	case order.Replace && desired.Recreate != resource.RecreateOnImmutable:
		return &Fault{resource.ReasonSignatureInvalid, "the signed request is to replace it, which its manifest does not allow (recreate: on-immutable)"}
	case override != "" && (inside || override != order.APIVersion):
		return &Fault{resource.ReasonSignatureInvalid, "the signed deletion does not state api-version " + override}
	case err != nil || !inside && !selector.Matches(desired.Labels):
		return &Fault{resource.ReasonSignatureInvalid, "the signed deletion is for resources with " + order.Selector}
	case v.now().Sub(order.Signature.At) > MaxOrderAge:
		return &Fault{resource.ReasonSignatureOutdated, fmt.Sprintf("its deletion was signed at %s, more than %s ago",
			order.Signature.At.Format(time.RFC3339), MaxOrderAge)}
	}
	return nil
}

// check returns why a signature is not one of an accepted key.
func (v *Verifier) check(what string, signature *resource.Signature, text []byte) *Fault {
	key, known := v.keys[signature.Key]
	switch {
	case !known:
		return &Fault{resource.ReasonSignatureInvalid, fmt.Sprintf(
			"its %s was signed with the key %.16q, which this worker does not accept (signing.public-keys)", what, signature.Key)}
	case !ed25519.Verify(key, text, signature.Value):
		return &Fault{resource.ReasonSignatureInvalid, fmt.Sprintf(
			"the signature of its %s does not fit: the %s was changed since, was signed for another namespace, or by a newer armature than this worker", what, what)}
	case signature.At.Sub(v.now()) > maxAhead:
		return &Fault{resource.ReasonSignatureInvalid, fmt.Sprintf(
			"its %s was signed at %s, which is in the future: set the clock of the signer", what, signature.At.Format(time.RFC3339))}
	}
	return nil
}

// remember records the time of a signature, and returns a fault if a newer one of the
// resource was seen.
func (v *Verifier) remember(id resource.ID, what string, at time.Time) *Fault {
	v.mu.Lock()
	defer v.mu.Unlock()
	newest, known := v.newest[id.Key()]
	if known && at.Before(newest) {
		return outdated(what, at, newest)
	}
	if !known && len(v.newest) >= maxRemembered {
		for other := range v.newest {
			delete(v.newest, other) // any one: the next write of it is remembered again
			break
		}
	}
	v.newest[id.Key()] = at
	return nil
}

func outdated(what string, at, newest time.Time) *Fault {
	return &Fault{resource.ReasonSignatureOutdated, fmt.Sprintf("its %s was signed at %s, before the newest one of this resource (%s)",
		what, at.Format(time.RFC3339Nano), newest.Format(time.RFC3339Nano))}
}
