package starter

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
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

// TestWaitFollowsLists verifies that a wait for a large stack sends one list for each 250
// resources in a round of two seconds, asks no workflow, and reads each resource once, when
// the list shows that it is Ready.
func TestWaitFollowsLists(t *testing.T) {
	const stack = 600
	w := newWorld()
	w.temporal.moving = true
	statuses := make([]workflows.Status, 12, 13)
	for i := range statuses {
		statuses[i] = waiting(t, resource.ReasonReconciliationBlocked, "the cluster adx is Updating", cluster)
	}
	for i := range stack {
		w.temporal.manage(t, fmt.Sprintf("%s/databases/d%03d", cluster, i), append(slices.Clone(statuses), readyStatus())...)
	}
	if code := w.run("wait", "--timeout", "5m"); code != cli.ExitOK || !strings.Contains(w.out.String(), "600 resources Ready") {
		t.Fatalf("exit code %d: %s", code, w.err)
	}
	if w.temporal.asked > 0 {
		t.Errorf("%d queries, want none", w.temporal.asked)
	}
	rounds := int(w.clock.Sub(noon())/(2*time.Second)) + 1
	if most := 1 + 3*rounds; w.temporal.lists > most {
		t.Errorf("%d lists in %d rounds, want at most %d", w.temporal.lists, rounds, most)
	}
	if most := stack + 20*rounds; w.temporal.read > most {
		t.Errorf("%d resources read alone, want at most %d", w.temporal.read, most)
	}
}
