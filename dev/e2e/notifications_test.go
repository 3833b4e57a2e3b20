package e2e

import (
	"testing"
	"time"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/internal/histories"
	historypb "go.temporal.io/api/history/v1"
)

// TestRecordNotificationsLeft records a run that continues as new between the two sweeps of
// a notification, and the next run, which starts it again.
func TestRecordNotificationsLeft(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{ContinueAsNewAfter: 12})
	w.StartWorker(harness.WorkerOptions{})
	s := scenarios{w}
	r := thing{group: "left", name: "left", interval: "1h"}
	s.putGroup(r.group)
	s.apply(r, "small")
	first := w.RunID(r.id())
	w.Until(2*time.Minute, "a second run", func() (bool, string) { return w.RunID(r.id()) != first, w.HistoryLines(r.id()) })
	history, err := histories.Fetch(t.Context(), w.Client, w.WorkflowID(r.id()), first)
	if err != nil {
		t.Fatal(err)
	}
	if n := notifications(history); n != 1 {
		t.Errorf("%d notifications in the first run, want one", n)
	}
	w.RecordRun(r.id(), first, "notification-left")
	w.UntilWoken(r.id())
	if n := notifications(w.History(r.id())); n != 1 {
		t.Errorf("%d notifications in the second run, want the one of the first again\n%s", n, w.HistoryLines(r.id()))
	}
	w.Record(r.id(), "notification-started-again")
}

// notifications counts the notifications that a run has started.
func notifications(history *historypb.History) (n int) {
	for _, event := range history.GetEvents() {
		if event.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() == "WakeDependents" {
			n++
		}
	}
	return n
}
