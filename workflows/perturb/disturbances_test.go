package perturb

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/internal/testonly/cells"
	"github.com/armature-io/armature/workflows"
)

// disturbance is one way in which a run is disturbed at a point.
type disturbance struct {
	name string
	// applies reports whether it can happen at a point of a kind.
	applies func(*kind, point) bool
	act     func(*call)
	// options change the simulator before the run.
	options func(*armsim.Options)
	// writes is how many more writes of the resource it causes.
	writes int
	// unknown is set if no attempt knows the outcome of the request.
	unknown bool
}

const (
	// lag is how long a read or list is older than a write: less than the window in which Armature
	// repeats such a read.
	lag = 45 * time.Second
	// outage is how long Temporal does not respond, and how long reads lack a resource: longer than
	// that window.
	outage = 5 * time.Minute
	// skewed is how far a clock differs.
	skewed = 10 * time.Minute
)

// disturbances returns all disturbances.
func disturbances() []disturbance {
	all := func(*kind, point) bool { return true }
	requests := func(_ *kind, p point) bool { return p.site != siteActivity }
	azure := func(_ *kind, p point) bool { return p.site == siteAzure }
	temporal := func(_ *kind, p point) bool { return p.site == siteTemporal }
	activities := func(_ *kind, p point) bool { return p.site == siteActivity }
	writes := func(_ *kind, p point) bool { return p.write }
	return []disturbance{
		{name: "crash before", applies: all, act: (*call).die},
		{name: "crash after the effect", applies: all, act: func(c *call) { c.proceed(); c.die() }, unknown: true},
		{name: "worker that stops and continues", applies: func(_ *kind, p point) bool { return p.site != siteActivity && !p.local && !p.write }, act: func(c *call) { c.attempt.stall(); c.proceed() }},
		{name: "lost response", applies: requests, act: func(c *call) { c.proceed(); c.lose("read") }},
		{name: "no connection", applies: requests, act: func(c *call) { c.lose("dial") }},
		{name: "throttled", applies: azure, act: func(c *call) { c.refuse(http.StatusTooManyRequests, "TooManyRequests", "20") }},
		{name: "server error", applies: azure, act: func(c *call) { c.refuse(http.StatusServiceUnavailable, "ServerBusy", "") }},
		{name: "server error after the effect", applies: azure, act: func(c *call) { c.proceed(); c.refuse(http.StatusGatewayTimeout, "GatewayTimeout", "") }},
		{name: "one stale read", applies: func(_ *kind, p point) bool { return p.differs }, act: func(c *call) { c.proceed(); c.instead = c.older }},
		{name: "stale reads after the write", applies: writes, act: func(c *call) { c.lagFrom(lag); c.proceed() }},
		{name: "replica that flaps after the write", applies: writes, act: func(c *call) { c.lagFrom(lag); c.proceed() }, options: func(o *armsim.Options) { o.Replicas = 2 }},
		{name: "creation that reads show after minutes", applies: func(_ *kind, p point) bool { return p.write && !p.exists }, act: func(c *call) { c.lagFrom(outage); c.proceed() }},
		{name: "reads that lack the resource for minutes", applies: func(_ *kind, p point) bool { return p.own && p.exists && !p.write }, act: func(c *call) { c.hide(outage); c.proceed() }},
		{name: "lagging list", applies: writes, act: (*call).proceed, options: func(o *armsim.Options) { o.ListLag = 2 * lag }},
		{name: "change of another value by another client", applies: func(k *kind, p point) bool { return p.exists && k.foreign != "" }, act: func(c *call) { c.change(c.world.kind.foreign, true); c.proceed() }, writes: 1},
		{name: "change of a value by another client", applies: func(k *kind, p point) bool { return p.exists && k.drift != "" }, act: func(c *call) { c.change(c.world.kind.drift, false); c.proceed() }, writes: 1},
		{name: "creation by another client", applies: func(k *kind, p point) bool { return !p.exists && k.conditional }, act: func(c *call) { c.create(); c.proceed() }},
		{name: "duplicate message", applies: all, act: func(c *call) { c.send(*c.world.lastMessage()); c.proceed() }},
		{name: "freeze", applies: all, act: func(c *call) { c.freeze(); c.proceed() }},
		{name: "new generation", applies: all, act: func(c *call) { c.send(c.world.nextGeneration()); c.proceed() }, writes: 1},
		{name: "delete", applies: all, act: func(c *call) {
			c.send(message{name: workflows.DeleteUpdate, input: workflows.DeleteInput{WithData: true, By: "ada"}})
			c.proceed()
		}},
		{name: "forget", applies: all, act: func(c *call) {
			c.send(message{name: workflows.ForgetUpdate, input: workflows.ForgetInput{By: "ada"}})
			c.proceed()
		}},
		{name: "pause", applies: all, act: func(c *call) { c.pause(); c.proceed() }},
		{name: "continue-as-new", applies: all, act: func(c *call) { c.continueAsNew(); c.proceed() }},
		{name: "Temporal away for minutes", applies: temporal, act: func(c *call) { c.world.fleet.awayUntil(c.world.now().Add(outage)); c.lose("dial") }},
		{name: "clock ahead", applies: activities, act: func(c *call) { c.skew(skewed); c.proceed() }},
		{name: "clock behind", applies: activities, act: func(c *call) { c.skew(-skewed); c.proceed() }},
	}
}

