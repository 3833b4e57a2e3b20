package extensiontest

import (
	"slices"
	"strings"
	"testing"
)

// tally is what the calls of a suite have in common.
type tally struct {
	// stopped is set after a call that took too long.
	stopped bool
	// failures counts the cases that failed in the same way.
	failures map[string]int
	// read are the keys of Resources and Lists that a call read, requests is the largest
	// number of requests of one call.
	read     map[string]bool
	requests int
}

func newTally() *tally {
	return &tally{failures: map[string]int{}, read: map[string]bool{}}
}

// noteReads records the reads of one call.
func (y *tally) noteReads(requests int, read ...[]string) {
	y.requests = max(y.requests, requests)
	for _, key := range slices.Concat(read...) {
		y.read[strings.ToLower(key)] = true
	}
}

// report reports further cases of a failure, and reads that the suite declares and no call
// made: a check that never reads them passes whatever they are.
func (y *tally) report(t *testing.T, suite Suite) {
	t.Helper()
	more := 0
	for _, number := range y.failures {
		more += number - 1
	}
	if more > 0 {
		t.Logf("%d more cases fail in the same ways", more)
	}
	if t.Failed() || y.stopped {
		return
	}
	for _, id := range keys(suite.Resources) {
		if !y.read[strings.ToLower(id)] {
			t.Errorf("no call of %T read %s, which Resources has: the check decides without it", suite.Entry.Link, id)
		}
	}
	for _, list := range keys(suite.Lists) {
		if !y.read[strings.ToLower(list)] {
			t.Errorf("no call of %T listed %s, which Lists has: the check decides without it", suite.Entry.Link, list)
		}
	}
	if suite.Requests > y.requests {
		t.Errorf("Requests is %d, and no call of %T made more than %d", suite.Requests, suite.Entry.Link, y.requests)
	}
}
