package starter

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
	"github.com/jedib0t/go-pretty/v6/text"
)

// runWatch runs a command for a number of polls and then presses Ctrl-C.
func runWatch(t *testing.T, w *world, polls int, args ...string) int {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := 0
	after := w.after
	w.after = func(d time.Duration) <-chan time.Time {
		if done++; done == polls {
			cancel()
			return nil
		}
		return after(d)
	}
	return run(ctx, w.app, append(args, "--watch"))
}

// changingWorld returns a database that is blocked, then Ready, and a cluster.
func changingWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld()
	w.temporal.manage(t, database, blockedStatus(t), blockedStatus(t), readyStatus())
	w.temporal.manage(t, cluster, readyStatus())
	w.temporal.changing = true
	return w
}

// TestWatch verifies that each change is appended once, and none that is only an
// age.
func TestWatch(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   []string
	}{
		"watch-get.txt":      {reason: "a line for each change of a resource", args: []string{"get"}},
		"watch-describe.txt": {reason: "the page, whenever it changes", args: []string{"describe", "adx/telemetry"}},
		"watch-get.json":     {reason: "a line of JSON for each change", args: []string{"get", "-o", "json"}},
		"watch-get.yaml":     {reason: "a document for each change", args: []string{"get", "adx/telemetry", "-o", "yaml"}},
		"watch-why.txt":      {reason: "the chain, whenever it changes", args: []string{"why", "adx/telemetry"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := changingWorld(t)
			if code := runWatch(t, w, 5, tc.args...); code != cli.ExitOK {
				t.Errorf("%s: exit code %d, a Ctrl-C is no failure: %s", tc.reason, code, w.err)
			}
			if strings.Contains(w.out.String(), "\x1b") {
				t.Errorf("%s: escape codes without a terminal", tc.reason)
			}
			golden(t, name, w.out.String())
		})
	}
}

// TestWatchRedraws verifies that a terminal shows one block, cut to its size, and
// leaves it alone while nothing changes.
func TestWatchRedraws(t *testing.T) {
	w := changingWorld(t)
	w.terminal, w.color = true, true
	if code := runWatch(t, w, 4, "get"); code != cli.ExitOK {
		t.Fatalf("exit code %d: %s", code, w.err)
	}
	blocks := frames(w.out.String())
	if len(blocks) < 2 || !strings.Contains(blocks[0], "Blocked") && !strings.Contains(w.out.String(), "Blocked") {
		t.Errorf("%d blocks:\n%q", len(blocks), w.out)
	}
	if !strings.Contains(w.out.String(), "\x1b[3A\r") {
		t.Errorf("the block of three lines is not replaced:\n%q", w.out)
	}
}

// TestWatchSurvivesOutage verifies that an outage of Temporal does not end a watch, and that
// the end of all that was named does.
func TestWatchSurvivesOutage(t *testing.T) {
	t.Run("outage", func(t *testing.T) {
		w := sampleWorld(t)
		polls := 0
		after := w.after
		w.after = func(d time.Duration) <-chan time.Time {
			w.temporal.mu.Lock()
			w.temporal.listErr = nil
			if polls++; polls < 3 {
				w.temporal.listErr = cli.Unreachable("reach Temporal: refused")
			}
			w.temporal.mu.Unlock()
			return after(d)
		}
		if code := runWatch(t, w, 4, "get"); code != cli.ExitOK || strings.Count(w.err.String(), "the watch continues") != 1 {
			t.Errorf("exit code %d: %s", code, w.err)
		}
	})
	t.Run("first poll", func(t *testing.T) {
		w := sampleWorld(t)
		w.temporal.listErr = cli.Unreachable("reach Temporal: refused")
		if code := runWatch(t, w, 2, "get"); code != cli.ExitUnreachable {
			t.Errorf("exit code %d: a watch that never saw anything has failed", code)
		}
	})
	t.Run("the end", func(t *testing.T) {
		w := sampleWorld(t)
		after := w.after
		w.after = func(d time.Duration) <-chan time.Time {
			w.temporal.end("Completed", workflows.Status{ID: mustID(t, cluster), Deleted: true, Phase: workflows.PhaseDeleting})
			return after(d)
		}
		if code := w.run("get", cluster, "--watch"); code != cli.ExitOK || !strings.Contains(w.out.String(), "Deleted") {
			t.Errorf("exit code %d: %s%s", code, w.out, w.err)
		}
	})
}

// TestTableFitsTerminal verifies that a line is no wider than the terminal, and
// that it shows the important columns: the others are hidden first.
func TestTableFitsTerminal(t *testing.T) {
	const long = "a-cluster-with-a-name-that-nobody-can-remember"
	cases := map[string]struct {
		reason, file  string
		width         int
		long, failing bool
		shows, misses []string
	}{
		"wide":     {reason: "there is room for all", width: 200, shows: []string{"TYPE", "Microsoft.Kusto", "NEXT-TRY", "MESSAGE"}},
		"90":       {reason: "the type goes before the message", width: 90, file: "get-narrow.txt", shows: []string{"NEXT-TRY", "MESSAGE"}, misses: []string{"TYPE"}},
		"80":       {reason: "the usual size of a terminal", width: 80, shows: []string{"MESSAGE"}, misses: []string{"TYPE"}},
		"80, long": {reason: "a long name loses its front", width: 80, long: true, file: "get-narrow-long.txt", shows: []string{"MESSAGE", "remember"}, misses: []string{"a-cluster"}},
		"80, both": {reason: "with a long reason too there is no room for a message, but for the time", width: 80, long: true, failing: true,
			shows: []string{"PostReconciliationFailure", "SINCE"}, misses: []string{"MESSAGE"}},
		"50, long":  {reason: "half a window", width: 50, long: true, misses: []string{"SINCE", "NEXT-TRY"}},
		"too small": {reason: "lines are cut, never broken", width: 24},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := sampleWorld(t)
			w.terminal = true
			w.size = func() (int, int) { return tc.width, 24 }
			if tc.long {
				w.temporal.manage(t, strings.Replace(cluster, "/adx", "/"+long, 1), readyStatus())
			}
			if tc.failing {
				status := blockedStatus(t)
				status.Condition.Reason = resource.ReasonPostReconciliationFailure
				w.temporal.manage(t, strings.Replace(cluster, "/adx", "/failing", 1), status)
			}
			w.run("get")
			out := w.out.String()
			if n := text.LongestLineLen(out); n > tc.width {
				t.Errorf("%s: a line has %d columns", tc.reason, n)
			}
			if tc.width >= 50 {
				tc.shows = append(tc.shows, "PHASE", "REASON", "Blocked", "Reconciliation"[:9])
			}
			for _, part := range tc.shows {
				if !strings.Contains(out, part) {
					t.Errorf("%s: %q is not shown\n%s", tc.reason, part, out)
				}
			}
			for _, part := range tc.misses {
				if strings.Contains(out, part) {
					t.Errorf("%s: %q is shown\n%s", tc.reason, part, out)
				}
			}
			if tc.file != "" {
				golden(t, tc.file, out)
			}
		})
	}
}
