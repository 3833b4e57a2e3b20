package lookup

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"
)

func TestBodiesAreBounded(t *testing.T) {
	t.Parallel()
	var b Bodies
	text := func(i, size int) []byte {
		return fmt.Appendf(nil, `{"a":"%d%s"}`, i, bytes.Repeat([]byte("x"), size))
	}
	const size = maxBodiesBytes / 4
	for i := range 8 {
		if _, err := b.Decode("desired", text(i, size)); err != nil {
			t.Fatal(err)
		}
	}
	if len(b.bodies) != 3 || b.bytes > maxBodiesBytes || b.get(text(7, size)) == nil || b.get(text(4, size)) != nil {
		t.Errorf("%d bodies of %d bytes are cached, want the last three", len(b.bodies), b.bytes)
	}
	large, err := b.Decode("desired", text(0, 2*maxBodiesBytes))
	if err != nil || large == nil || len(b.bodies) != 3 {
		t.Errorf("a body beyond the bound is cached, or evicted others: %d, %v", len(b.bodies), err)
	}
	if _, err := b.Decode("desired", []byte(`{"a":1,"a":2}`)); err == nil || len(b.bodies) != 3 {
		t.Errorf("a text that cannot be decoded is cached: %v", err)
	}
	second, _ := b.Decode("observed", text(7, size))
	if first := b.get(text(7, size)); reflect.ValueOf(second).Pointer() != reflect.ValueOf(first).Pointer() {
		t.Error("a cached text was decoded again")
	}
	b.Drop(text(7, size), text(6, size), text(5, size), nil)
	if len(b.bodies) != 0 || len(b.texts) != 0 || b.bytes != 0 {
		t.Errorf("%d bodies of %d bytes remain, want none", len(b.bodies), b.bytes)
	}
	for i := range maxBodies + 3 {
		if _, err := b.Decode("desired", text(i, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if len(b.bodies) != maxBodies || b.get(text(3, 1)) == nil || b.get(text(2, 1)) != nil {
		t.Errorf("%d small bodies are cached, want the last %d", len(b.bodies), maxBodies)
	}
}
