package perturb

import (
	"context"
	"syscall"
	"time"

	"github.com/armature-io/armature/armsim"
)

// disturbance is one way in which a run is disturbed at a point.
type disturbance struct {
	name string
	// applies reports whether it can happen at a point of a kind.
	applies func(*kind, point) bool
	act     func(*call)
	// options change the simulator before the run.
	options func(*armsim.Options)
	// writes is how many more writes of a resource it causes.
	writes int
}

const (
	// lost is how long a worker is stopped or cut off: longer than the server waits for it.
	lost = 40 * time.Second
	// slowFor is how long Temporal is slow, slowBy how much later each of its responses is then.
	slowFor = 40 * time.Second
	slowBy  = 3 * time.Second
	// slowRequest is how much later one response is: longer than the timeout of a workflow task.
	slowRequest = 12 * time.Second
	// lag is how long a list is older than a write: longer than the window in which Armature
	// repeats such a read. Sixty simulated seconds are one.
	lag = 5 * time.Minute
)

// disturbances returns all disturbances.
func disturbances() []disturbance {
	all := func(*kind, point) bool { return true }
	requests := func(_ *kind, p point) bool { return !p.poll }
	temporal := func(_ *kind, p point) bool { return !p.poll && p.site == siteTemporal }
	return []disturbance{
		{name: "worker killed before", applies: all, act: (*call).kill},
		{name: "worker killed after the effect", applies: requests, act: func(c *call) { c.proceed(); c.kill() }},
		{name: "worker stopped, and continued after its loss", applies: requests, act: func(c *call) { c.worker.stop(); c.proceed() }},
		{name: "worker cut off from Temporal", applies: requests, act: func(c *call) { c.worker.cutOff(); c.proceed() }},
		{name: "lost response of Temporal", applies: temporal, act: func(c *call) { c.proceed(); c.err = errLost }},
		{name: "slow Temporal", applies: temporal, act: func(c *call) { c.scene.slowDown(); c.proceed() }},
		{name: "one slow response of Temporal", applies: temporal, act: func(c *call) { c.wait(slowRequest); c.proceed() }},
		{name: "lagging list of workflows", applies: func(k *kind, p point) bool { return p.isList() && !k.managed }, act: func(c *call) { c.proceed(); c.empty() }},
		{name: "lagging lists and reads of Azure", applies: func(_ *kind, p point) bool { return p.write }, act: (*call).proceed, options: func(o *armsim.Options) { o.ListLag, o.ReadAfterWrite = lag, lag/4 }},
		{name: "new generation", applies: requests, act: func(c *call) { c.scene.apply(len(c.scene.resources)-1, c.scene.kind.next); c.proceed() }, writes: 1},
		{name: "delete", applies: requests, act: func(c *call) { c.scene.delete(len(c.scene.resources) - 1); c.proceed() }},
	}
}

// stop stops the process, and continues it after the server has given it up. Meanwhile another one
// has its work.
func (p *process) stop() {
	_ = syscall.Kill(p.worker.PID(), syscall.SIGSTOP)
	p.takeOver()
	p.scene.during(lost, func() { _ = syscall.Kill(p.worker.PID(), syscall.SIGCONT) })
}

// cutOff lets all requests of the process to Temporal fail for a time. Azure stays reachable.
func (p *process) cutOff() {
	p.setCut(true)
	p.takeOver()
	p.scene.during(lost, func() { p.setCut(false) })
}

// takeOver ends the polls of the process, so that it gets no further task, and has another one
// started.
func (p *process) takeOver() {
	p.mu.Lock()
	p.endPolls()
	p.polls, p.endPolls = context.WithCancel(context.Background())
	p.mu.Unlock()
	p.scene.replace <- struct{}{}
}

func (p *process) setCut(cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = cut
}

// slowDown lets requests to Temporal take longer for a time.
func (s *scene) slowDown() {
	s.mu.Lock()
	s.slowBy, s.slowUntil = slowBy, time.Now().Add(slowFor)
	s.mu.Unlock()
	s.during(slowFor, func() {})
}

// wait lets the request wait.
func (c *call) wait(delay time.Duration) {
	select {
	case <-time.After(delay):
	case <-c.ctx.Done():
	}
}
