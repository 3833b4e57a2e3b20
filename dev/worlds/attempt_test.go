package worlds

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// attempt is the test of one run of a script. It ends the run at its first failure and keeps
// that, so that shorter scripts can be tried within one test.
type attempt struct {
	testing.TB
	ctx context.Context

	mu       sync.Mutex
	failure  string
	log      strings.Builder
	cleanups []func()
}

// try runs play with a test of its own and returns the first failure, "" for none, and the log.
func try(t testing.TB, play func(testing.TB)) (failure, log string) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	a := &attempt{TB: t, ctx: ctx}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer a.end()
		play(a)
	}()
	<-ended
	return a.failure, a.log.String()
}

func (a *attempt) end() {
	for _, cleanup := range slices.Backward(a.cleanups) {
		cleanup()
	}
}

// Context returns a context that ends with the attempt.
func (a *attempt) Context() context.Context { return a.ctx }

// Cleanup adds a function that runs at the end of the attempt.
func (a *attempt) Cleanup(f func()) { a.cleanups = append(a.cleanups, f) }

// TempDir returns a folder that is removed at the end of the attempt.
func (a *attempt) TempDir() string {
	folder, err := os.MkdirTemp("", "armature-world-")
	if err != nil {
		a.Fatal(err)
	}
	a.Cleanup(func() { _ = os.RemoveAll(folder) })
	return folder
}

// Failed reports whether the attempt has failed.
func (a *attempt) Failed() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.failure != ""
}

// Error keeps the failure.
func (a *attempt) Error(args ...any) { a.keep(fmt.Sprintln(args...)) }

// Errorf keeps the failure.
func (a *attempt) Errorf(format string, args ...any) { a.keep(fmt.Sprintf(format, args...)) }

// Fatal keeps the failure and ends the run.
func (a *attempt) Fatal(args ...any) {
	a.keep(fmt.Sprintln(args...))
	runtime.Goexit()
}

// Fatalf keeps the failure and ends the run.
func (a *attempt) Fatalf(format string, args ...any) {
	a.keep(fmt.Sprintf(format, args...))
	runtime.Goexit()
}

// Log adds to the log of the attempt.
func (a *attempt) Log(args ...any) { a.print(fmt.Sprintln(args...)) }

// Logf adds to the log of the attempt.
func (a *attempt) Logf(format string, args ...any) { a.print(fmt.Sprintf(format, args...) + "\n") }

func (a *attempt) keep(failure string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.failure == "" {
		a.failure = failure
		return
	}
	a.failure += "\n" + failure
}

func (a *attempt) print(text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.log.WriteString(text)
}
