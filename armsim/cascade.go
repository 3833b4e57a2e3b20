package armsim

import (
	"fmt"
	"net/http"
	"strings"
)

// cascade is how a resource group goes: one resource after the other.
type cascade struct {
	order []string // IDs: users before what they use, children before parents
	gone  int
}

// newCascade orders everything in a group for deletion. A cycle of references
// ends with the resource that comes first by ID.
func (s *Simulator) newCascade(group string) *cascade {
	below := s.below(group)
	keys := make([]string, len(below))
	for i, r := range below {
		keys[i] = key(r.id)
	}
	c, seen := &cascade{}, make([]bool, len(below))
	var visit func(i int)
	visit = func(i int) {
		if seen[i] {
			return
		}
		seen[i] = true
		rule := s.useRuleFor(below[i].typ)
		for j, other := range below {
			before := strings.HasPrefix(keys[j], keys[i]) && strings.HasPrefix(keys[j][len(keys[i]):], "/")
			if !before && rule != nil {
				_, before = usePlace(rule, other, below[i].id)
			}
			if before {
				visit(j)
			}
		}
		c.order = append(c.order, below[i].id)
	}
	for i := range below {
		visit(i)
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
		due := int(float64(len(op.cascade.order)) * min(1, past.Seconds()/whole.Seconds()))
		s.advanceCascade(op.cascade, due)
	}
}

func (s *Simulator) advanceCascade(c *cascade, due int) {
	for ; c.gone < due; c.gone++ {
		r := s.find(c.order[c.gone])
		if r == nil {
			continue
		}
		if s.inUse(r) == nil {
			s.remove(r.id)
		}
	}
}

// completeGroup ends a group's deletion. What something outside the group still
// uses stays, with its parents and the group, and the operation fails.
func (s *Simulator) completeGroup(op *operation) {
	group := op.resource
	if op.cascade != nil {
		s.advanceCascade(op.cascade, len(op.cascade.order))
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
