package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/internal/testworker/gate"
	"github.com/armature-io/armature/workflows"
)

// fenceRecovers is how long the newest spec may take to stand in Azure after the stopped
// worker continued: the server may have given it the next attempts too, and each is noticed
// after the heartbeat timeout.
const fenceRecovers = 2 * time.Minute

// TestFence stops a worker in a PUT, a PATCH and a DELETE, lets another worker take over and
// a newer spec be applied, and continues the first one. Unsent requests are stopped by the
// fence alone: the simulator takes no ETags then. Those that were handed to the network are
// stopped by their ETag.
//
//guard:fence
func TestFence(t *testing.T) {
	t.Parallel()
	world := harness.New(t, binaries, harness.Options{})
	worker := buildTestWorker(t)
	cases := map[string]func(*testing.T){}
	for _, pause := range []time.Duration{20 * time.Second, 54 * time.Second, 80 * time.Second} {
		for _, handed := range []bool{false, true} {
			name := fmt.Sprintf("%s-unsent", pause)
			if handed {
				name = fmt.Sprintf("%s-handed-over", pause)
			}
			cases[name] = func(t *testing.T) {
				options := harness.Options{}
				if !handed {
					options.Simulator.RefusedETags = []string{"*"}
				}
				f := &fenceScene{scenarios: scenarios{world.Branch(t, "fence-"+name, options)}, group: "fence-" + name, handed: handed, pause: pause}
				f.play(worker)
			}
		}
	}
	sideBySide(t, len(cases), cases) // nearly all of the time they wait
}

// fenceScene is three resources whose worker is stopped while it writes all of them.
type fenceScene struct {
	scenarios
	group  string
	handed bool
	pause  time.Duration
}

// methods are those of the requests in which the worker is stopped. Each resource is named
// after its method.
var methods = []string{http.MethodPut, http.MethodPatch, http.MethodDelete}

func (f *fenceScene) thing(method string) thing {
	return thing{group: f.group, name: f.group + "-" + strings.ToLower(method), interval: "1h"}
}

// spec writes a manifest with a generation in its tags.
func (f *fenceScene) spec(method, generation string) string {
	r := f.thing(method)
	more := ""
	if method == http.MethodPatch {
		more = ", put: patch"
	}
	return f.Write(r.name+"-"+generation+".yaml", fmt.Sprintf(`type: Microsoft.Example/things@2024-01-01
name: %s
owner: %s/resourceGroups/%s
body: {location: westus2, tags: {generation: %s}, properties: {size: small}}
reconcile: {interval: 1h%s}
`, r.name, subscription, r.group, generation, more))
}

func (f *fenceScene) play(binary string) {
	f.T.Helper()
	f.putGroup(f.group)
	f.Sim.Call(http.MethodPut, "/resources", map[string]any{
		"id": f.thing(http.MethodPatch).id(), "body": map[string]any{"location": "westus2", "properties": map[string]any{"size": "small"}},
	}, nil)
	stopped := f.StartWorker(harness.WorkerOptions{
		Binary: binary, Env: []string{gate.StepVariable + "=" + gate.Write, gate.FolderVariable + "=" + filepath.Join(f.Folder, "gate")},
	})
	for _, method := range methods {
		f.MustCLI("apply", "-f", f.spec(method, "one"), "--wait", "--timeout", "60s")
	}
	f.catch()
	f.StartWorker(harness.WorkerOptions{})
	f.signal(stopped, syscall.SIGSTOP)
	begun := time.Now()
	f.release(false)
	written := make(chan time.Duration, 1)
	go func() {
		defer close(written) // also where a condition is not met
		f.writeNewest()
		f.release(true)
		written <- time.Since(begun)
	}()
	<-time.After(f.pause - time.Since(begun)) // the subject of the test
	f.signal(stopped, syscall.SIGCONT)
	took := <-written
	f.T.Logf("the newest specs stood in Azure after %s", took.Round(time.Second))
	f.settle()
	f.check(took < f.pause)
	if code := stopped.Stop(); code != 0 {
		f.T.Errorf("the continued worker ended with %d", code)
	}
}

