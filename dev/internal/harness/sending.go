package harness

import "sync/atomic"

// Sending is a command that runs beside the test.
type Sending struct {
	result chan Result
	last   atomic.Bool
}

// Send runs armature beside the test, and repeats a command that failed, as the CLI asks.
func (w *World) Send(args ...string) *Sending {
	w.T.Helper()
	s := &Sending{result: make(chan Result, 1)}
	go func() {
		defer close(s.result)
		result := w.CLI(args...)
		for result.Code != 0 && !s.last.Load() && w.T.Context().Err() == nil {
			w.T.Logf("repeated: %s", result)
			result = w.CLI(args...)
		}
		s.result <- result
	}()
	w.T.Cleanup(func() { s.Result() }) // a test that failed may not have waited
	return s
}

// Last lets the command end with its next result: what fails from now on is not repeated.
func (s *Sending) Last() { s.last.Store(true) }

// Result waits for the end of the command and returns its result, the zero value if that was
// returned before or the command did not run.
func (s *Sending) Result() Result {
	s.Last()
	return <-s.result
}
