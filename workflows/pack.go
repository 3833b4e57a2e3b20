package workflows

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
	"go.temporal.io/sdk/workflow"
)

// packed is the state of a sleeper, compressed: a worker keeps thousands of them
// in memory, each for an hour or so. A packed state is never empty.
type packed struct {
	// bytes are the state without body and memory as JSON, the body, and the memory.
	bytes []byte
	// state and body are the lengths of the first two.
	state, body int
}

// pack compresses the state of a run that falls asleep, and reports whether it
// did: not one that is replayed, which goes on at once, nor one without a spec.
func (r *reconciler) pack(ctx workflow.Context) bool {
	if r.state == nil || r.state.Desired == nil || workflow.IsReplaying(ctx) {
		return false
	}
	next, err := r.packer.pack(r.state)
	if err != nil {
		return false // it stays as it is; the next continue-as-new tells
	}
	r.packed, r.state = next, nil
	return true
}

// unpack is for whoever may change the state; the sleep packs it again.
func (r *reconciler) unpack() {
	state, err := r.look()
	if err != nil {
		// An error would end the run. This fails the workflow task, and the next
		// one replays the history.
		panic(err) //nolint:forbidigo // what a worker holds in memory is broken, the history is not
	}
	r.state, r.packed = state, packed{}
}

// look is the state for whoever only reads it, a copy while it is packed.
func (r *reconciler) look() (*State, error) {
	if r.state != nil {
		return r.state, nil
	}
	return r.packer.unpack(r.packed)
}

// packer packs for all runs of a worker.
type packer struct {
	encoder *zstd.Encoder
	decoder *zstd.Decoder
	err     error
	// room is what was used by those that were packed before.
	room sync.Pool
}

// packing is the room that it takes to pack.
type packing struct{ plain, packed []byte }

func newPacker() *packer {
	encoder, encoderErr := zstd.NewWriter(nil, zstd.WithLowerEncoderMem(true), zstd.WithEncoderConcurrency(1))
	decoder, decoderErr := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0))
	return &packer{encoder: encoder, decoder: decoder, err: errors.Join(encoderErr, decoderErr)}
}

// pack leaves the state as it is. What is unpacked is what a continue-as-new would
// make of it.
func (c *packer) pack(from *State) (packed, error) {
	if c.err != nil {
		return packed{}, c.err
	}
	state, desired := *from, *from.Desired
	state.Desired, state.Memory, desired.Body = &desired, nil, nil
	plain, err := json.Marshal(state)
	if err != nil {
		return packed{}, fmt.Errorf("pack the state of a sleeper: %w", err)
	}
	p := packed{state: len(plain), body: len(from.Desired.Body)}
	room, _ := c.room.Get().(*packing)
	if room == nil {
		room = &packing{}
	}
	defer c.room.Put(room)
	room.plain = append(append(append(room.plain[:0], plain...), from.Desired.Body...), from.Memory...)
	room.packed = c.encoder.EncodeAll(room.plain, room.packed[:0])
	p.bytes = bytes.Clone(room.packed)
	return p, nil
}

func (c *packer) unpack(p packed) (*State, error) {
	plain, err := c.decoder.DecodeAll(p.bytes, nil)
	if err != nil {
		return nil, fmt.Errorf("unpack the state of a sleeper: %w", err)
	}
	state := &State{}
	if err := json.Unmarshal(plain[:p.state], state); err != nil {
		return nil, fmt.Errorf("unpack the state of a sleeper: %w", err)
	}
	memory := p.state + p.body
	if p.body > 0 {
		state.Desired.Body = plain[p.state:memory:memory]
	}
	if len(plain) > memory {
		state.Memory = plain[memory:]
	}
	return state, nil
}
