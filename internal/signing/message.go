package signing

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/armature-io/armature/resource"
)

// Kinds of signed messages, so that a signature of one is none of another.
const (
	kindSpec   = "spec"
	kindDelete = "delete"
	kindLift   = "unfreeze"
)

// specMessage returns the signed bytes of a spec: everything in it but the signature,
// and the lists that a worker derives from the body itself (WithSecrets).
func specMessage(namespace string, at time.Time, desired resource.Desired) ([]byte, error) {
	desired.Signature = nil
	desired.Plain, desired.Secret, desired.SecretRefs = nil, nil, nil
	return message(kindSpec, namespace, at, desired)
}

// orderMessage returns the signed bytes of a deletion.
func orderMessage(namespace string, at time.Time, order resource.DeletionOrder) ([]byte, error) {
	order.Signature = nil
	return message(kindDelete, namespace, at, order)
}

// liftMessage returns the signed bytes of an unfreeze: the selector, and the time of the freeze
// to lift, so that the signature lifts no later one.
func liftMessage(namespace string, at time.Time, selector string, since time.Time) ([]byte, error) {
	return message(kindLift, namespace, at, struct {
		Selector string    `json:"selector"`
		Since    time.Time `json:"since"`
	}{selector, since.UTC()})
}

// message returns the bytes of a value. Go writes the fields of a struct in their order
// and the keys of a map sorted, and leaves a compact body as it is, so both sides get the
// same text; a field that is added later is left out while it is empty.
func message(kind, namespace string, at time.Time, value any) ([]byte, error) {
	content, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encode the signed %s: %w", kind, err)
	}
	header := fmt.Sprintf("armature 1\n%s\n%q\n%s\n", kind, namespace, at.UTC().Format(time.RFC3339Nano))
	return append([]byte(header), content...), nil
}
