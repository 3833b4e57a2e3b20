package corpus

import (
	"net/http"
	"testing"
)

// TestOperationsSurviveBrokenPolls inserts a failing response before every poll of
// recorded operations: none ends early, none is lost, none is repeated, and the wait
// of the failing response is kept.
func TestOperationsSurviveBrokenPolls(t *testing.T) {
	const every = 20 // operations are much alike
	for _, status := range []int{
		http.StatusUnauthorized, http.StatusNotFound, http.StatusRequestTimeout, http.StatusTooManyRequests,
		http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
	} {
		traces := read[trace](t, "lro.jsonl.gz")
		w := newWorld(t)
		for i := 0; i < len(traces); i += every {
			tr := &traces[i]
			var polls []recordedPoll
			for _, poll := range tr.Polls {
				if poll.Via != toResource {
					polls = append(polls, recordedPoll{Via: poll.Via, Status: status, RetryAfter: "17"})
				}
				polls = append(polls, poll)
			}
			tr.Polls = polls
			if err := w.replay(t, tr); err != nil {
				t.Errorf("%d before each poll of %s %d %s %s (%s): %v", status, tr.Cassette, tr.Index, tr.Type, tr.Shape, tr.Outcome, err)
			}
		}
	}
}
