package payload_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/armature-io/armature/internal/payload"
)

type body struct {
	Name string            `json:"name"`
	Tags map[string]string `json:"tags"`
}

func TestDataConverterRoundTrip(t *testing.T) {
	cases := map[string]struct {
		reason   string
		value    body
		encoding string
	}{
		"small value": {
			reason:   "decisions are readable in the Web UI without a codec server",
			value:    body{Name: "v1"},
			encoding: converter.MetadataEncodingJSON,
		},
		"large value": {
			reason:   "bodies are compressed to keep histories small",
			value:    body{Name: "v1", Tags: map[string]string{"note": strings.Repeat("long ", 1000)}},
			encoding: payload.Encoding,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			encoded, err := payload.DataConverter().ToPayload(tc.value)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(encoded.Metadata[converter.MetadataEncoding]); got != tc.encoding {
				t.Errorf("encoding = %q, want %q: %s", got, tc.encoding, tc.reason)
			}
			var got body
			if err := payload.DataConverter().FromPayload(encoded, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.value, got); diff != "" {
				t.Errorf("round trip changed the value (-want +got): %s\n%s", tc.reason, diff)
			}
		})
	}
}

func TestCodecRoundTrip(t *testing.T) {
	cases := map[string]struct {
		reason     string
		payload    *commonpb.Payload
		compressed bool
	}{
		"no data": {
			reason:  "a nil result has no data",
			payload: &commonpb.Payload{Metadata: metadata("binary/null")},
		},
		"at the threshold": {
			reason:  "2048 bytes are not over the threshold",
			payload: &commonpb.Payload{Metadata: metadata("json/plain"), Data: bytes.Repeat([]byte("a"), 2048)},
		},
		"one byte over the threshold": {
			reason:     "2049 bytes are over the threshold",
			payload:    &commonpb.Payload{Metadata: metadata("json/plain"), Data: bytes.Repeat([]byte("a"), 2049)},
			compressed: true,
		},
		"noise": {
			reason:  "a payload that compression makes larger stays unchanged",
			payload: &commonpb.Payload{Metadata: metadata("binary/plain"), Data: noise(8192)},
		},
		"more metadata": {
			reason: "decoding restores all metadata, not only the encoding",
			payload: &commonpb.Payload{
				Metadata: map[string][]byte{"encoding": []byte("json/protobuf"), "messageType": []byte("x.Y"), "z": nil},
				Data:     bytes.Repeat([]byte("b"), 5000),
			},
			compressed: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			original := proto.CloneOf(tc.payload)
			encoded, err := payload.Codec().Encode([]*commonpb.Payload{tc.payload})
			if err != nil {
				t.Fatal(err)
			}
			compressed := string(encoded[0].Metadata[converter.MetadataEncoding]) == payload.Encoding
			if compressed != tc.compressed {
				t.Errorf("compressed = %t, want %t: %s", compressed, tc.compressed, tc.reason)
			}
			if compressed && len(encoded[0].Data) >= len(tc.payload.Data) {
				t.Errorf("compressed size is %d bytes, original size is %d", len(encoded[0].Data), len(tc.payload.Data))
			}
			decoded, err := payload.Codec().Decode(encoded)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(original, decoded[0], protocmp.Transform()); diff != "" {
				t.Errorf("round trip changed the payload (-want +got): %s\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(original, tc.payload, protocmp.Transform()); diff != "" {
				t.Errorf("the codec mutated its argument (-want +got):\n%s", diff)
			}
		})
	}
}

// TestEncodingIsDeterministic checks that a payload always has the same encoding,
// whatever the codec encoded before and however many goroutines use it. Otherwise a
// history that is recorded again would differ.
func TestEncodingIsDeterministic(t *testing.T) {
	original := &commonpb.Payload{
		Metadata: map[string][]byte{"encoding": []byte("json/plain"), "a": []byte("1"), "b": []byte("2"), "c": []byte("3")},
		Data:     []byte(strings.Repeat(`{"name":"db1","kind":"ReadWrite"},`, 500)),
	}
	want := encodeOne(t, payload.Codec(), original)
	used := payload.Codec()
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for j := range 50 {
				other := &commonpb.Payload{
					Metadata: metadata("json/plain"),
					Data:     []byte(strings.Repeat(fmt.Sprintf(`{"worker":%d,"round":%d},`, i, j), 300)),
				}
				encodeOne(t, used, other)
				if got := encodeOne(t, used, original); !bytes.Equal(want, got) {
					t.Errorf("worker %d, round %d: the same payload has another encoding", i, j)
				}
			}
		})
	}
	group.Wait()
}

func TestDecodeInvalid(t *testing.T) {
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	bomb, err := proto.Marshal(&commonpb.Payload{Metadata: metadata("json/plain"), Data: make([]byte, payload.MaxSize)})
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		data   []byte
	}{
		"decompression bomb": {
			reason: "a few KB must not fill the memory of a worker or codec server",
			data:   encoder.EncodeAll(bomb, nil),
		},
		"not zstd": {
			reason: "data that is not zstd is an error despite the encoding name",
			data:   []byte("not compressed at all"),
		},
		"not a payload": {
			reason: "decompressed data must be a payload",
			data:   encoder.EncodeAll([]byte("\xff\xff\xff"), nil),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := &commonpb.Payload{Metadata: metadata(payload.Encoding), Data: tc.data}
			if _, err := payload.Codec().Decode([]*commonpb.Payload{in}); err == nil {
				t.Errorf("Decode returned no error: %s", tc.reason)
			}
		})
	}
}

func TestEncodeOversized(t *testing.T) {
	in := &commonpb.Payload{Metadata: metadata("json/plain"), Data: make([]byte, payload.MaxSize)}
	if _, err := payload.Codec().Encode([]*commonpb.Payload{in}); err == nil {
		t.Error("Encode returned no error for a payload that Decode refuses")
	}
}

func TestDecodeForeignPayload(t *testing.T) {
	foreign := &commonpb.Payload{Metadata: metadata("binary/encrypted"), Data: noise(4096)}
	got, err := payload.Codec().Decode([]*commonpb.Payload{foreign})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(foreign, got[0], protocmp.Transform()); diff != "" {
		t.Errorf("Decode changed a payload of another codec (-want +got):\n%s", diff)
	}
}

func encodeOne(t *testing.T, codec converter.PayloadCodec, p *commonpb.Payload) []byte {
	t.Helper()
	encoded, err := codec.Encode([]*commonpb.Payload{p})
	if err != nil {
		t.Error(err)
		return nil
	}
	return encoded[0].Data
}

func metadata(encoding string) map[string][]byte {
	return map[string][]byte{converter.MetadataEncoding: []byte(encoding)}
}

// noise returns n incompressible bytes, the same on every run.
func noise(n int) []byte {
	var out []byte
	for i := uint64(0); len(out) < n; i++ {
		sum := sha256.Sum256(binary.BigEndian.AppendUint64(nil, i))
		out = append(out, sum[:]...)
	}
	return out[:n]
}
