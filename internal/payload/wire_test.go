package payload

import (
	"bytes"
	"slices"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	"google.golang.org/protobuf/proto"
)

// TestUnmarshal compares unmarshal with proto.Unmarshal: for payloads of every form, for each
// beginning of their bytes, and with each byte replaced.
func TestUnmarshal(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		p      *commonpb.Payload
		plain  bool
	}{
		"empty":     {"a nil value of a converter", &commonpb.Payload{}, true},
		"json":      {"the usual one", &commonpb.Payload{Metadata: map[string][]byte{"encoding": []byte("json/plain")}, Data: []byte(`{"a":1}`)}, true},
		"two words": {"an encrypted payload of an embedder", &commonpb.Payload{Metadata: map[string][]byte{"encoding": []byte("x"), "ü": nil}, Data: []byte{0, 255}}, true},
		"long":      {"lengths have two bytes", &commonpb.Payload{Metadata: map[string][]byte{"encoding": []byte("binary/plain")}, Data: bytes.Repeat([]byte("a"), 300)}, true},
		"external": {"what it does not know is left to proto", &commonpb.Payload{
			Data: []byte("a"), ExternalPayloads: []*commonpb.Payload_ExternalPayloadDetails{{SizeBytes: 7}},
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			whole, err := proto.MarshalOptions{Deterministic: true}.Marshal(c.p)
			if err != nil {
				t.Fatal(err)
			}
			if _, plain := unmarshalPlain(whole); plain != c.plain {
				t.Errorf("decoded by itself: %v, want %v: %s", plain, c.plain, c.reason)
			}
			compare(t, whole)
			for i := range whole {
				compare(t, whole[:i])
				for _, other := range []byte{0, 1, 10, 18, 26, 127, 128, 255} {
					changed := slices.Clone(whole)
					changed[i] = other
					compare(t, changed)
				}
			}
		})
	}
}

// compare checks that both decoders return the same, or both an error.
func compare(t *testing.T, b []byte) {
	t.Helper()
	want := &commonpb.Payload{}
	wantErr := proto.Unmarshal(b, want)
	got, err := unmarshal(slices.Clone(b))
	if (err != nil) != (wantErr != nil) || err == nil && !proto.Equal(got, want) {
		t.Errorf("unmarshal of %q returns %v, %v, want %v, %v", b, got, err, want, wantErr)
	}
}
