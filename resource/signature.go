package resource

import "time"

// Signature is the signature of a spec or of a deletion, made by the key of the user or
// pipeline that requested it. Package signing defines what it covers.
type Signature struct {
	// Key is the ID of the public key.
	Key string `json:"key"`
	// At is the time of the signer's clock. Of two specs of a resource the later one
	// counts.
	At time.Time `json:"at"`
	// Value has 64 bytes: Ed25519.
	Value []byte `json:"value"`
}

// DeletionOrder is a signed request to delete a resource, or with Replace to delete and
// create it again.
type DeletionOrder struct {
	ID ID `json:"id"`
	// Cascade extends the order to what is inside the resource. EndScope, WithData and
	// APIVersion are as in the message that requests the deletion.
	Cascade    bool   `json:"cascade,omitempty"`
	EndScope   bool   `json:"endScope,omitempty"`
	WithData   bool   `json:"withData,omitempty"`
	Replace    bool   `json:"replace,omitempty"`
	APIVersion string `json:"apiVersion,omitempty"`
	// Selector has the labels by which the user chose the resource, "" for a choice by
	// name or manifest: a list of resources comes from Temporal.
	Selector  string     `json:"selector,omitempty"`
	Signature *Signature `json:"signature,omitempty"`
}
