package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/await"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/jedib0t/go-pretty/v6/text"
)

// frames returns the drawn blocks of a run on a terminal, escape sequences left out.
func frames(out string) []string {
	var list []string
	for _, block := range strings.Split(out, "\x1b[J")[1:] {
		if i := strings.Index(block, "\x1b["); i >= 0 {
			block = block[:i]
		}
		list = append(list, block)
	}
	return list
}

func TestWaitTree(t *testing.T) {
	w := newWorld()
	w.terminal = true
	f := w.temporal
	busy := waiting(t, resource.ReasonReconciliationBlocked, "the cluster adx is Updating", cluster)
	f.manage(t, group, readyStatus())
	f.manage(t, cluster, operating("PUT"))
	f.manage(t, database, busy)
	f.manage(t, cluster+"/databases/traces", busy)
	f.manage(t, account, waiting(t, resource.ReasonReferenceNotReady, "v1 is Updating", vnet))
	f.manage(t, vnet, waiting(t, "SkuNotAvailable", "not here\x1b[2J\nat all"))
	role := account + "/providers/Microsoft.Authorization/roleAssignments/角色角色角色"
	f.manage(t, role, waiting(t, resource.ReasonWaitingForOwner, "存储账户 sa1 does not exist", account))
	if code := w.run("wait", "--timeout", "3s"); code != cli.ExitFailed {
		t.Errorf("exit code %d: %s", code, w.err)
	}
	blocks := frames(w.out.String())
	golden(t, "wait-tree.txt", blocks[len(blocks)-1])
	for _, line := range strings.Split(blocks[0], "\n") {
		if n := text.StringWidth(line); n > 80 {
			t.Errorf("a line of %d columns wraps and breaks the redraw: %q", n, line)
		}
	}
}

func TestWaitTreeHeight(t *testing.T) {
	w := newWorld()
	w.terminal = true
	for i := range 200 {
		w.temporal.manage(t, fmt.Sprintf("%s/databases/d%03d", cluster, i), waiting(t, resource.ReasonReconciliationBlocked, "the cluster adx is Updating", cluster))
	}
	w.temporal.manage(t, cluster, operating("PUT"))
	w.temporal.manage(t, vnet, waiting(t, resource.ReasonThrottled, "429"))
	w.run("wait", "--timeout", "1s")
	block := frames(w.out.String())[0]
	if lines := strings.Count(block, "\n"); lines > 23 {
		t.Errorf("%d lines scroll a terminal of 24", lines)
	}
	for _, want := range []string{"kusto cluster adx", "virtual network v1", "… and 181 more", "0 of 202 Ready"} {
		if !strings.Contains(block, want) {
			t.Errorf("the block lacks %q: resources that block others come first:\n%s", want, block)
		}
	}
}

// TestWaitPollsAreBounded verifies that a wait for a large stack polls a bounded number of
// resources at a time, and reaches all: each is Ready at its second poll.
func TestWaitPollsAreBounded(t *testing.T) {
	w := newWorld()
	for i := range 3 * await.MaxPolled {
		w.temporal.manage(t, fmt.Sprintf("%s/databases/d%03d", cluster, i),
			waiting(t, resource.ReasonReconciliationBlocked, "the cluster adx is Updating", cluster), readyStatus())
	}
	if code := w.run("wait", "--timeout", "9s"); code != cli.ExitOK || !strings.Contains(w.out.String(), "300 resources Ready after 3s") {
		t.Errorf("exit code %d: %s", code, w.err)
	}
	w = newWorld()
	for i := range 3 * await.MaxPolled {
		w.temporal.manage(t, fmt.Sprintf("%s/databases/d%03d", cluster, i), waiting(t, resource.ReasonReconciliationBlocked, "the cluster adx is Updating", cluster))
	}
	w.run("wait", "--timeout", "4s")
	if n := w.temporal.asked; n > 7*await.MaxPolled {
		t.Errorf("%d queries in 4 seconds, want at most %d", n, 7*await.MaxPolled)
	}
}
