package starter

import (
	"testing"
	"time"
)

func TestClockSkew(t *testing.T) {
	begun := noon()
	ended := begun.Add(3 * time.Second)
	cases := map[string]struct {
		reason string
		there  time.Time
		want   time.Duration
	}{
		"Between": {"the worker's time lies between question and answer", begun.Add(time.Second), 0},
		"Behind":  {"its clock is behind", begun.Add(-time.Hour), time.Hour},
		"Ahead":   {"its clock is ahead", ended.Add(time.Hour), -time.Hour},
	}
	for name, c := range cases {
		if got := clockSkew(begun, ended, c.there); got != c.want {
			t.Errorf("%s: %s: got %s, want %s", name, c.reason, got, c.want)
		}
	}
}
