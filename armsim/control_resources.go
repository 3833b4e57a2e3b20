package armsim

import (
	"fmt"
)

// StoredResource is a resource as the server stores it.
type StoredResource struct {
	ID         string `json:"id"`
	Type       string `json:"type"`
	State      string `json:"state"`
	Generation int    `json:"generation"`        // accepted PUTs and PATCHes
	Busy       bool   `json:"busy"`              // an operation is in progress
	Body       object `json:"body"`              // as returned by a GET, without server-made keys
	LastPut    object `json:"lastPut,omitempty"` // the last accepted body as sent, with its secrets
}

// Put stores a resource out of band: without checks, an operation or counting. It
// creates missing groups and parents.
func (s *Simulator) Put(id string, body map[string]any) error { return s.As(Author{}).Put(id, body) }

// Put stores a resource as [Simulator.Put] does.
func (c *Client) Put(id string, body map[string]any) error {
	s := c.s
	t, ok := parseID(id)
	if !ok || t.kind != kindResource && t.kind != kindGroup {
		return fmt.Errorf("put %s: this is no resource ID", id)
	}
	defer c.lock()()
	s.createParents(t)
	q := &request{target: t, resourceType: t.resourceType()}
	r := s.find(id)
	known := r != nil
	r = s.store(q, r, body)
	r.past = nil
	if state := text(body, "properties.provisioningState"); state != "" && !terminal(state) {
		r.setState(state)
	} else if state != "" || !known {
		s.completeSyncWrite(r)
		if state != "" {
			r.setState(state)
		}
	}
	if state := text(body, "properties.state"); state != "" {
		properties(r.body)["state"] = state
	}
	s.recordWrite(r, "Succeeded")
	return nil
}

// createParents creates the group and the parents of a target where they are missing.
func (s *Simulator) createParents(t target) {
	if t.group != "" && t.kind != kindGroup {
		s.createMissing("/subscriptions/" + t.subscription + "/resourceGroups/" + t.group)
	}
	if parent := t.parentID(); t.kind == kindResource && !s.exists(parent) {
		s.createMissing(parent)
	}
}

func (s *Simulator) createMissing(id string) {
	t, ok := parseID(id)
	if !ok || s.find(id) != nil {
		return
	}
	s.createParents(t)
	r := s.store(&request{target: t, resourceType: t.resourceType()}, nil, object{"location": "westus2"})
	r.past = nil
	s.completeSyncWrite(r)
	s.recordWrite(r, "Succeeded")
}

// Patch applies a JSON merge patch to a stored resource, out of band.
func (s *Simulator) Patch(id string, patch map[string]any) error {
	return s.As(Author{}).Patch(id, patch)
}

// Patch patches a stored resource as [Simulator.Patch] does.
func (c *Client) Patch(id string, patch map[string]any) error {
	s := c.s
	defer c.lock()()
	r := s.find(id)
	if r == nil {
		return fmt.Errorf("patch %s: there is no such resource", id)
	}
	r.body = mergePatch(r.body, patch)
	r.past = nil
	r.version++
	if row := s.ruleFor(r.typ); row.onDone != nil && r.op == nil {
		row.onDone(s, r)
	}
	s.recordWrite(r, "Succeeded")
	return nil
}

// Delete removes a resource with everything below it, out of band. It reports whether
// the resource existed.
func (s *Simulator) Delete(id string) bool { return s.As(Author{}).Delete(id) }

// Delete removes a resource as [Simulator.Delete] does.
func (c *Client) Delete(id string) bool {
	s := c.s
	defer c.lock()()
	r := s.find(id)
	if r != nil {
		s.finishDelete(r)
	}
	return r != nil
}

// SetState sets a provisioning state (when not empty) and other properties, and ends
// the operation in progress. The state stays until the next write or SetState.
func (s *Simulator) SetState(id, provisioningState string, props map[string]any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.completeDueOperations()
	r := s.find(id)
	if r == nil {
		return fmt.Errorf("set state of %s: there is no such resource", id)
	}
	by := systemActor()
	if r.op != nil && !r.op.done {
		by = r.op.actor
		outcome := "Succeeded"
		if provisioningState == "Failed" || provisioningState == "Canceled" {
			outcome = provisioningState
		}
		r.op.finish(s.clock.now(), outcome)
	}
	r.op, r.hidden, r.past = nil, false, nil
	if provisioningState != "" {
		r.setState(provisioningState)
	}
	if provisioningState == "Succeeded" {
		s.finishWrite(r)
	}
	mergePatch(properties(r.body), props)
	r.version++
	defer s.actAs(by)()
	s.recordWrite(r, "Succeeded")
	return nil
}

// Resources returns the stored resources that match, in order of their IDs. An empty
// glob matches all.
func (s *Simulator) Resources(idGlob, typeGlob string) []StoredResource {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.completeDueOperations()
	out := []StoredResource{}
	for _, r := range s.below("") {
		if !globMatch(idGlob, r.id) || !globMatch(typeGlob, r.typ) {
			continue
		}
		out = append(out, StoredResource{
			ID: r.id, Type: r.typ, State: r.state(), Generation: r.generation, Busy: r.op != nil,
			Body: s.render(r), LastPut: cloneObject(r.lastPut),
		})
	}
	return out
}
