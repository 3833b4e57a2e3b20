// Package payload owns the data converter of Armature: how a value of a workflow or an
// activity becomes bytes in a Temporal history and back. Worker, CLI, replayer and codec
// server share it, because each of them must read the histories that the others write.
//
// Payloads over [Threshold] (mostly bodies of resources) are compressed with zstd. With a
// key to write, every payload but those of freezes (clear.go) is then encrypted with
// AES-256-GCM; without one, small payloads stay plain JSON, which is readable in the Temporal
// Web UI. Payloads of every form are readable at any time, as long as their key is configured.
//
// The package must not know resources or where keys come from, and imports no other
// package of Armature.
package payload

import (
	"errors"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
)

// Options configure the converters. The zero value compresses and does not encrypt.
type Options struct {
	// Keys are the keys for reading.
	Keys []Key
	// WriteKey is the ID of the key for writing, one of Keys. "" encrypts nothing: what is
	// encrypted already stays readable.
	WriteKey string
	// Require is the time from which on runs have no clear payloads: those of a run that began
	// then or later are refused. The zero time refuses none. It needs a WriteKey.
	Require time.Time
	// Base converts values to payloads before compression and encryption; nil is the SDK's
	// default (JSON).
	Base converter.DataConverter
	// BaseFailure converts errors; nil is the SDK's default, which encodes messages and
	// stack traces with the data converter while there is a WriteKey.
	BaseFailure converter.FailureConverter
	// Codecs encode what compression and encryption wrote, first to last. Each must return
	// payloads unchanged that it did not encode: histories from before it have such ones.
	Codecs []converter.PayloadCodec
}

// Converters convert everything that Armature sends to Temporal. All are safe for
// concurrent use, and expensive to make: share them.
type Converters struct {
	// Data converts values. In a workflow it panics at a payload with an unknown key, which
	// fails the workflow task and not the workflow: the SDK would return an error to the
	// workflow, which ends it, or drop a signal.
	Data converter.DataConverter
	// Failure converts errors. A message with an unknown key becomes one that names the key.
	Failure converter.FailureConverter
	// Codec is the compression and encryption alone, for codec servers.
	Codec converter.PayloadCodec

	keys    keyring
	codecs  []converter.PayloadCodec
	require time.Time
}

// New returns the converters of the options. An error names the key that is not valid,
// never its bytes.
func New(options Options) (*Converters, error) {
	keys, err := newKeyring(options.Keys, options.WriteKey)
	if err != nil {
		return nil, err
	}
	if !options.Require.IsZero() && keys.write == nil {
		return nil, errors.New("encrypted payloads are required, and there is no key for writing")
	}
	return newConverters(options, keys), nil
}

// Clear returns converters that compress and do not encrypt.
func Clear() *Converters { return newConverters(Options{}, keyring{}) }

func newConverters(options Options, keys keyring) *Converters {
	ownBase := options.Base != nil
	embedded := ownBase || len(options.Codecs) > 0
	if options.Base == nil {
		options.Base = converter.GetDefaultDataConverter()
	}
	chain := newChain(keys)
	c := &Converters{Codec: around(chain, options.Codecs), keys: keys, codecs: options.Codecs, require: options.Require}
	data := newData(options.Base, c.Codec, embedded)
	data.clear = newData(options.Base, newCodec(), ownBase)
	if data.since = c.require; !c.require.IsZero() {
		data.sealed = newData(options.Base, around(chain.sealed(c.require), options.Codecs), embedded)
	}
	c.Data = data
	of := func(data converter.DataConverter) converter.FailureConverter {
		if options.BaseFailure != nil {
			return options.BaseFailure
		}
		return temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{DataConverter: data, EncodeCommonAttributes: keys.write != nil})
	}
	c.Failure = &failures{
		FailureConverter: of(c.Data), of: of, data: c.Data,
		clear: temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{DataConverter: data.clear}),
	}
	return c
}

// Apply sets the converters of a client, and lets no memo leave in clear.
func (c *Converters) Apply(options *client.Options) {
	options.DataConverter, options.FailureConverter = c.Data, c.Failure
	c.withSealedMemos(options)
}

// ApplyForWorker sets the converters of the client with which a worker polls. A failure
// with an unknown key fails the workflow task there: a text in its place would differ from
// the text that another worker with the key reads in a replay.
func (c *Converters) ApplyForWorker(options *client.Options) {
	options.DataConverter = c.Data
	blocking := *c.Failure.(*failures) //nolint:forcetypeassert // newConverters sets it
	blocking.block = true
	options.FailureConverter = &blocking
}

// DataConverter returns the data converter without keys.
func DataConverter() converter.DataConverter { return Clear().Data }
