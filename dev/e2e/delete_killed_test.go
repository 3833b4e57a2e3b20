package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
)

// TestDeleteStackKilled kills the worker at each request of the deletion of a stack: in each
// read, in the first of several lists, and before and after ARM accepts a write. All of the stack
// is deleted, or, if ARM refuses the DELETE of the server, the server keeps its lock; what is not
// part of the stack stays. With -short it kills at two requests of each; CRASH_SEED chooses
// others.
func TestDeleteStackKilled(t *testing.T) {
	t.Parallel()
	world := harness.New(t, binaries, harness.Options{})
	refusals := map[string]bool{"deleted": false, "refused": true}
	points := map[string][]killPoint{}
	var mu sync.Mutex
	cases := map[string]func(*testing.T){}
	for name, refused := range refusals {
		cases[name] = func(t *testing.T) {
			k := newKilledCase(t, world, name, refused)
			k.run(killPoint{})
			mu.Lock()
			defer mu.Unlock()
			points[name] = k.points()
		}
	}
	sideBySide(t, len(cases), cases)
	clear(cases)
	seed := number(t, "CRASH_SEED", 0)
	for name, refused := range refusals {
		step := 1
		if testing.Short() {
			step = max(1, len(points[name])/2)
		}
		t.Logf("%s: %d points, a kill at every %d, CRASH_SEED=%d", name, len(points[name]), step, seed)
		for i := (step/2 + seed) % step; i < len(points[name]); i += step {
			at := points[name][i]
			name := fmt.Sprintf("%s-%d-%t", name, at.request, at.applied)
			cases[name] = func(t *testing.T) { newKilledCase(t, world, name, refused).run(at) }
		}
	}
	sideBySide(t, crashSideBySide, cases)
}

// killPoint is the request from which on the worker gets no response and is killed, counted from
// the command; 0 is none. ARM accepts it only with applied.
type killPoint struct {
	request int
	applied bool
}

// killedCase is a locked stack beside resources that are not part of it.
type killedCase struct {
	lockedCase
	refused bool
	// before is the number of requests before the command.
	before int
}

func newKilledCase(t *testing.T, world *harness.World, name string, refused bool) *killedCase {
	t.Helper()
	k := &killedCase{lockedCase: newLockedCase(t, world, name, "manage"), refused: refused}
	for _, id := range k.neighbours() {
		k.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": id, "body": map[string]any{"location": "westeurope", "properties": map[string]any{"level": "CanNotDelete"}}}, nil)
	}
	if refused {
		k.Sim.Call(http.MethodPost, "/faults", armsim.Fault{
			Method: http.MethodDelete, Path: k.server, Status: http.StatusConflict, Code: "ReadOnlyDisabledSubscription", Message: "The subscription is disabled and therefore marked as read only.",
		}, nil)
	}
	return k
}

// neighbours are a network in the same group, and a lock of it.
func (k *killedCase) neighbours() []string {
	network := k.group + "/providers/Microsoft.Network/virtualNetworks/theirs"
	return []string{network, network + "/providers/Microsoft.Authorization/locks/theirs"}
}

// sent returns the requests about resources until now.
func (k *killedCase) sent() []armsim.Request {
	k.T.Helper()
	return slices.DeleteFunc(k.Sim.Requests(""), func(r armsim.Request) bool { return !strings.HasPrefix(r.ID, "/subscriptions/") })
}

// points returns the points of an undisturbed run.
func (k *killedCase) points() []killPoint {
	k.T.Helper()
	var points []killPoint
	before := ""
	for i, request := range k.sent()[k.before:] {
		if request.Method != http.MethodGet {
			points = append(points, killPoint{i + 1, false})
		}
		if request.Kind != "collection" || before != "collection" {
			points = append(points, killPoint{i + 1, true})
		}
		before = request.Kind
	}
	return points
}

// run deletes the stack, and kills the worker at a point.
func (k *killedCase) run(at killPoint) {
	worker := k.StartWorker(harness.WorkerOptions{})
	k.MustCLI("apply", "-f", k.file, "--wait", "--timeout", "60s")
	k.before = len(k.sent())
	if at.request > 0 {
		k.Sim.Call(http.MethodPost, "/faults", armsim.Fault{ID: "kill", On: "any", Path: "/subscriptions/*", Applied: at.applied, Gate: true, After: at.request - 1}, nil)
	}
	deletion := []string{"delete", "-l", k.selector, "--yes", "--with-data"}
	sending := k.Send(deletion...)
	if at.request > 0 {
		k.Until(150*time.Second, "the request is sent", func() (bool, string) { return k.reached() || k.ended(), k.state() })
		sending.Last()
		worker.Kill()
		k.Sim.Call(http.MethodDelete, "/faults/kill", nil, nil)
		k.StartWorker(harness.WorkerOptions{})
	}
	// A command that lost its worker is repeated, as it asks.
	if result := sending.Result(); result.Code != 0 {
		k.MustCLI(deletion...)
	}
	k.Until(150*time.Second, "the deletion ends", func() (bool, string) { return k.ended(), k.state() })
	k.check()
}

// reached reports whether the request of the kill was sent.
func (k *killedCase) reached() bool {
	k.T.Helper()
	return slices.ContainsFunc(faults(k.World), func(f armsim.Fault) bool { return f.ID == "kill" && f.Fired > 0 })
}

// ended reports whether all of the stack is gone, or, after a refusal, whether the server and its
// lock are managed again.
func (k *killedCase) ended() bool {
	k.T.Helper()
	if !k.refused {
		return len(stored(k.World, k.group+"/*")) == len(k.neighbours())
	}
	if k.Sim.Count(http.MethodDelete, k.server) == 0 {
		return false
	}
	for _, id := range []string{k.server, k.lock} {
		if status, err := k.Status(id); err != nil || status.Deleting || !status.Condition.Ready {
			return false
		}
	}
	return true
}

func (k *killedCase) state() string {
	k.T.Helper()
	var lines []string
	for _, kept := range stored(k.World, k.group+"/*") {
		status, err := k.Status(kept.ID)
		lines = append(lines, fmt.Sprintf("%s: deleting %t, %s: %s %v", kept.ID, status.Deleting, status.Condition.Reason, status.Condition.Message, err))
	}
	return strings.Join(lines, "\n")
}

// check checks what remains.
func (k *killedCase) check() {
	k.T.Helper()
	keeps := k.neighbours()
	if k.refused {
		keeps = append(keeps, k.server, k.lock)
	}
	for _, id := range keeps {
		if len(stored(k.World, id)) == 0 {
			k.T.Errorf("%s is gone", id)
		}
	}
	k.lockWentLast()
}
