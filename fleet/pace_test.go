package fleet

import (
	"testing"
	"time"

	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"google.golang.org/protobuf/types/known/timestamppb"
)

func TestCountLive(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	poller := func(identity string, ago time.Duration) *taskqueuepb.PollerInfo {
		return &taskqueuepb.PollerInfo{Identity: identity, LastAccessTime: timestamppb.New(now.Add(-ago))}
	}
	cases := map[string]struct {
		reason  string
		pollers []*taskqueuepb.PollerInfo
		want    int
	}{
		"none": {"an unknown number must not change the pace", nil, 0},
		"two pollers of a process": {
			"a worker polls several times at once",
			[]*taskqueuepb.PollerInfo{poller("1@a", 0), poller("1@a", time.Second)}, 1,
		},
		"one after a reload of its rules": {
			"the server lists its older identity too",
			[]*taskqueuepb.PollerInfo{poller("1@a checks=x", 0), poller("1@a checks=y", time.Minute)}, 1,
		},
		"a killed one": {
			"the server lists a killed worker for minutes, with its last poll",
			[]*taskqueuepb.PollerInfo{poller("1@a", 0), poller("1@b", 3*time.Minute)}, 1,
		},
		"two": {
			"a poll lasts up to about a minute",
			[]*taskqueuepb.PollerInfo{poller("1@a", 0), poller("1@b", 70*time.Second)}, 2,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := countLive(c.pollers); got != c.want {
				t.Errorf("countLive = %d, want %d: %s", got, c.want, c.reason)
			}
		})
	}
}

// The workers of a task queue share the list requests: with four of them each sends a
// quarter.
func TestListsAreShared(t *testing.T) {
	s := newServer(t)
	s.pollers = []string{"1@a", "1@b", "1@c", "1@d"}
	f := s.dial()
	if err := f.awaitList(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := float64(f.lists.limiter.Limit()); got != 250 {
		t.Errorf("this worker may send %v lists per second, want a quarter of 1000", got)
	}
}
