package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/armature-io/armature/resource"
)

// TestDescribeManyDependents holds that a group which waits for a hundred
// resources is still one screen.
func TestDescribeManyDependents(t *testing.T) {
	w := newWorld()
	status := blockedStatus(t)
	status.WaitingFor = nil
	for i := range 100 {
		status.WaitingFor = append(status.WaitingFor, mustID(t, fmt.Sprintf("%s/databases/d%d", cluster, i)))
	}
	w.temporal.manage(t, cluster, status)
	if code := w.run("describe", cluster); code != exitOK {
		t.Fatalf("exit code %d: %s", code, w.err)
	}
	if lines := strings.Count(w.out.String(), "\n"); lines > 40 {
		t.Errorf("%d lines are more than a screen", lines)
	}
	if !strings.Contains(w.out.String(), "and 96 more") {
		t.Errorf("the page does not say how many more it waits for:\n%s", w.out)
	}
}

// TestDescribePaused holds that a pause is what the next try waits for.
func TestDescribePaused(t *testing.T) {
	for name, tc := range map[string]struct {
		reason   string
		deleting bool
		want     string
	}{
		"paused":   {reason: "no pass starts by itself", want: "after `armature resume`"},
		"deleting": {reason: "a deletion goes on while paused", deleting: true, want: "in 20s"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			status := blockedStatus(t)
			status.Paused, status.Deleting, status.WaitingFor = true, tc.deleting, []resource.ID{}
			w.temporal.manage(t, cluster, status)
			w.run("describe", cluster)
			if !strings.Contains(w.out.String(), tc.want) {
				t.Errorf("%s: the page lacks %q:\n%s", tc.reason, tc.want, w.out)
			}
		})
	}
}
