package e2e

import (
	"net/http"
	"os"
	"path/filepath"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/internal/testworker/gate"
)

// crashPoint is the point of a pass at which a worker is killed or stopped.
type crashPoint interface {
	// set makes the next worker stop at the point. It returns the environment of the
	// test worker, or nil where the product's worker is enough.
	set(s *crashScene) []string
	reached(s *crashScene) bool
	// left reports whether the worker passed the point too early.
	left(s *crashScene) bool
	release(s *crashScene)
	// outlivesWorker reports whether a stopping worker does not wait for its end.
	outlivesWorker() bool
	// requests returns the number of PUTs sent in total when the worker is killed.
	requests() int
}

// crashPoints returns the steps of a pass, the phases of a request, and operations.
func crashPoints() map[string]func() crashPoint {
	points := map[string]func() crashPoint{
		"in step 1, owner check":                 func() crashPoint { return &atStep{point: gate.OwnerCheck} },
		"in step 2, GET":                         func() crashPoint { return &atRequest{fault: armsim.Fault{Method: http.MethodGet}, sent: 1} },
		"in step 3, pre-check":                   func() crashPoint { return &atStep{point: gate.PreCheck} },
		"in step 4, before the PUT":              func() crashPoint { return &atStep{point: gate.Modify} },
		"in step 4, PUT not accepted yet":        func() crashPoint { return &atRequest{fault: armsim.Fault{Method: http.MethodPut}, sent: 2} },
		"in step 4, PUT accepted, response lost": func() crashPoint { return acceptedPut(armsim.OperationSpec{Shape: armsim.ShapeSync}) },
		"in step 4, long PUT, response lost":     func() crashPoint { return acceptedPut(crashOperation(armsim.ShapeAsync)) },
		"in step 4, read after the PUT":          func() crashPoint { return &atRequest{fault: armsim.Fault{Method: http.MethodGet, After: 1}, sent: 1} },
		"in step 5, post-check":                  func() crashPoint { return &atStep{point: gate.PostCheck} },
		"in a poll of provisioningState":         func() crashPoint { return inPoll(armsim.ShapeState, armsim.Fault{Method: http.MethodGet, After: 1}) },
		"between polls of provisioningState":     func() crashPoint { return &atOperation{shape: armsim.ShapeState} },
		"in a poll of Location":                  func() crashPoint { return inPoll(armsim.ShapeLocation, armsim.Fault{On: "operation"}) },
		"between polls of Location":              func() crashPoint { return &atOperation{shape: armsim.ShapeLocation} },
		"in a poll of Azure-AsyncOperation":      func() crashPoint { return inPoll(armsim.ShapeAsync, armsim.Fault{On: "operation"}) },
		"between polls of Azure-AsyncOperation":  func() crashPoint { return &atOperation{shape: armsim.ShapeAsync} },
	}
	return points
}

// crashOperation returns an operation of one real second, with a Retry-After of one
// real second; both are 60 simulated seconds.
func crashOperation(shape armsim.Shape) armsim.OperationSpec {
	return armsim.OperationSpec{Shape: shape, Seconds: 60, RetryAfter: []float64{60}}
}

func acceptedPut(spec armsim.OperationSpec) crashPoint {
	return &atRequest{fault: armsim.Fault{Method: http.MethodPut, Applied: true}, spec: spec, sent: 1}
}

func inPoll(shape armsim.Shape, poll armsim.Fault) crashPoint {
	return &atRequest{fault: poll, spec: crashOperation(shape), sent: 1}
}

// atStep is an extension point of the test worker.
type atStep struct{ point string }

func (p *atStep) set(s *crashScene) []string {
	s.Write(filepath.Join("gate", gate.HoldFile), "")
	return []string{gate.StepVariable + "=" + p.point, gate.FolderVariable + "=" + filepath.Join(s.Folder, "gate")}
}

func (p *atStep) reached(s *crashScene) bool {
	return s.Exists(filepath.Join("gate", gate.ReachedFile))
}
func (p *atStep) left(s *crashScene) bool { return s.Exists(filepath.Join("gate", gate.CanceledFile)) }
func (p *atStep) outlivesWorker() bool    { return false }
func (p *atStep) requests() int           { return 1 }

func (p *atStep) release(s *crashScene) {
	s.T.Helper()
	if err := os.Remove(filepath.Join(s.Folder, "gate", gate.HoldFile)); err != nil {
		s.T.Fatal(err)
	}
}

// atRequest is one request that the simulator delays.
type atRequest struct {
	fault armsim.Fault
	// spec is the operation that the PUT starts, if any.
	spec armsim.OperationSpec
	sent int
}

func (p *atRequest) set(s *crashScene) []string {
	s.T.Helper()
	p.fault.Gate, p.fault.Count = true, 1
	if p.fault.On == "" {
		p.fault.Path = s.id("")
	}
	s.Sim.Call(http.MethodPost, "/faults", p.fault, &p.fault)
	s.Sim.Call(http.MethodPost, "/operations", armsim.OperationRule{Spec: p.spec}, nil)
	return nil
}

func (p *atRequest) reached(s *crashScene) bool {
	s.T.Helper()
	return s.held() == 1
}

func (p *atRequest) left(*crashScene) bool { return false }
func (p *atRequest) outlivesWorker() bool  { return false }
func (p *atRequest) requests() int         { return p.sent }

func (p *atRequest) release(s *crashScene) {
	s.T.Helper()
	s.Sim.Call(http.MethodPost, "/faults/"+p.fault.ID+"/release", nil, nil)
}

// held returns the number of requests that the simulator delays now.
func (s *crashScene) held() int { return held(s.World) }

func held(w *harness.World) int {
	w.T.Helper()
	held := 0
	for _, fault := range faults(w) {
		held += fault.Waiting
	}
	return held
}

// faults returns the faults of the simulator, with the requests that they matched.
func faults(w *harness.World) []armsim.Fault {
	w.T.Helper()
	var all []armsim.Fault
	w.Sim.Call(http.MethodGet, "/faults", nil, &all)
	return all
}

// atOperation is the wait between two polls of an operation that does not end
// before it is released.
type atOperation struct{ shape armsim.Shape }

func (p *atOperation) set(s *crashScene) []string {
	s.T.Helper()
	s.Sim.Call(http.MethodPost, "/operations", armsim.OperationRule{Spec: crashOperation(p.shape)}, nil)
	s.Sim.Call(http.MethodPost, "/holds", armsim.Hold{}, nil)
	return nil
}

func (p *atOperation) reached(s *crashScene) bool {
	s.T.Helper()
	return s.polled()
}

func (p *atOperation) left(*crashScene) bool { return false }
func (p *atOperation) outlivesWorker() bool  { return true }
func (p *atOperation) requests() int         { return 1 }

func (p *atOperation) release(s *crashScene) {
	s.T.Helper()
	s.Sim.Call(http.MethodDelete, "/holds", nil, nil)
}

// polled reports whether an operation of the scene was polled.
func (s *crashScene) polled() bool {
	s.T.Helper()
	var operations []armsim.OperationStatus
	s.Sim.Call(http.MethodGet, "/operations", nil, &operations)
	for _, operation := range operations {
		if operation.Polls > 0 {
			return true
		}
	}
	return false
}
