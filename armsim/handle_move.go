package armsim

import (
	"fmt"
	"net/http"
	"strings"
)

// moveSeconds is how long a move takes; Azure allows itself four hours.
const moveSeconds = 300

// handleMove serves POST {group}/moveResources: 202, and at the end of the operation the
// resources have IDs in the target group. They keep what identifies them; the old IDs
// are absent.
func (s *Simulator) handleMove(q *request) *response {
	if q.r.Method != http.MethodPost {
		return errMethod(q.r.Method)
	}
	if resp := s.checkParents(q, "write"); resp != nil {
		return resp
	}
	body, refused := readBody(q)
	if refused != nil {
		return refused
	}
	group, _ := body["targetResourceGroup"].(string)
	list, _ := body["resources"].([]any)
	if s.find(group) == nil {
		return armError(http.StatusNotFound, "ResourceGroupNotFound", "Resource group '%s' could not be found.", group)
	}
	if len(list) == 0 {
		return armError(http.StatusBadRequest, "MoveResourcesHasNoResources", "The move resources request does not contain any resources.")
	}
	source := "/subscriptions/" + q.target.subscription + "/resourceGroups/" + q.target.group
	var ids []string
	for _, item := range list {
		id, _ := item.(string)
		r := s.visible(s.find(id))
		switch t, ok := parseID(id); {
		case !ok || t.kind != kindResource || len(t.types) != 1 || !strings.HasPrefix(key(id), key(source)+"/"):
			return armError(http.StatusBadRequest, "InvalidMoveResourceId", "The resource '%s' cannot be moved from the resource group '%s'.", id, q.target.group)
		case r == nil:
			return errNotFound(t)
		}
		if resp := s.checkBusy(q, s.find(id)); resp != nil {
			return resp
		}
		ids = append(ids, id)
	}
	spec := s.specFor(groupType, source, "update")
	spec.Shape = ShapeLocation
	if spec.Seconds == 0 && spec.Polls == 0 {
		spec.Seconds = moveSeconds
	}
	op := s.newOperation(target{kind: kindGroup, subscription: q.target.subscription, group: q.target.group, id: source}, s.find(source), "move", spec, q)
	op.detached, op.moving = true, []string{source, group}
	op.onEnd = func() {
		for _, id := range ids {
			s.rename(id, group)
		}
	}
	resp := newResponse(http.StatusAccepted, nil)
	s.setOperationHeaders(resp, op, q)
	return resp
}

// Move moves a resource with its children to another group out of band, at once. It
// creates the group where it is missing.
func (s *Simulator) Move(id, group string) error {
	defer s.As(Author{}).lock()()
	t, ok := parseID(id)
	if g, isGroup := parseID(group); !ok || t.kind != kindResource || len(t.types) != 1 || !isGroup || g.kind != kindGroup {
		return fmt.Errorf("move %s to %s: only a top-level resource moves, and only to a group", id, group)
	}
	if s.find(id) == nil {
		return fmt.Errorf("move %s: there is no such resource", id)
	}
	s.createMissing(group)
	s.rename(id, group)
	return nil
}

// rename gives a resource and everything below it the IDs of another group. A moved
// resource is a deleted one and a new one to those that read changes.
func (s *Simulator) rename(id, group string) {
	t, _ := parseID(id)
	moved := append(s.below(id), s.find(id))
	for _, r := range moved {
		if r == nil {
			continue
		}
		delete(s.resources, key(r.id))
		left := *r
		r.id = group + r.id[len(t.scope):]
		r.version++
		s.resources[key(r.id)] = r
		if standsAlone(r) {
			r.snapshot, r.indexed = nil, nil
			s.recordDelete(&left)
			s.recordWrite(r, "Succeeded")
		}
	}
}

// checkMoves refuses writes in the groups of a move until it has ended
// (learn.microsoft.com/azure/azure-resource-manager/management/move-resource-group-and-subscription).
func (s *Simulator) checkMoves(q *request) *response {
	switch q.r.Method {
	case http.MethodPut, http.MethodPatch, http.MethodDelete:
	default:
		return nil
	}
	for _, op := range s.active {
		for _, group := range op.moving {
			if !op.done && strings.HasPrefix(key(q.target.id)+"/", key(group)+"/") {
				return armError(http.StatusConflict, "Conflict", "The resource group '%s' is locked: resources are being moved.", group)
			}
		}
	}
	return nil
}
