package perturb

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// The sites of points: a request to Azure, and a request to Temporal or a task from there.
const (
	siteAzure    = "azure"
	siteTemporal = "temporal"
)

// pollPrefix begins the names of the methods that get a task from Temporal.
const pollPrefix = "Poll"

// point is one moment of a run.
type point struct {
	site string
	// name is the method with its subject, number its number in the run from 1.
	name   string
	number int
	// write is set for a request that changes something in Azure, poll for a task from Temporal.
	write, poll bool
}

// String returns the name of the point in the names of cells.
func (p point) String() string { return fmt.Sprintf("%s %s %d", p.site, p.name, p.number) }

// isList reports whether the request lists workflows.
func (p point) isList() bool { return strings.HasPrefix(p.name, "ListWorkflowExecutions") }

// call is a request of a worker. A disturbance may send it, lose its response, or end the worker.
type call struct {
	point
	scene  *scene
	worker *process
	ctx    context.Context //nolint:containedctx // a call is the argument of one function
	// send sends the request. For a task from Temporal it has been sent.
	send func() error
	// empty replaces the response to a list by an empty one.
	empty func()
	err   error
}

// errLost is the result of a request whose worker, or whose response, is lost.
var errLost = errors.New("the connection is lost")

// proceed sends the request.
func (c *call) proceed() { c.err = c.send() }

// kill kills the worker.
func (c *call) kill() {
	c.worker.kill()
	c.err = errLost
}

// call lets a request pass, with the disturbance of the cell if it is for this point.
func (s *scene) call(c *call) error {
	c.scene = s
	if c.worker.isLost() {
		return errLost
	}
	if !s.arrive(&c.point) {
		return c.send()
	}
	s.cell.disturbance.act(c)
	return c.err
}

// arrive numbers a point, and reports whether the disturbance of the cell is for it.
func (s *scene) arrive(p *point) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.begun || s.over {
		return false
	}
	name := p.site + " " + p.name
	s.counts[name]++
	p.number = s.counts[name]
	s.points = append(s.points, *p)
	if s.cell == nil || s.fired || s.cell.point.String() != p.String() {
		return false
	}
	s.fired = true
	return true
}
