package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// sender sends message i and answers in words.
type sender = func(ctx context.Context, i int) (string, error)

// sendAll sends one message for each resource, in order and at most limit at a
// time, and prints one line for each answer, as they come. A refusal is a line
// of its own and stops nothing; any other error (no worker, no Temporal) ends it.
func (a *app) sendAll(ctx context.Context, ids []resource.ID, limit int, send sender) error {
	all := make([]int, len(ids))
	for i := range all {
		all[i] = i
	}
	return a.sendWaves(ctx, ids, [][]int{all}, limit, send)
}

// sendTries is how often a message is sent in a row that a busy worker did not
// answer in time; every message may be repeated.
const sendTries = 3

// sendWaves is sendAll in waves of positions: each begins when the one before
// was answered.
func (a *app) sendWaves(ctx context.Context, ids []resource.ID, waves [][]int, limit int, send sender) error {
	var printing sync.Mutex
	done, refusals := 0, 0
	answered := func() int {
		printing.Lock()
		defer printing.Unlock()
		return done + refusals
	}
	// Where somebody was answered, or a worker is there, a silence means a busy
	// worker and not a missing one. The tries begin anew while others are answered.
	patient := func(ctx context.Context, i int) (answer string, err error) {
		for try := 1; ; try++ {
			before := answered()
			var silent *noWorkerError
			if answer, err = send(ctx, i); !errors.As(err, &silent) {
				return answer, err
			}
			after := answered()
			switch {
			case after > before:
				try = 0
			case try >= sendTries || after == 0 && !silent.busy:
				return answer, err
			}
		}
	}
	one := func(ctx context.Context, i int) error {
		answer, err := patient(ctx, i)
		printing.Lock()
		defer printing.Unlock()
		var refusal *refusedError
		switch name := described(ids[i]); {
		case errors.As(err, &refusal):
			refusals++
			a.note("%s  refused: %s", name, refusal.text)
		case err != nil:
			return wrapName(name, err)
		default:
			done++
			a.printf("%s  %s\n", name, answer)
		}
		return nil
	}
	var err error
	for _, wave := range waves {
		if err = each(ctx, len(wave), limit, func(ctx context.Context, at int) error { return one(ctx, wave[at]) }); err != nil {
			break
		}
	}
	switch {
	case errors.Is(err, errInterrupted):
		return failed("interrupted: %d of %d were sent and go on by themselves; repeat the command for the rest", done, len(ids))
	case err != nil:
		return err
	case refusals > 0:
		return failed("%d of %s refused, see above; what was not refused goes on", refusals, count(len(ids), "resource"))
	}
	return nil
}

// applied is the answer in words.
func applied(result workflows.ApplyResult) string {
	word := "configured"
	switch {
	case !result.Changed:
		word = "unchanged"
	case result.Generation == 1:
		word = "created"
	}
	return fmt.Sprintf("%s (generation %d)", word, result.Generation) + untilResume(result.Paused)
}

// untilResume says that an answer changes nothing yet.
func untilResume(paused bool) string {
	if !paused {
		return ""
	}
	return "; it is paused: nothing starts until `armature resume`"
}

// wrapName says of which resource an error speaks and keeps its exit code.
func wrapName(name string, err error) error {
	if errors.Is(err, errInterrupted) {
		return err
	}
	return &fault{code: exitCode(asFault(err)), err: fmt.Errorf("%s: %w", name, err)}
}

// count is "1 fault", "2 faults".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
