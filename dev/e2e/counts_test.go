package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"google.golang.org/protobuf/proto"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/internal/histories"
)

// The cost of each kind of pass, counted. The figures may fall, not rise: a
// rise is a decision that changes them here. Bytes are protobuf of the events;
// identities and numbers vary by some bytes, which the bounds leave room for.
const (
	steadyEvents  = 14
	steadyBytes   = 2900
	blockedEvents = 6
	blockedBytes  = 1250
	createEvents  = 42 // 6 of them tell those who wait
	createBytes   = 12500
)

// untilWoken waits until the wakes of a resource that just changed are over: the
// second sweep comes 5 s after the first.
func untilWoken(w *harness.World, id string) {
	w.T.Helper()
	w.Until(30*time.Second, "everybody was woken", func() (bool, string) {
		begun, over := 0, 0
		scheduled := map[int64]bool{}
		for _, event := range w.History(id).GetEvents() {
			if event.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() == "WakeDependents" {
				scheduled[event.GetEventId()] = true
				begun++
			}
			if scheduled[event.GetActivityTaskCompletedEventAttributes().GetScheduledEventId()] {
				over++
			}
		}
		return begun > 0 && begun == over, fmt.Sprintf("%d of %d wakes are over", over, begun)
	})
}

// between are the events from a timer that fired to the next one that starts:
// one pass.
func between(history *historypb.History) []*historypb.HistoryEvent {
	var pass, last []*historypb.HistoryEvent
	for _, event := range history.GetEvents() {
		if event.GetEventType() == enumspb.EVENT_TYPE_TIMER_FIRED {
			pass = nil
		}
		pass = append(pass, event)
		fired := pass[0].GetEventType() == enumspb.EVENT_TYPE_TIMER_FIRED
		if fired && event.GetEventType() == enumspb.EVENT_TYPE_TIMER_STARTED {
			last = pass
		}
	}
	return last
}

func size(events []*historypb.HistoryEvent) int {
	bytes := 0
	for _, event := range events {
		bytes += proto.Size(event)
	}
	return bytes
}

func hold(t *testing.T, what string, got, most int) {
	t.Helper()
	t.Logf("%s: %d (at most %d)", what, got, most)
	if got > most || got == 0 {
		t.Errorf("%s is %d, want 1 to %d", what, got, most)
	}
}

// countSteadyPass holds the cost of a pass in sync: 14 events, one GET, no PUT.
func countSteadyPass(t *testing.T, s scenarios, r thing) {
	t.Helper()
	untilWoken(s.World, r.id())
	pass := between(s.History(r.id()))
	hold(t, "events of a pass in sync", len(pass), steadyEvents)
	hold(t, "bytes of a pass in sync", size(pass), steadyBytes)
	status, err := s.Status(r.id())
	if err != nil {
		t.Fatal(err)
	}
	// The creation cost two reads and one write; every pass since cost a read.
	if gets := s.Sim.Count(http.MethodGet, r.id()); gets != int(status.Pass)+1 {
		t.Errorf("%d GETs in %d passes, want one a pass and one after the PUT", gets, status.Pass)
	}
	if puts := s.Sim.Count(http.MethodPut, r.id()); puts != 1 {
		t.Errorf("%d PUTs, want the one of the creation", puts)
	}
}

// countBlockedPass holds the cost of a pass that the owner blocks: no request.
func countBlockedPass(t *testing.T, s scenarios, r thing) {
	t.Helper()
	pass := between(s.History(r.id()))
	hold(t, "events of a blocked pass", len(pass), blockedEvents)
	hold(t, "bytes of a blocked pass", size(pass), blockedBytes)
}

// countCreate holds the cost of a creation with a long-running operation.
func countCreate(t *testing.T, s scenarios, r thing) {
	t.Helper()
	untilWoken(s.World, r.id())
	counts := histories.Count(s.History(r.id()), 0)
	hold(t, "events of a create with an operation", counts.Events, createEvents)
	hold(t, "bytes of a create with an operation", counts.Bytes, createBytes)
	requests := s.Sim.Counters().ByID[strings.ToLower(r.id())]
	if requests[http.MethodGet] != 2 || requests[http.MethodPut] != 1 {
		t.Errorf("a create made %v, want 2 GETs and 1 PUT beside the polls", requests)
	}
}
