package payload

import (
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
)

const (
	// Encoding is the value of the payload metadata key "encoding" of a payload
	// that the codec compressed. Histories contain it: never change it.
	Encoding = "binary/zstd"

	// Threshold is the size of payload data, in bytes, up to which a payload is
	// not compressed.
	Threshold = 2048

	// MaxSize is the largest payload, in bytes before compression, that the
	// codec writes or reads. Temporal accepts 2 MB of compressed data, which a
	// hostile payload could expand to gigabytes; an ARM response has 8 MB at most.
	MaxSize = 16 << 20
)

// codec is safe for concurrent use: EncodeAll and DecodeAll of zstd are.
type codec struct {
	encoder *zstd.Encoder
	decoder *zstd.Decoder
	err     error
}

// Codec returns the compression alone, without keys. It is deterministic: the same payload
// always becomes the same bytes.
func Codec() converter.PayloadCodec { return newCodec() }

func newCodec() *codec {
	encoder, encoderErr := zstd.NewWriter(nil, zstd.WithLowerEncoderMem(true))
	decoder, decoderErr := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(MaxSize))
	return &codec{encoder: encoder, decoder: decoder, err: errors.Join(encoderErr, decoderErr)}
}

// Encode compresses the payloads with more than [Threshold] bytes of data that
// become smaller. A payload over [MaxSize] is an error.
func (c *codec) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	return c.each(payloads, c.encode)
}

// Decode restores the payloads that Encode compressed and returns others unchanged.
// A payload that is larger than [MaxSize] when decompressed is an error.
func (c *codec) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	return c.each(payloads, c.decode)
}

func (c *codec) each(
	payloads []*commonpb.Payload,
	convert func(*commonpb.Payload) (*commonpb.Payload, error),
) ([]*commonpb.Payload, error) {
	if c.err != nil {
		return nil, fmt.Errorf("prepare payload compression: %w", c.err)
	}
	result := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		converted, err := convert(p)
		if err != nil {
			return nil, err
		}
		result[i] = converted
	}
	return result, nil
}

func (c *codec) encode(p *commonpb.Payload) (*commonpb.Payload, error) {
	if len(p.GetData()) <= Threshold {
		return p, nil
	}
	// The data is the whole payload with its metadata, so that decoding restores the
	// original encoding. Deterministic sorts the metadata map.
	plain, err := proto.MarshalOptions{Deterministic: true}.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("marshal payload: %w", err)
	}
	if len(plain) > MaxSize {
		return nil, fmt.Errorf("compress payload: %d bytes are over the limit of %d", len(plain), MaxSize)
	}
	data := c.encoder.EncodeAll(plain, nil)
	if len(data) >= len(plain) {
		return p, nil
	}
	return &commonpb.Payload{
		Metadata: map[string][]byte{converter.MetadataEncoding: []byte(Encoding)},
		Data:     data,
	}, nil
}

func (c *codec) decode(p *commonpb.Payload) (*commonpb.Payload, error) {
	if string(p.GetMetadata()[converter.MetadataEncoding]) != Encoding {
		return p, nil
	}
	plain, err := c.decoder.DecodeAll(p.GetData(), nil)
	if err != nil {
		return nil, fmt.Errorf("decompress payload of %d bytes (at most %d decompressed): %w",
			len(p.GetData()), MaxSize, err)
	}
	return unmarshal(plain)
}
