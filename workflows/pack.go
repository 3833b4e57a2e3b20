package workflows

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/klauspost/compress/s2"
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

// pack compresses the state of a run that falls asleep. One that is replayed goes
// on at once and stays as it is, as does one without a spec: false. What a packed state
// becomes is what a continue-as-new would make of it.
func (r *reconciler) pack(ctx workflow.Context) bool {
	if r.state == nil || r.state.Desired == nil || workflow.IsReplaying(ctx) {
		return false
	}
	state, desired := *r.state, *r.state.Desired
	state.Desired, state.Memory, desired.Body = &desired, nil, nil
	plain, err := json.Marshal(state)
	if err != nil {
		return false // it stays as it is; the next continue-as-new tells
	}
	next := packed{state: len(plain), body: len(r.state.Desired.Body)}
	plain = append(append(plain, r.state.Desired.Body...), r.state.Memory...)
	next.bytes = bytes.Clone(s2.Encode(nil, plain)) // without the room that the worst case takes
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
	plain, err := s2.Decode(nil, r.packed.bytes)
	if err != nil {
		return nil, fmt.Errorf("unpack the state of a sleeper: %w", err)
	}
	state := &State{}
	if err := json.Unmarshal(plain[:r.packed.state], state); err != nil {
		return nil, fmt.Errorf("unpack the state of a sleeper: %w", err)
	}
	memory := r.packed.state + r.packed.body
	if r.packed.body > 0 {
		state.Desired.Body = plain[r.packed.state:memory:memory]
	}
	if len(plain) > memory {
		state.Memory = plain[memory:]
	}
	return state, nil
}