// catch stops all three requests at their point.
func (f *fenceScene) catch() {
	f.T.Helper()
	if f.handed {
		for _, method := range methods {
			f.Sim.Call(http.MethodPost, "/faults", armsim.Fault{ID: method, Method: method, Path: f.thing(method).id(), Gate: true, Count: 1}, nil)
		}
	} else {
		f.Write(filepath.Join("gate", gate.HoldFile), "")
	}
	f.MustCLI("apply", "-f", f.spec(http.MethodPut, "two"))
	f.MustCLI("apply", "-f", f.spec(http.MethodPatch, "two"))
	f.MustCLI("delete", f.thing(http.MethodDelete).id(), "--yes")
	f.Until(60*time.Second, "the worker is about to send all three requests", func() (bool, string) {
		reached := 0
		for _, method := range methods {
			if f.handed && f.waiting(method) || !f.handed && f.Exists(filepath.Join("gate", gate.ReachedWrite(method))) {
				reached++
			}
		}
		return reached == len(methods), fmt.Sprintf("%d of them", reached)
	})
}

// waiting reports whether the simulator holds the request of a method.
func (f *fenceScene) waiting(method string) bool {
	f.T.Helper()
	return slices.ContainsFunc(faults(f.World), func(fault armsim.Fault) bool { return fault.ID == method && fault.Waiting > 0 })
}

// release lets the requests go: those that were not sent while the worker is stopped, those
// in the network once the newest specs are written.
func (f *fenceScene) release(newest bool) {
	f.T.Helper()
	switch {
	case f.handed && newest:
		for _, method := range methods {
			f.Sim.Call(http.MethodPost, "/faults/"+method+"/release", nil, nil)
		}
	case !f.handed && !newest:
		if err := os.Remove(filepath.Join(f.Folder, "gate", gate.HoldFile)); err != nil {
			f.T.Error(err)
		}
	}
}

// writeNewest applies the third generation, and the deleted resource again once it is gone,
// and waits until they are Ready.
func (f *fenceScene) writeNewest() {
	for _, method := range methods {
		if method == http.MethodDelete {
			f.MustCLI("wait", f.thing(method).id(), "--for", "deleted", "--timeout", fenceRecovers.String())
		}
		f.MustCLI("apply", "-f", f.spec(method, "three"))
	}
	for _, method := range methods {
		f.UntilStatus(fenceRecovers, f.thing(method).id(), "the newest spec is written", func(status workflows.Status) bool {
			return status.Condition.Ready && status.Condition.ObservedGeneration == status.Generation && f.generation(method) == "three"
		})
	}
}

// generation returns the generation in Azure, "" for an absent resource.
func (f *fenceScene) generation(method string) string {
	for _, found := range stored(f.World, f.thing(method).id()) {
		tags, _ := found.Body["tags"].(map[string]any)
		generation, _ := tags["generation"].(string)
		return generation
	}
	return ""
}

func (f *fenceScene) lastRequest() int {
	requests := f.Sim.Requests("")
	if len(requests) == 0 {
		return 0
	}
	return requests[len(requests)-1].Seq
}

// settle waits until the simulator holds nothing and no request arrives any more.
func (f *fenceScene) settle() {
	f.T.Helper()
	last, since := f.lastRequest(), time.Now()
	f.Until(fenceRecovers, "no request arrives for 5 s", func() (bool, string) {
		if now := f.lastRequest(); now != last {
			last, since = now, time.Now()
		}
		return time.Since(since) > 5*time.Second, fmt.Sprintf("request %d", last)
	})
}

// check reads what stands in Azure, and that nothing older was written after the newest.
// With arrived set, requests that were in the network arrived after it.
func (f *fenceScene) check(arrived bool) {
	f.T.Helper()
	var writes []armsim.Write
	f.Sim.Call(http.MethodGet, "/writes", nil, &writes)
	for _, method := range methods {
		if got := f.generation(method); got != "three" {
			f.T.Errorf("%s: generation %q stands in Azure, want the newest", method, got)
		}
		newest := 0
		for _, write := range writes {
			if !strings.EqualFold(write.ID, f.thing(method).id()) {
				continue
			}
			tags, _ := write.Body["tags"].(map[string]any)
			switch {
			case tags["generation"] == "three":
				newest = write.Seq
			case newest > 0:
				f.T.Errorf("%s: %s of %v was accepted after the newest generation", method, write.Method, tags["generation"])
			}
		}
	}
	refused := 0
	for _, request := range f.Sim.Requests("") {
		if request.Status == http.StatusPreconditionFailed {
			refused++
		}
	}
	if f.handed && arrived && refused != len(methods) {
		f.T.Errorf("%d requests were refused by their ETag, want one of each method", refused)
	}
}

func (f *fenceScene) signal(worker *harness.Worker, signal syscall.Signal) {
	f.T.Helper()
	if err := syscall.Kill(worker.PID(), signal); err != nil {
		f.T.Fatal(err)
	}
}
