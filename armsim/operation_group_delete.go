package armsim

import (
	"fmt"
	"net/http"
	"strings"
)

// cascade is how a resource group goes: one resource after the other.
type cascade struct {
	left []string // IDs, children before their parents
	all  int
}

// newCascade lists everything in a group for deletion.
func (s *Simulator) newCascade(group string) *cascade {
	below := s.below(group)
	c := &cascade{all: len(below)}
	for i := len(below) - 1; i >= 0; i-- { // a child's ID sorts behind its parent's
		c.left = append(c.left, below[i].id)
	}
	return c
}

// advanceCascades removes what should be gone by now in groups that are going.
func (s *Simulator) advanceCascades() {
	now := s.clock.now()
	for _, op := range s.active {
		if op.cascade == nil || op.done || op.spec.Outcome != "Succeeded" || s.held(op) {
			continue
		}
		whole, past := op.spec.duration(), now.Sub(op.start)
		if whole <= 0 {
			continue
		}
		s.advanceCascade(op.cascade, int(float64(op.cascade.all)*min(1, past.Seconds()/whole.Seconds())))
	}
}

// advanceCascade removes resources until so many are gone, users before what
// they use: it goes over the rest again and again while something goes.
func (s *Simulator) advanceCascade(c *cascade, due int) {
	for before := -1; before != len(c.left) && c.all-len(c.left) < due; {
		before = len(c.left)
		var kept []string
		parents := map[string]bool{} // of what stays
		for i, id := range c.left {
			if c.all-(len(kept)+len(c.left)-i) >= due {
				kept = append(kept, c.left[i:]...)
				break
			}
			r := s.find(id)
			if r == nil {
				continue
			}
			if _, rule := s.userOf(r); rule == nil && !parents[key(id)] {
				s.drop(r)
				continue
			}
			kept = append(kept, id)
			for up := key(id); up != ""; up = up[:strings.LastIndexByte(up, '/')] {
				parents[up] = true
			}
		}
		c.left = kept
	}
}

// completeGroup ends a group's deletion. What something outside the group still
// uses stays, with its parents and the group, and the operation fails.
func (s *Simulator) completeGroup(op *operation) {
	group := op.resource
	if op.cascade != nil {
		s.advanceCascade(op.cascade, op.cascade.all)
	}
	var kept, reasons []string
	for _, r := range s.below(group.id) {
		if user, rule := s.userOf(r); rule != nil {
			kept = append(kept, r.id)
			reasons = append(reasons, rule.refuse(r.id, user).message)
		}
	}
	if len(kept) == 0 {
		s.remove(group.id)
		return
	}
	group.setState("Succeeded")
	op.status, op.spec.ErrorStatus, op.spec.ErrorCode = "Failed", http.StatusConflict, "ResourceGroupDeletionBlocked"
	op.spec.ErrorMessage = fmt.Sprintf(
		"Deletion of resource group '%s' failed as resources with identifiers '%s' could not be deleted. The provisioning state of the resource group will be rolled back. The tracking Id is '%s'. Please check audit logs for more details.",
		group.name, strings.Join(kept, ","), op.name)
	for i, id := range kept {
		op.details = append(op.details, object{"code": nil, "target": id, "message": reasons[i]})
	}
}