// lose replaces the result by an error of the connection.
func (c *call) lose(op string) {
	if c.site == siteTemporal {
		c.err = errAway()
		return
	}
	c.err = &net.OpError{Op: op, Net: "tcp", Err: syscall.ECONNRESET}
}

// refuse replaces the response by an error of Azure.
func (c *call) refuse(status int, code, retryAfter string) {
	c.instead = failed(status, code)
	if retryAfter != "" {
		c.instead.header.Set("Retry-After", retryAfter)
	}
}

// lagFrom lets reads be older than the writes from now on.
func (c *call) lagFrom(lag time.Duration) {
	body := strings.NewReader(fmt.Sprintf(`{"readAfterWriteSeconds": %g}`, lag.Seconds()))
	request, recorder := httptest.NewRequest(http.MethodPut, "/_sim/options", body), httptest.NewRecorder()
	c.world.sim.ServeHTTP(recorder, request)
	if recorder.Code != http.StatusOK {
		c.world.violate("lag: status %d", recorder.Code)
	}
}

// hide lets reads of the resource find nothing for a time. Lists still show it.
func (c *call) hide(time time.Duration) {
	until := c.world.now().Add(time)
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	c.world.hiddenUntil = until
}

// create creates the resource as another client, with a value of its own.
func (c *call) create() {
	w := c.world
	if err := w.sim.As(other).Put(w.kind.desired.ID.String(), cells.Decoded(string(specWith(w.kind.desired, w.kind.foreign).Body))); err != nil {
		w.violate("creation by another client: %v", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.user.foreign = append(w.user.foreign, w.kind.foreign)
}

// change changes the resource as another client. A change that stays is part of the end.
func (c *call) change(patch string, stays bool) {
	w := c.world
	if err := w.sim.As(other).Patch(w.kind.desired.ID.String(), cells.Decoded(patch)); err != nil {
		return // it was deleted meanwhile
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if stays {
		w.user.foreign = append(w.user.foreign, patch)
	} else {
		w.user.mayStay = patch
	}
}

// send sends a message and waits for the end of its handler.
func (c *call) send(m message) {
	c.world.during(func(done func()) { c.world.send(m, done) })
}

// freeze freezes everything for a time.
func (c *call) freeze() {
	c.world.fleet.freeze(c)
	c.world.after(freezeFor, func(w *world) { w.fleet.unfreeze() })
}

// pause pauses the resource for a time.
func (c *call) pause() {
	c.send(message{name: workflows.PauseUpdate, input: workflows.PauseInput{By: "ada"}})
	c.world.after(freezeFor, func(w *world) {
		w.send(message{name: workflows.ResumeUpdate, input: workflows.PauseInput{By: "ada"}}, func() {})
	})
}

func (c *call) continueAsNew() {
	w := c.world
	w.during(func(done func()) { w.env.SetContinueAsNewSuggested(true); done() })
}

// skew changes the clocks of all workers.
func (c *call) skew(by time.Duration) {
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	c.world.skew = by
}

// after lets an event happen after a delay, also if the workflow continues as new before.
func (w *world) after(delay time.Duration, do func(*world)) {
	e := &event{w.now().Sub(begin) + delay, do}
	w.mu.Lock()
	w.events = append(w.events, e)
	env := w.env
	w.mu.Unlock()
	env.RegisterDelayedCallback(func() { w.happen(e) }, delay)
}

// lastMessage returns the last message of a user or of the fleet.
func (w *world) lastMessage() *message {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last
}

// nextGeneration returns the apply of a new generation.
func (w *world) nextGeneration() message {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.spec = specWith(w.spec, w.kind.next)
	return message{name: workflows.ApplyUpdate, input: workflows.ApplyInput{Desired: w.spec, By: "ada"}, shown: w.kind.next}
}
