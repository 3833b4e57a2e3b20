package perturb

import (
	"context"
	"fmt"
)

// site is a place at which a disturbance can happen.
type site string

// The sites: an attempt of an activity, a request to Azure, and a request to Temporal.
const (
	siteActivity site = "activity"
	siteAzure    site = "azure"
	siteTemporal site = "temporal"
)

// point is one moment of a run.
type point struct {
	site site
	// name is the name of the activity or of the request, number its number in the run from 1.
	name   string
	number int
	// write is set for a request that changes something in Azure, local for a call of a local
	// activity or outside of all activities.
	write, local bool
	// own is set for a request to the resource itself.
	own bool
	// exists is set if the resource is in Azure at the point, differs if an older response to the
	// request is known.
	exists, differs bool
}

// String returns the name of the point in the names of cells.
func (p point) String() string { return fmt.Sprintf("%s %s %d", p.site, p.name, p.number) }

// isBeside reports whether the request runs beside others of its activity: if these end early, a run
// may not send it.
func (p point) isBeside() bool { return p.site == siteTemporal && p.name == "Awaited" }

// sendsPut reports whether the point is a PUT, or the activity that sends it.
func (p point) sendsPut() bool { return p.write || p.site == siteActivity && p.name == "PutResource" }

// call is a call of an activity, Azure or Temporal. A disturbance may execute it, lose its result,
// or let the worker die.
type call struct {
	point
	execute func() error
	// older is the response before the last one to a request that reads, instead the response
	// that replaces the real one.
	older, instead *answer

	world   *world
	attempt *attempt
	// err is the result.
	err error
}

// proceed executes the call.
func (c *call) proceed() { c.err = c.execute() }

// die lets the worker die.
func (c *call) die() {
	c.attempt.die()
	c.err = errLost
}

// call executes a call, with the disturbance of the cell if it is for this point.
func (w *world) call(ctx context.Context, c *call) error {
	c.world, c.attempt = w, attemptOf(ctx)
	if c.attempt.isDead() {
		return errLost
	}
	c.local = c.attempt == nil || c.attempt.local
	if !w.arrive(&c.point) {
		return c.execute()
	}
	w.cell.disturbance.act(c)
	return c.err
}

// arrive numbers a point, and reports whether the disturbance of the cell is for it.
func (w *world) arrive(p *point) bool {
	exists := len(w.sim.Resources(w.kind.desired.ID.String(), "")) > 0
	since := w.now().Sub(begin)
	w.mu.Lock()
	defer w.mu.Unlock()
	if since < w.kind.from || since > w.kind.from+pointTime {
		return false
	}
	name := string(p.site) + " " + p.name
	w.counts[name]++
	p.number, p.exists = w.counts[name], exists
	w.points = append(w.points, *p)
	if w.cell == nil || w.fired || w.cell.point.String() != p.String() {
		return false
	}
	w.fired = true
	return true
}
