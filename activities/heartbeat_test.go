package activities

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// In a bubble of fake time; it fails when a goroutine outlives the activity.
func TestHeartbeat(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, stop: make(chan struct{})}
		w.details = []byte(`{"transientErrors":2}`)
		beating := func(ctx context.Context, wait time.Duration) (int, error) {
			heart := startHeartbeat[readProgress](ctx)
			defer heart.stop()
			if heart.progress().TransientErrors != 2 {
				t.Errorf("the progress of the attempt before is lost: %+v", heart.progress())
			}
			<-time.After(wait)
			synctest.Wait()
			return w.beats, nil
		}
		for wait, beats := range map[time.Duration]int{9 * time.Second: 0, 12 * time.Second: 1, 31 * time.Second: 3} {
			w.details, w.beats = []byte(`{"transientErrors":2}`), 0
			got, err := run(w, beating, wait)
			must(t, err)
			if got != beats {
				t.Errorf("%d beats in %s, want %d: one every 10 s", got, wait, beats)
			}
		}
	})
}

func TestHeartbeatRecords(t *testing.T) {
	t.Parallel()
	w := &world{t: t, stop: make(chan struct{}), details: []byte(`not json`)}
	_, err := run(w, func(ctx context.Context, _ string) (string, error) {
		heart := startHeartbeat[readProgress](ctx)
		defer heart.stop()
		if heart.progress() != (readProgress{}) {
			t.Errorf("details of another version became %+v", heart.progress())
		}
		heart.send(readProgress{TransientErrors: 3})
		return "", notYet("again", 0)
	}, "")
	applicationError(t, err)
	if !strings.Contains(string(w.details), `"transientErrors":3`) {
		t.Errorf("the next attempt gets %s", w.details)
	}
}
