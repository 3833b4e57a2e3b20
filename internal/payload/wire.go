package payload

import (
	"fmt"
	"unicode/utf8"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// Numbers of the fields of a payload, and of an entry of its metadata
// (temporal/api/common/v1/message.proto).
const (
	fieldMetadata, fieldData = 1, 2
	fieldKey, fieldValue     = 1, 2
)

// unmarshal decodes a payload, whose bytes it keeps. Most payloads are small, and a list has
// tens of thousands: with the decryption it allocates 4 times, and 11 times with
// proto.Unmarshal, which decodes what it does not know.
func unmarshal(plain []byte) (*commonpb.Payload, error) {
	if p, ok := unmarshalPlain(plain); ok {
		return p, nil
	}
	p := &commonpb.Payload{}
	if err := proto.Unmarshal(plain, p); err != nil {
		return nil, fmt.Errorf("unmarshal payload: %w", err)
	}
	return p, nil
}

// unmarshalPlain decodes a payload with metadata and data; false for one with more.
func unmarshalPlain(b []byte) (*commonpb.Payload, bool) {
	p := &commonpb.Payload{}
	for len(b) > 0 {
		number, value, rest := next(b)
		switch number {
		case fieldMetadata:
			if !addMetadata(p, value) {
				return nil, false
			}
		case fieldData:
			p.Data = value
		default:
			return nil, false
		}
		b = rest
	}
	return p, true
}

// addMetadata adds an entry of the metadata; false for one of another form.
func addMetadata(p *commonpb.Payload, b []byte) bool {
	var key, value []byte
	for len(b) > 0 {
		number, field, rest := next(b)
		switch number {
		case fieldKey:
			key = field
		case fieldValue:
			value = field
		default:
			return false
		}
		b = rest
	}
	if p.Metadata == nil {
		p.Metadata = make(map[string][]byte, 1)
	}
	name := converter.MetadataEncoding
	if string(key) != name { // the comparison copies nothing
		if name = string(key); !utf8.ValidString(name) {
			return false
		}
	}
	p.Metadata[name] = value
	return true
}

// next returns the first field of a message, with its value, and what follows it; number 0
// for anything but bytes.
func next(b []byte) (number protowire.Number, value, rest []byte) {
	number, kind, n := protowire.ConsumeTag(b)
	if n < 0 || kind != protowire.BytesType {
		return 0, nil, nil
	}
	value, m := protowire.ConsumeBytes(b[n:])
	if m < 0 {
		return 0, nil, nil
	}
	return number, value[:len(value):len(value)], b[n+m:]
}
