package lookup

import (
	"maps"
	"slices"
	"sync"

	"github.com/armature-io/armature/drift"
)

// Bounds of the cached bodies, in bytes of text and in number.
const (
	maxBodiesBytes = 512 << 10
	maxBodies      = 200
)

// Bodies caches decoded bodies by their text: the steps of a pass get the same text
// through the workflow, moments apart and mostly on the same worker. The bodies are
// shared, so no caller may change them, and are masked like the history they come
// from. The zero value is an empty cache.
type Bodies struct {
	mu     sync.Mutex
	bodies map[string]map[string]any
	// texts are the keys of bodies, oldest first.
	texts []string
	bytes int
}

// Decode is drift.Decode through the cache.
func (b *Bodies) Decode(what string, text []byte) (map[string]any, error) {
	if body := b.get(text); body != nil {
		return body, nil
	}
	body, err := drift.Decode(what, text)
	if body != nil {
		b.Put(text, body)
	}
	return body, err
}

func (b *Bodies) get(text []byte) map[string]any {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bodies[string(text)]
}

// Put caches the body of a text in place of the oldest ones. A text beyond the
// bound is not cached.
func (b *Bodies) Put(text []byte, body map[string]any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, known := b.bodies[string(text)]; known || len(text) > maxBodiesBytes {
		return
	}
	for b.bytes+len(text) > maxBodiesBytes || len(b.texts) == maxBodies {
		b.drop(b.texts[0])
	}
	if b.bodies == nil {
		b.bodies = map[string]map[string]any{}
	}
	key := string(text)
	b.bodies[key], b.texts, b.bytes = body, append(b.texts, key), b.bytes+len(key)
}

// Drop removes texts that no further step of their pass needs.
func (b *Bodies) Drop(texts ...[]byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, text := range texts {
		b.drop(string(text))
	}
}

// All returns the cached texts and bodies. Tests use it to check that no step
// changes a shared body.
func (b *Bodies) All() map[string]map[string]any {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.bodies)
}

func (b *Bodies) drop(text string) {
	if _, known := b.bodies[text]; !known {
		return
	}
	delete(b.bodies, text)
	b.texts = slices.DeleteFunc(b.texts, func(other string) bool { return other == text })
	b.bytes -= len(text)
}
