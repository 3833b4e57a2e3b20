package text

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestDuration(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]time.Duration{
		"0s": -time.Hour, "8s": 8 * time.Second, "2m10s": 130 * time.Second, "10m": 10 * time.Minute, "1h": time.Hour,
		"1h30m": 90 * time.Minute, "3h5m": 3*time.Hour + 5*time.Minute + time.Second, "20h": 20*time.Hour + 59*time.Second,
		"4d2h": 98*time.Hour + 59*time.Minute, "1d": 24*time.Hour + 5*time.Second, "1d10h": 34 * time.Hour,
	} {
		if got := Duration(d); got != want {
			t.Errorf("Duration(%s) = %q, want %q", d, got, want)
		}
	}
}

func TestTime(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 31, 13, 0, 0, 999, time.FixedZone("CET", 3600))
	if got, want := Time(at), "2026-01-31 12:00:00Z"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	if got := Cut(strings.Repeat("ö", 300), 120); utf8.RuneCountInString(got) != 120 || !strings.HasSuffix(got, "…") {
		t.Errorf("%d characters, want 120 with an ellipsis at the end", utf8.RuneCountInString(got))
	}
	if got := Cut("short", 5); got != "short" {
		t.Errorf("got %q, want a text within the limit unchanged", got)
	}
}

func TestCutBytes(t *testing.T) {
	t.Parallel()
	if got, want := CutBytes("aöö", 4), "aö"; got != want {
		t.Errorf("got %q, want %q: characters stay whole", got, want)
	}
	if got := CutBytes("vnet1", 5); got != "vnet1" {
		t.Errorf("got %q, want a text within the limit unchanged", got)
	}
}
