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
	data, err := readLimited(w, r)
	if err != nil {
		badControl("the body is too long").write(w, false)
		return
	}
	name, rest, _ := strings.Cut(strings.Trim(r.URL.Path[len("/_sim/"):], "/"), "/")
	routes := map[string]func(*http.Request, []byte, string) *answer{
		"health": s.controlHealth, "time": s.controlTime, "reset": s.controlReset, "counters": s.controlReports,
		"requests": s.controlReports, "writes": s.controlReports, "secrets": s.controlSecrets,
		"resources": s.controlResources, "state": s.controlState, "faults": s.controlFaults,
		"operations": s.controlOperations, "holds": s.controlHolds, "providers": s.controlProviders,
		"deny": s.controlDeny, "connections": s.controlConnections,
		"policies": s.controlPolicies, "types": s.controlTypes, "throttle": s.controlThrottle, "options": s.controlOptions,
	}
	route := routes[strings.ToLower(name)]
	if route == nil {
		newAnswer(http.StatusNotFound, object{"error": "unknown control path " + r.URL.Path}).write(w, false)
		return
	}
	a := route(r, data, rest)
	if a == nil {
		a = newAnswer(http.StatusMethodNotAllowed, object{"error": r.Method + " is not possible here"})
	}
	a.write(w, false)
}

func badControl(message string) *answer {
	return newAnswer(http.StatusBadRequest, object{"error": message})
}

func okControl() *answer { return newAnswer(http.StatusOK, object{"ok": true}) }

// decode reads a control body strictly: an unknown field is a mistake of a test.
func decode[T any](data []byte, then func(T) *answer) *answer {
	var value T
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		return badControl("parse body: " + err.Error())
	}
	return then(value)
}

func (s *Simulator) controlHealth(*http.Request, []byte, string) *answer {
	return newAnswer(http.StatusOK, object{"status": "ok"})
}

func (s *Simulator) controlTime(r *http.Request, data []byte, _ string) *answer {
	if r.Method == http.MethodPut {
		type input struct {
			Scale          *float64 `json:"scale"`
			AdvanceSeconds float64  `json:"advanceSeconds"`
		}
		refused := decode(data, func(in input) *answer {
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
	return newAnswer(http.StatusOK, object{"now": s.clock.now().UTC().Format(time.RFC3339Nano), "scale": s.clock.scale})
}

func (s *Simulator) controlReset(r *http.Request, _ []byte, _ string) *answer {
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
		s.policies, s.limits, s.flights = append([]Policy(nil), s.options.Policies...), nil, map[string]int{}
		s.holds, s.denials, s.registrations = nil, nil, map[string]registration{}
		s.throttle, s.buckets = s.options.Throttle, map[string]*bucket{}
	}
	return okControl()
}

func (s *Simulator) controlReports(r *http.Request, _ []byte, _ string) *answer {
	if r.Method != http.MethodGet {
		return nil
	}
	query := r.URL.Query()
	switch {
	case strings.HasSuffix(strings.Trim(r.URL.Path, "/"), "counters"):
		return newAnswer(http.StatusOK, s.Counters())
	case strings.HasSuffix(strings.Trim(r.URL.Path, "/"), "writes"):
		out := []Write{}
		for _, entry := range s.Writes() {
			if globMatch(query.Get("id"), entry.ID) {
				out = append(out, entry)
			}
		}
		return newAnswer(http.StatusOK, out)
	}
	out := []Request{}
	for _, entry := range s.Requests() {
		if globMatch(query.Get("id"), entry.ID) && globMatch(query.Get("type"), entry.Type) &&
			globMatch(query.Get("method"), entry.Method) && globMatch(query.Get("kind"), entry.Kind) {
			out = append(out, entry)
		}
	}
	return newAnswer(http.StatusOK, out)
}

func (s *Simulator) controlSecrets(r *http.Request, data []byte, _ string) *answer {
	switch r.Method {
	case http.MethodGet:
		return newAnswer(http.StatusOK, object{"values": s.Secrets()})
	case http.MethodPost:
		return decode(data, func(rule SecretRule) *answer {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.secretRules = append(s.secretRules, rule)
			return okControl()
		})
	}
	return nil
}
