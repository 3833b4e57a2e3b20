package armsim

import (
	"net/http"
	"strings"
	"time"
)

func (s *Simulator) controlResources(r *http.Request, data []byte, _ string) *answer {
	type input struct {
		ID    string `json:"id"`
		Body  object `json:"body"`
		Patch object `json:"patch"`
	}
	query := r.URL.Query()
	switch r.Method {
	case http.MethodGet:
		return newAnswer(http.StatusOK, s.Resources(query.Get("id"), query.Get("type")))
	case http.MethodPut:
		return decode(data, func(in input) *answer { return resultOf(s.Put(in.ID, in.Body)) })
	case http.MethodPatch:
		return decode(data, func(in input) *answer { return resultOf(s.Patch(in.ID, in.Patch)) })
	case http.MethodDelete:
		if !s.Delete(query.Get("id")) {
			return newAnswer(http.StatusNotFound, object{"error": "there is no resource " + query.Get("id")})
		}
		return okControl()
	}
	return nil
}

func resultOf(err error) *answer {
	if err != nil {
		return badControl(err.Error())
	}
	return okControl()
}

func (s *Simulator) controlState(r *http.Request, data []byte, _ string) *answer {
	if r.Method != http.MethodPut {
		return nil
	}
	type input struct {
		ID                string `json:"id"`
		ProvisioningState string `json:"provisioningState"`
		Properties        object `json:"properties"`
	}
	return decode(data, func(in input) *answer { return resultOf(s.SetState(in.ID, in.ProvisioningState, in.Properties)) })
}

func (s *Simulator) controlFaults(r *http.Request, data []byte, rest string) *answer {
	id, action, _ := strings.Cut(rest, "/")
	switch {
	case r.Method == http.MethodGet:
		return newAnswer(http.StatusOK, s.Faults())
	case r.Method == http.MethodPost && rest == "":
		return decode(data, func(f Fault) *answer {
			f.ID = s.AddFault(f)
			return newAnswer(http.StatusCreated, f)
		})
	case r.Method == http.MethodDelete, r.Method == http.MethodPost && action == "release":
		if !s.RemoveFault(id) && id != "" {
			return newAnswer(http.StatusNotFound, object{"error": "there is no fault " + id})
		}
		return okControl()
	}
	return nil
}

func (s *Simulator) controlOperations(r *http.Request, data []byte, _ string) *answer {
	switch r.Method {
	case http.MethodGet:
		return newAnswer(http.StatusOK, s.Operations())
	case http.MethodPost:
		return decode(data, func(rule OperationRule) *answer {
			s.AddOperationRule(rule)
			return okControl()
		})
	case http.MethodDelete:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.operationRules = append([]OperationRule(nil), s.options.Operations...)
		return okControl()
	}
	return nil
}

func (s *Simulator) controlHolds(r *http.Request, data []byte, _ string) *answer {
	switch r.Method {
	case http.MethodPost:
		return decode(data, func(h Hold) *answer {
			s.Hold(h)
			return okControl()
		})
	case http.MethodDelete:
		s.ReleaseHolds()
		return okControl()
	}
	return nil
}

func (s *Simulator) controlProviders(r *http.Request, data []byte, _ string) *answer {
	if r.Method != http.MethodPut {
		return nil
	}
	type input struct {
		Namespace         string `json:"namespace"`
		RegistrationState string `json:"registrationState"`
	}
	return decode(data, func(in input) *answer {
		s.SetProvider(in.Namespace, in.RegistrationState)
		return okControl()
	})
}

func (s *Simulator) controlDeny(r *http.Request, data []byte, _ string) *answer {
	switch r.Method {
	case http.MethodPost:
		return decode(data, func(d Denial) *answer {
			s.Deny(d)
			return okControl()
		})
	case http.MethodDelete:
		s.AllowAll()
		return okControl()
	}
	return nil
}

func (s *Simulator) controlThrottle(r *http.Request, data []byte, _ string) *answer {
	if r.Method != http.MethodPut {
		return nil
	}
	return decode(data, func(t Throttle) *answer {
		s.SetThrottle(t)
		return okControl()
	})
}

func (s *Simulator) controlOptions(r *http.Request, data []byte, _ string) *answer {
	if r.Method != http.MethodPut {
		return nil
	}
	type input struct {
		ReadAfterWriteSeconds *float64 `json:"readAfterWriteSeconds"`
		ApprovalSeconds       *float64 `json:"approvalSeconds"`
		ManualApprovalSeconds *float64 `json:"manualApprovalSeconds"`
	}
	return decode(data, func(in input) *answer {
		if in.ReadAfterWriteSeconds != nil {
			s.SetReadAfterWrite(seconds(*in.ReadAfterWriteSeconds))
		}
		if in.ApprovalSeconds != nil {
			s.SetApproval(seconds(*in.ApprovalSeconds))
		}
		if in.ManualApprovalSeconds != nil {
			s.SetManualApproval(seconds(*in.ManualApprovalSeconds))
		}
		return okControl()
	})
}

func (s *Simulator) controlConnections(r *http.Request, data []byte, _ string) *answer {
	if r.Method != http.MethodPost {
		return nil
	}
	return decode(data, func(a Approval) *answer { return resultOf(s.Approve(a)) })
}

func (s *Simulator) controlPolicies(r *http.Request, data []byte, rest string) *answer {
	switch r.Method {
	case http.MethodGet:
		s.mu.Lock()
		defer s.mu.Unlock()
		return newAnswer(http.StatusOK, append([]Policy{}, s.policies...))
	case http.MethodPost:
		return decode(data, func(p Policy) *answer {
			if effect := strings.ToLower(p.Effect); p.Name == "" || effect != "modify" && effect != "deny" {
				return badControl("a policy needs a name and the effect modify or deny")
			}
			s.AddPolicy(p)
			return okControl()
		})
	case http.MethodDelete:
		s.RemovePolicy(rest)
		return okControl()
	}
	return nil
}

func (s *Simulator) controlTypes(r *http.Request, data []byte, _ string) *answer {
	switch r.Method {
	case http.MethodPost:
		return decode(data, func(l TypeLimit) *answer {
			s.LimitType(l)
			return okControl()
		})
	case http.MethodDelete:
		s.UnlimitTypes()
		return okControl()
	}
	return nil
}

// SetReadAfterWrite sets how long (simulated) GETs lag behind writes.
func (s *Simulator) SetReadAfterWrite(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.options.ReadAfterWrite = d
}
