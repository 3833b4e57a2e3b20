package armsim

import (
	"cmp"
	"net/http"
	"slices"
)

// OperationRule applies a spec to matching operations. Later rules take precedence.
type OperationRule struct {
	Type string `json:"type,omitempty"` // glob over the resource type
	ID   string `json:"id,omitempty"`   // glob over the resource ID
	// On is create, update, patch (an update by PATCH), delete, put (create and update) or
	// "" (all).
	On string `json:"on,omitempty"`
	// Count is how often the rule applies; 0 means always.
	Count int           `json:"count,omitempty"`
	Spec  OperationSpec `json:"spec"`
}

// Hold selects operations that must not end, including those in progress.
type Hold struct {
	Type string `json:"type,omitempty"` // glob over the resource type
	ID   string `json:"id,omitempty"`   // glob over the resource ID
}

// Hold keeps matching operations in progress until ReleaseHolds.
func (s *Simulator) Hold(h Hold) { s.locked(func() { s.holds = append(s.holds, h) }) }

// ReleaseHolds ends all holds.
func (s *Simulator) ReleaseHolds() { s.locked(func() { s.holds = nil }) }

// AddOperationRule shapes later operations. Later rules take precedence.
func (s *Simulator) AddOperationRule(rule OperationRule) {
	s.locked(func() { s.operationRules = append(s.operationRules, rule) })
}

// Operations returns the recent operations, oldest first.
func (s *Simulator) Operations() []OperationStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.completeDueOperations()
	out := []OperationStatus{}
	for _, name := range s.operationOrder {
		op := s.operations[name]
		out = append(out, OperationStatus{
			Name: op.name, ID: op.resource.id, Verb: op.verb, Status: op.status, Done: op.done,
			Held: !op.done && s.isHeld(op), Polls: op.polls, Spec: op.spec, Start: op.start,
		})
	}
	return out
}

// matches reports whether a rule applies to an operation: create, update, patch or delete.
func (r *OperationRule) matches(on string) bool {
	switch r.On {
	case "", on:
		return true
	case "put":
		return on != "delete"
	}
	return r.On == "update" && on == "patch"
}

// specFor returns the spec of an operation, which is create, update, patch or delete: from
// the rules of the control API, then of the options, then the table.
func (s *Simulator) specFor(resourceType, id, on string) OperationSpec {
	matched := on
	if on == "patch" {
		on = "update"
	}
	row := s.ruleFor(resourceType)
	base := map[string]OperationSpec{"create": row.create, "update": row.update, "delete": row.delete}[on]
	for i := len(s.operationRules) - 1; i >= 0; i-- {
		r := &s.operationRules[i]
		if !r.matches(matched) {
			continue
		}
		if r.Count < 0 || !globMatch(r.Type, resourceType) || !globMatch(r.ID, id) {
			continue
		}
		if r.Count > 0 {
			if r.Count--; r.Count == 0 {
				r.Count = -1 // used up
			}
		}
		return fillSpec(r.Spec, base, on)
	}
	return fillSpec(base, OperationSpec{}, on)
}

func fillSpec(spec, base OperationSpec, on string) OperationSpec {
	spec.Shape = cmp.Or(spec.Shape, base.Shape, ShapeSync)
	if spec.Seconds == 0 && spec.Polls == 0 {
		spec.Seconds = base.Seconds
	}
	if spec.RetryAfter == nil {
		spec.RetryAfter = base.RetryAfter
	}
	if spec.StatusWords == nil {
		spec.StatusWords = base.StatusWords
	}
	states := map[string]string{"create": "Creating", "update": "Updating", "delete": "Deleting"}
	spec.State = cmp.Or(spec.State, base.State, states[on])
	spec.FirstState = cmp.Or(spec.FirstState, base.FirstState, spec.State)
	spec.StatusWord = cmp.Or(spec.StatusWord, base.StatusWord, "InProgress")
	spec.Outcome = cmp.Or(spec.Outcome, base.Outcome, "Succeeded")
	if spec.Outcome != "Succeeded" {
		spec.ErrorCode = cmp.Or(spec.ErrorCode, base.ErrorCode, "InternalServerError")
		spec.ErrorMessage = cmp.Or(spec.ErrorMessage, base.ErrorMessage, "The operation did not succeed.")
	}
	spec.Status = cmp.Or(spec.Status, base.Status, firstStatus(spec.Shape, on))
	spec.ErrorStatus = cmp.Or(spec.ErrorStatus, http.StatusBadRequest)
	spec.PollStatus = cmp.Or(spec.PollStatus, base.PollStatus, http.StatusOK)
	return spec
}

func firstStatus(shape Shape, on string) int {
	switch {
	case on == "delete" && shape == ShapeSync:
		return 200
	case on == "delete" || shape == ShapeLocation:
		return 202
	case on == "create":
		return 201
	}
	return 200
}

// resetOperationRules restores the rules of the options.
func (s *Simulator) resetOperationRules() {
	s.locked(func() { s.operationRules = slices.Clone(s.options.Operations) })
}
