package activities

import (
	"bytes"
	"slices"
	"sync"

	"github.com/armature-io/armature/drift"
)

// The bounds of what is kept: so many bytes of texts, and so many bodies.
const (
	bodiesMost  = 512 << 10
	bodiesCount = 200
)

// bodies are decoded bodies by their text: those of a pass are wanted by each of
// its steps, moments later and mostly on the same worker. They are shared, so
// nobody writes to them, and hold what history holds: no secret.
type bodies struct {
	mu    sync.Mutex
	kept  []decodedBody // the oldest first
	bytes int
}

type decodedBody struct {
	text []byte
	body map[string]any
}

// decode is drift.Decode, once for all who want the same text.
func (b *bodies) decode(what string, text []byte) (map[string]any, error) {
	if body := b.known(text); body != nil {
		return body, nil
	}
	body, err := drift.Decode(what, text)
	if body != nil {
		b.keep(text, body)
	}
	return body, err
}

// known is the body of a text, nil where it is not kept.
func (b *bodies) known(text []byte) map[string]any {
	b.mu.Lock()
	defer b.mu.Unlock()
	if at := b.find(text); at >= 0 {
		return b.kept[at].body
	}
	return nil
}

// keep makes room by forgetting the oldest; what is larger than all room is not
// kept.
func (b *bodies) keep(text []byte, body map[string]any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(text) > bodiesMost || b.find(text) >= 0 {
		return
	}
	for b.bytes+len(text) > bodiesMost || len(b.kept) == bodiesCount {
		b.remove(0)
	}
	b.kept = append(b.kept, decodedBody{text, body})
	b.bytes += len(text)
}

// forget is for texts that no further step of their pass wants.
func (b *bodies) forget(texts ...[]byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, text := range texts {
		if at := b.find(text); at >= 0 {
			b.remove(at)
		}
	}
}

func (b *bodies) find(text []byte) int {
	return slices.IndexFunc(b.kept, func(kept decodedBody) bool { return bytes.Equal(kept.text, text) })
}

func (b *bodies) remove(at int) {
	b.bytes -= len(b.kept[at].text)
	b.kept = slices.Delete(b.kept, at, at+1)
}
