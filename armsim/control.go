package armsim

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// serveControl answers the control API. See the package comment for its paths.
func (s *Simulator) serveControl(w http.ResponseWriter, r *http.Request) {
	data, err := readRequestBody(w, r)
	if err != nil {
		badControl("the body is too long").write(w, false)
		return
	}
	name, rest, _ := strings.Cut(strings.Trim(r.URL.Path[len("/_sim/"):], "/"), "/")
	routes := map[string]func(*http.Request, []byte, string) *response{
		"health": s.controlHealth, "time": s.controlTime, "reset": s.controlReset, "counters": s.controlReports,
		"requests": s.controlReports, "writes": s.controlReports, "secrets": s.controlSecrets,
		"resources": s.controlResources, "state": s.controlState, "faults": s.controlFaults,
		"operations": s.controlOperations, "holds": s.controlHolds, "providers": s.controlProviders,
		"deny": s.controlDeny, "connections": s.controlConnections,
		"policies": s.controlPolicies, "types": s.controlTypes, "throttle": s.controlThrottle, "options": s.controlOptions,
	}
	route := routes[strings.ToLower(name)]
	if route == nil {
		newResponse(http.StatusNotFound, object{"error": "unknown control path " + r.URL.Path}).write(w, false)
		return
	}
	resp := route(r, data, rest)
	if resp == nil {
		resp = newResponse(http.StatusMethodNotAllowed, object{"error": r.Method + " is not possible here"})
	}
	resp.write(w, false)
}

func badControl(message string) *response {
	return newResponse(http.StatusBadRequest, object{"error": message})
}

func okControl() *response { return newResponse(http.StatusOK, object{"ok": true}) }

// decode reads a control body strictly: an unknown field is a mistake of a test.
func decode[T any](data []byte, then func(T) *response) *response {
	var value T
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		return badControl("parse body: " + err.Error())
	}
	return then(value)
}

func (s *Simulator) controlHealth(*http.Request, []byte, string) *response {
	return newResponse(http.StatusOK, object{"status": "ok"})
}

