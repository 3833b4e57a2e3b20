package payload

import (
	"context"
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
)

// outer is the chain with the codecs of an embedder around it.
type outer struct {
	chain  converter.PayloadCodec
	codecs []converter.PayloadCodec
}

// around returns a codec with the codecs of an embedder around it.
func around(chain converter.PayloadCodec, codecs []converter.PayloadCodec) converter.PayloadCodec {
	if len(codecs) == 0 {
		return chain
	}
	return &outer{chain, codecs}
}

// embeddedError is an error of a codec of an embedder. Its keys or its server may be out of
// reach for a while, which must not end workflows.
type embeddedError struct{ error }

func (e *embeddedError) Unwrap() error { return e.error }

// WithSerializationContext passes the context to every codec that uses it.
func (o *outer) WithSerializationContext(ctx converter.SerializationContext) converter.PayloadCodec {
	at := &outer{chain: withContext(o.chain, ctx)}
	for _, codec := range o.codecs {
		at.codecs = append(at.codecs, withContext(codec, ctx))
	}
	return at
}

func withContext(codec converter.PayloadCodec, ctx converter.SerializationContext) converter.PayloadCodec {
	if uses, ok := codec.(converter.PayloadCodecWithSerializationContext); ok {
		return uses.WithSerializationContext(ctx)
	}
	return codec
}

// Encode compresses and encrypts, then encodes with the first to the last codec.
func (o *outer) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	payloads, err := o.chain.Encode(payloads)
	for i := 0; err == nil && i < len(o.codecs); i++ {
		if payloads, err = o.codecs[i].Encode(payloads); err != nil {
			err = &embeddedError{fmt.Errorf("encode payload by codec %d: %w", i+1, err)}
		}
	}
	return payloads, err
}

// Decode decodes with the last to the first codec, then decrypts and decompresses.
func (o *outer) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	for i := len(o.codecs) - 1; i >= 0; i-- {
		var err error
		if payloads, err = o.codecs[i].Decode(payloads); err != nil {
			return nil, &embeddedError{fmt.Errorf("decode payload by codec %d: %w", i+1, err)}
		}
	}
	return o.chain.Decode(payloads)
}

// Configure asks plugins to configure the options of a client, once: the SDK would ask again
// for each client of a process, and after the converters were set. What they set as
// converters becomes the base of base, for New and Apply; what surrounds connections and
// workers stays with the SDK.
func Configure(ctx context.Context, options *client.Options, plugins []client.Plugin, base *Options) error {
	plugins = append(options.Plugins, plugins...)
	options.Plugins = nil
	options.DataConverter, options.FailureConverter = base.Base, base.BaseFailure
	configured := make([]client.Plugin, 0, len(plugins))
	for _, plugin := range plugins {
		if err := plugin.ConfigureClient(ctx, client.PluginConfigureClientOptions{ClientOptions: options}); err != nil {
			return fmt.Errorf("configure the client of Temporal by the plugin %s: %w", plugin.Name(), err)
		}
		configured = append(configured, asConfigured(plugin))
	}
	options.Plugins = configured
	base.Base, base.BaseFailure = options.DataConverter, options.FailureConverter
	return nil
}
