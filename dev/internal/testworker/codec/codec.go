// Package codec is the payload codec of an embedder: it turns data around, so that nothing
// without it reads a payload.
package codec

import (
	"fmt"
	"slices"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
)

const (
	// Variable is the environment variable that switches the codec on.
	Variable = "TESTWORKER_CODEC"
	// Encoding is the encoding of its payloads.
	Encoding = "test/reversed"
)

// Reversing is the codec.
type Reversing struct{}

// Encode turns payloads around.
func (Reversing) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	result := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		data, err := proto.Marshal(p)
		if err != nil {
			return nil, fmt.Errorf("marshal payload: %w", err)
		}
		slices.Reverse(data)
		result[i] = &commonpb.Payload{Metadata: map[string][]byte{converter.MetadataEncoding: []byte(Encoding)}, Data: data}
	}
	return result, nil
}

// Decode turns back what Encode turned around.
func (Reversing) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	result := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		if result[i] = p; string(p.GetMetadata()[converter.MetadataEncoding]) != Encoding {
			continue
		}
		data := slices.Clone(p.GetData())
		slices.Reverse(data)
		result[i] = &commonpb.Payload{}
		if err := proto.Unmarshal(data, result[i]); err != nil {
			return nil, fmt.Errorf("unmarshal payload: %w", err)
		}
	}
	return result, nil
}
