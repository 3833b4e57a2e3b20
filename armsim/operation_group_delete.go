package armsim

import (
	"fmt"
	"net/http"
	"strings"
)

// groupDeletion is the progress of the deletion of a resource group, one resource at a
// time.
type groupDeletion struct {
	remaining []string // IDs, children before their parents
	total     int
}

// newGroupDeletion lists everything in a group for deletion.
func (s *Simulator) newGroupDeletion(group string) *groupDeletion {
	below := s.below(group)
	c := &groupDeletion{total: len(below)}
	for i := len(below) - 1; i >= 0; i-- { // a child's ID sorts after its parent's
		c.remaining = append(c.remaining, below[i].id)
	}
	return c
}

// advanceGroupDeletions removes the resources that are due by now.
func (s *Simulator) advanceGroupDeletions() {
	now := s.clock.now()
	for _, op := range s.active {
		if op.groupDeletion == nil || op.done || op.spec.Outcome != "Succeeded" || s.isHeld(op) {
			continue
		}
		whole, past := op.spec.duration(), now.Sub(op.start)
		if whole <= 0 {
			continue
		}
		restore := s.actAs(op.actor)
		s.advanceGroupDeletion(op.groupDeletion, int(float64(op.groupDeletion.total)*min(1, past.Seconds()/whole.Seconds())))
		restore()
	}
}

// advanceGroupDeletion removes resources until due of them are removed, users before
// what they use. It repeats over the remaining ones while that removes any.
func (s *Simulator) advanceGroupDeletion(d *groupDeletion, due int) {
	for before := -1; before != len(d.remaining) && d.total-len(d.remaining) < due; {
		before = len(d.remaining)
		var blocked []string
		parents := map[string]bool{} // of blocked resources
		for i, id := range d.remaining {
			if d.total-(len(blocked)+len(d.remaining)-i) >= due {
				blocked = append(blocked, d.remaining[i:]...)
				break
			}
			r := s.find(id)
			if r == nil {
				continue
			}
			if _, rule := s.findUser(r); rule == nil && !parents[key(id)] {
				s.removeOne(r)
				if standsAlone(r) {
					s.recordDelete(r)
				}
				continue
			}
			blocked = append(blocked, id)
			for up := key(id); up != ""; up = up[:strings.LastIndexByte(up, '/')] {
				parents[up] = true
			}
		}
		d.remaining = blocked
	}
}

// finishGroupDelete completes the deletion of a group. Resources that something outside
// the group still uses stay, with their parents and the group, and the operation fails.
func (s *Simulator) finishGroupDelete(op *operation) {
	group := op.resource
	if op.groupDeletion != nil {
		s.advanceGroupDeletion(op.groupDeletion, op.groupDeletion.total)
	}
	var blocked, reasons []string
	for _, r := range s.below(group.id) {
		if user, rule := s.findUser(r); rule != nil {
			blocked = append(blocked, r.id)
			reasons = append(reasons, rule.refuse(r.id, user).message)
		}
	}
	if len(blocked) == 0 {
		s.remove(group.id)
		s.recordDelete(group)
		return
	}
	group.setState("Succeeded")
	s.recordFailure(group, changeDelete, "delete")
	op.status, op.spec.ErrorStatus, op.spec.ErrorCode = "Failed", http.StatusConflict, "ResourceGroupDeletionBlocked"
	op.spec.ErrorMessage = fmt.Sprintf(
		"Deletion of resource group '%s' failed as resources with identifiers '%s' could not be deleted. The provisioning state of the resource group will be rolled back. The tracking Id is '%s'. Please check audit logs for more details.",
		group.name, strings.Join(blocked, ","), op.name)
	for i, id := range blocked {
		op.details = append(op.details, object{"code": nil, "target": id, "message": reasons[i]})
	}
}
