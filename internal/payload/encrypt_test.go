package payload_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/armature-io/armature/internal/payload"
)

// key returns a key whose bytes follow from its ID and a number.
func key(id string, number byte) payload.Key {
	return payload.Key{ID: id, Secret: bytes.Repeat([]byte{number}, payload.KeySize)}
}

// converters returns the converters of the keys, the first of which writes.
func converters(t *testing.T, keys ...payload.Key) *payload.Converters {
	t.Helper()
	write := ""
	if len(keys) > 0 {
		write = keys[0].ID
	}
	c, err := payload.New(payload.Options{Keys: keys, WriteKey: write})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestEncryptedRoundTrip(t *testing.T) {
	cases := map[string]struct {
		reason string
		in     *commonpb.Payload
	}{
		"small":          {"a small payload is encrypted although it is not compressed", &commonpb.Payload{Metadata: metadata("json/plain"), Data: []byte(`"planted"`)}},
		"large":          {"a large payload is compressed first", &commonpb.Payload{Metadata: metadata("json/plain"), Data: []byte(`"` + strings.Repeat("planted ", 4000) + `"`)}},
		"incompressible": {"noise is encrypted as it is", &commonpb.Payload{Metadata: metadata("binary/plain"), Data: append([]byte("planted"), noise(8192)...)}},
		"nil":            {"a payload without data keeps its metadata", &commonpb.Payload{Metadata: metadata("binary/null")}},
	}
	codec := converters(t, key("2026-11", 1)).Codec
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			encoded, err := codec.Encode([]*commonpb.Payload{tc.in})
			if err != nil {
				t.Fatal(err)
			}
			if got := payload.KeyID(encoded[0]); got != "2026-11" {
				t.Errorf("the key ID is %q: %s", got, tc.reason)
			}
			if bytes.Contains(encoded[0].GetData(), []byte("planted")) || bytes.Contains(encoded[0].GetData(), []byte("json/plain")) {
				t.Errorf("the encoded payload has plain text: %s", tc.reason)
			}
			if name == "large" && len(encoded[0].GetData()) > len(tc.in.GetData())/10 {
				t.Errorf("%d bytes became %d: %s", len(tc.in.GetData()), len(encoded[0].GetData()), tc.reason)
			}
			decoded, err := codec.Decode(encoded)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.in, decoded[0], protocmp.Transform()); diff != "" {
				t.Errorf("not restored: %s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestUpgrade follows a payload of each stage: clear, encrypted, rotated, off again.
func TestUpgrade(t *testing.T) {
	read := func(keys ...payload.Key) *payload.Converters {
		c, err := payload.New(payload.Options{Keys: keys})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	first, second := key("first", 1), key("second", 2)
	stages := []struct {
		name string
		c    *payload.Converters
	}{
		{"clear", payload.Clear()}, {"keys for reading only", read(first)}, {"on", converters(t, first)},
		{"both keys", converters(t, first, second)}, {"rotated", converters(t, second, first)}, {"off", read(first, second)},
	}
	written := map[string]*commonpb.Payload{}
	for _, s := range stages {
		for _, value := range []string{"small", strings.Repeat("large ", 2000)} {
			p, err := s.c.Data.ToPayload(value)
			if err != nil {
				t.Fatal(err)
			}
			if encrypted := payload.KeyID(p) != ""; encrypted != s.c.Encrypts() {
				t.Errorf("stage %s: encrypted %t", s.name, encrypted)
			}
			written[s.name+" "+value[:5]] = p
		}
	}
	last := stages[len(stages)-1]
	for name, p := range written {
		var got string
		if err := last.c.Data.FromPayload(p, &got); err != nil || !strings.HasPrefix(got, name[len(name)-5:]) {
			t.Errorf("%s is not readable at the end: %q, %v", name, got, err)
		}
	}
}

func TestMissingKey(t *testing.T) {
	encrypted, err := converters(t, key("2026-11", 1)).Data.ToPayloads("planted")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]*payload.Converters{"no keys": payload.Clear(), "another key": converters(t, key("old", 2))} {
		var got string
		err := c.Data.FromPayloads(encrypted, &got)
		if missing, ok := errors.AsType[*payload.MissingKeyError](err); !ok || missing.KeyID != "2026-11" || !strings.Contains(err.Error(), "ARMATURE_ENCRYPTION_KEYS") {
			t.Errorf("%s: want the missing key and the remedy, got %v", name, err)
		}
	}
	var got string
	err = converters(t, key("2026-11", 9)).Data.FromPayloads(encrypted, &got)
	if err == nil || !strings.Contains(err.Error(), "another key has the same ID") {
		t.Errorf("another key of the same ID: got %v", err)
	}
}

// TestAltered checks that what authenticates a payload is all of it.
func TestAltered(t *testing.T) {
	both := converters(t, key("a", 1), key("b", 1)) // the same bytes, to show that the ID is bound
	codec := both.Codec
	encoded, err := codec.Encode([]*commonpb.Payload{{Metadata: metadata("json/plain"), Data: []byte(`"x"`)}})
	if err != nil {
		t.Fatal(err)
	}
	p := encoded[0]
	for name, alter := range map[string]func(){
		"the data":   func() { p.Data[len(p.Data)-1] ^= 1 },
		"the key ID": func() { p.Metadata[payload.MetadataKeyID] = []byte("b") },
		"all data":   func() { p.Data = nil },
	} {
		before, id := bytes.Clone(p.Data), p.Metadata[payload.MetadataKeyID]
		if alter(); name == "all data" {
			p.Data = []byte("short")
		}
		if _, err := codec.Decode(encoded); err == nil {
			t.Errorf("%s was altered, and Decode returned no error", name)
		}
		p.Data, p.Metadata[payload.MetadataKeyID] = before, id
	}
	if _, err := codec.Decode(encoded); err != nil {
		t.Errorf("the unaltered payload: %v", err)
	}
}

func TestKeys(t *testing.T) {
	cases := map[string]struct {
		keys  []payload.Key
		write string
		want  string
	}{
		"short key":         {[]payload.Key{{ID: "a", Secret: []byte("secret-of-user")}}, "a", "has 14 bytes"},
		"same ID twice":     {[]payload.Key{key("a", 1), key("a", 2)}, "a", "two keys have the ID a"},
		"unknown write key": {[]payload.Key{key("a", 1)}, "b", "is not one of the keys (a)"},
		"no key to write":   {nil, "b", "is not one of the keys (none)"},
		"ID with a space":   {[]payload.Key{key("a b", 1)}, "", "invalid key ID"},
	}
	for name, tc := range cases {
		_, err := payload.New(payload.Options{Keys: tc.keys, WriteKey: tc.write})
		if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "secret-of-user") {
			t.Errorf("%s: want %q, got %v", name, tc.want, err)
		}
	}
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		if text := fmt.Sprintf(format, payload.Key{ID: "a", Secret: []byte("secret-of-user")}); strings.Contains(text, "secret-of-user") || strings.Contains(text, "115") {
			t.Errorf("%s shows the secret: %s", format, text)
		}
	}
}

// TestStatus checks that two sides find out that they disagree, and cannot find the key.
func TestStatus(t *testing.T) {
	one, same, other := converters(t, key("a", 1)).Status(), converters(t, key("a", 1)).Status(), converters(t, key("a", 2)).Status()
	if diff := cmp.Diff(one, same); diff != "" {
		t.Errorf("the same key has two check values:\n%s", diff)
	}
	if one.Keys["a"] == other.Keys["a"] || len(one.Keys["a"]) != 16 {
		t.Errorf("check values %s and %s", one.Keys["a"], other.Keys["a"])
	}
	if one.WriteKey != "a" {
		t.Errorf("the key for writing is %q", one.WriteKey)
	}
}

func TestFailures(t *testing.T) {
	with := converters(t, key("2026-11", 1))
	cause := temporal.NewApplicationError("planted in the cause", "Kind", "planted in the details")
	failure := with.Failure.ErrorToFailure(temporal.NewApplicationErrorWithCause("planted", "Outer", cause))
	if text := failure.String(); strings.Contains(text, "planted") {
		t.Errorf("the failure has plain text: %s", text)
	}
	if err := with.Failure.FailureToError(failure); !strings.Contains(err.Error(), "planted") || !strings.Contains(errors.Unwrap(err).Error(), "planted in the cause") {
		t.Errorf("with the key the failure reads %v", err)
	}
	again := with.Failure.ErrorToFailure(temporal.NewApplicationErrorWithCause("planted", "Outer", cause))
	if err := payload.Clear().Failure.FailureToError(again); !strings.Contains(err.Error(), "encrypted with the key 2026-11") || strings.Contains(err.Error(), "Encoded failure") {
		t.Errorf("without the key the failure reads %v", err)
	}
	if clear := payload.Clear().Failure.ErrorToFailure(cause); clear.GetMessage() != "planted in the cause" || clear.GetEncodedAttributes() != nil {
		t.Errorf("without a key for writing the failure is %v", clear)
	}
}

func BenchmarkConvert(b *testing.B) {
	values := map[string]string{"300 B": strings.Repeat("abc,", 75), "5 KB": strings.Repeat(string(noise(50)), 100)}
	withKey, err := payload.New(payload.Options{Keys: []payload.Key{key("a", 1)}, WriteKey: "a"})
	if err != nil {
		b.Fatal(err)
	}
	for size, value := range values {
		for form, data := range map[string]converter.DataConverter{"clear": payload.DataConverter(), "encrypted": withKey.Data} {
			b.Run(form+" "+size, func(b *testing.B) {
				for b.Loop() {
					var got string
					p, err := data.ToPayload(value)
					if err == nil {
						err = data.FromPayload(p, &got)
					}
					if err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func TestClearParts(t *testing.T) {
	if got := payload.Clear().ClearParts(); !strings.Contains(got, "specs") {
		t.Errorf("without keys: %s", got)
	}
	if got := converters(t, key("a", 1)).ClearParts(); strings.Contains(got, "specs") {
		t.Errorf("with a key: %s", got)
	}
}