func (s *Simulator) controlTime(r *http.Request, data []byte, _ string) *response {
	if r.Method == http.MethodPut {
		type input struct {
			Scale          *float64 `json:"scale"`
			AdvanceSeconds float64  `json:"advanceSeconds"`
		}
		refused := decode(data, func(in input) *response {
			if in.Scale != nil {
				if err := s.SetTimeScale(*in.Scale); err != nil {
					return badControl(err.Error())
				}
			}
			s.Advance(seconds(in.AdvanceSeconds))
			return nil
		})
		if refused != nil {
			return refused
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return newResponse(http.StatusOK, object{"now": s.clock.now().UTC().Format(time.RFC3339Nano), "scale": s.clock.scale})
}

func (s *Simulator) controlReset(r *http.Request, _ []byte, _ string) *response {
	if r.Method != http.MethodPost {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log.reset()
	if r.URL.Query().Get("all") == "true" {
		s.dropFault("")
		s.resources, s.operations, s.operationOrder = map[string]*resource{}, map[string]*operation{}, nil
		s.active = map[string]*operation{}
		s.operationRules = append([]OperationRule(nil), s.options.Operations...)
		s.policies, s.limits, s.syncWrites = append([]Policy(nil), s.options.Policies...), nil, map[string]int{}
		s.holds, s.denials, s.registrations = nil, nil, map[string]registration{}
		s.throttle, s.buckets = s.options.Throttle, map[string]*bucket{}
	}
	return okControl()
}

func (s *Simulator) controlReports(r *http.Request, _ []byte, _ string) *response {
	if r.Method != http.MethodGet {
		return nil
	}
	query := r.URL.Query()
	switch {
	case strings.HasSuffix(strings.Trim(r.URL.Path, "/"), "counters"):
		return newResponse(http.StatusOK, s.Counters())
	case strings.HasSuffix(strings.Trim(r.URL.Path, "/"), "writes"):
		out := []Write{}
		for _, entry := range s.Writes() {
			if globMatch(query.Get("id"), entry.ID) {
				out = append(out, entry)
			}
		}
		return newResponse(http.StatusOK, out)
	}
	out := []Request{}
	for _, entry := range s.Requests() {
		if globMatch(query.Get("id"), entry.ID) && globMatch(query.Get("type"), entry.Type) &&
			globMatch(query.Get("method"), entry.Method) && globMatch(query.Get("kind"), entry.Kind) {
			out = append(out, entry)
		}
	}
	return newResponse(http.StatusOK, out)
}

func (s *Simulator) controlSecrets(r *http.Request, data []byte, _ string) *response {
	switch r.Method {
	case http.MethodGet:
		return newResponse(http.StatusOK, object{"values": s.Secrets()})
	case http.MethodPost:
		return decode(data, func(rule SecretRule) *response {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.secretRules = append(s.secretRules, rule)
			return okControl()
		})
	}
	return nil
}

func (s *Simulator) controlResources(r *http.Request, data []byte, _ string) *response {
	type input struct {
		ID    string `json:"id"`
		Body  object `json:"body"`
		Patch object `json:"patch"`
	}
	query := r.URL.Query()
	switch r.Method {
	case http.MethodGet:
		return newResponse(http.StatusOK, s.Resources(query.Get("id"), query.Get("type")))
	case http.MethodPut:
		return decode(data, func(in input) *response { return resultOf(s.Put(in.ID, in.Body)) })
	case http.MethodPatch:
		return decode(data, func(in input) *response { return resultOf(s.Patch(in.ID, in.Patch)) })
	case http.MethodDelete:
		if !s.Delete(query.Get("id")) {
			return newResponse(http.StatusNotFound, object{"error": "there is no resource " + query.Get("id")})
		}
		return okControl()
	}
	return nil
}

func resultOf(err error) *response {
	if err != nil {
		return badControl(err.Error())
	}
	return okControl()
}

func (s *Simulator) controlState(r *http.Request, data []byte, _ string) *response {
	if r.Method != http.MethodPut {
		return nil
	}
	type input struct {
		ID                string `json:"id"`
		ProvisioningState string `json:"provisioningState"`
		Properties        object `json:"properties"`
	}
	return decode(data, func(in input) *response { return resultOf(s.SetState(in.ID, in.ProvisioningState, in.Properties)) })
}

func (s *Simulator) controlFaults(r *http.Request, data []byte, rest string) *response {
	id, action, _ := strings.Cut(rest, "/")
	switch {
	case r.Method == http.MethodGet:
		return newResponse(http.StatusOK, s.Faults())
	case r.Method == http.MethodPost && rest == "":
		return decode(data, func(f Fault) *response {
			f.ID = s.AddFault(f)
			return newResponse(http.StatusCreated, f)
		})
	case r.Method == http.MethodDelete, r.Method == http.MethodPost && action == "release":
		if !s.RemoveFault(id) && id != "" {
			return newResponse(http.StatusNotFound, object{"error": "there is no fault " + id})
		}
		return okControl()
	}
	return nil
}

func (s *Simulator) controlOperations(r *http.Request, data []byte, _ string) *response {
	switch r.Method {
	case http.MethodGet:
		return newResponse(http.StatusOK, s.Operations())
	case http.MethodPost:
		return decode(data, func(rule OperationRule) *response {
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

func (s *Simulator) controlHolds(r *http.Request, data []byte, _ string) *response {
	switch r.Method {
	case http.MethodPost:
		return decode(data, func(h Hold) *response {
			s.Hold(h)
			return okControl()
		})
	case http.MethodDelete:
		s.ReleaseHolds()
		return okControl()
	}
	return nil
}

func (s *Simulator) controlProviders(r *http.Request, data []byte, _ string) *response {
	if r.Method != http.MethodPut {
		return nil
	}
	type input struct {
		Namespace         string `json:"namespace"`
		RegistrationState string `json:"registrationState"`
	}
	return decode(data, func(in input) *response {
		s.SetProvider(in.Namespace, in.RegistrationState)
		return okControl()
	})
}

func (s *Simulator) controlDeny(r *http.Request, data []byte, _ string) *response {
	switch r.Method {
	case http.MethodPost:
		return decode(data, func(d Denial) *response {
			s.Deny(d)
			return okControl()
		})
	case http.MethodDelete:
		s.AllowAll()
		return okControl()
	}
	return nil
}

func (s *Simulator) controlThrottle(r *http.Request, data []byte, _ string) *response {
	if r.Method != http.MethodPut {
		return nil
	}
	return decode(data, func(t Throttle) *response {
		s.SetThrottle(t)
		return okControl()
	})
}

func (s *Simulator) controlOptions(r *http.Request, data []byte, _ string) *response {
	if r.Method != http.MethodPut {
		return nil
	}
	type input struct {
		ReadAfterWriteSeconds *float64 `json:"readAfterWriteSeconds"`
		ApprovalSeconds       *float64 `json:"approvalSeconds"`
		ManualApprovalSeconds *float64 `json:"manualApprovalSeconds"`
	}
	return decode(data, func(in input) *response {
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

func (s *Simulator) controlConnections(r *http.Request, data []byte, _ string) *response {
	if r.Method != http.MethodPost {
		return nil
	}
	return decode(data, func(a Approval) *response { return resultOf(s.Approve(a)) })
}

func (s *Simulator) controlPolicies(r *http.Request, data []byte, rest string) *response {
	switch r.Method {
	case http.MethodGet:
		s.mu.Lock()
		defer s.mu.Unlock()
		return newResponse(http.StatusOK, append([]Policy{}, s.policies...))
	case http.MethodPost:
		return decode(data, func(p Policy) *response {
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

func (s *Simulator) controlTypes(r *http.Request, data []byte, _ string) *response {
	switch r.Method {
	case http.MethodPost:
		return decode(data, func(l TypeLimit) *response {
			s.LimitType(l)
			return okControl()
		})
	case http.MethodDelete:
		s.UnlimitTypes()
		return okControl()
	}
	return nil
}
