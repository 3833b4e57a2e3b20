package armsim

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

const controlPrefix = "/_sim/"

// controlHandler serves one route of the control API.
type controlHandler func(*http.Request) *response

// controlRoutes returns the routes that the package comment documents, without the
// /_sim prefix. A pattern without a method matches every method.
func (s *Simulator) controlRoutes() map[string]controlHandler {
	type resourceInput struct {
		ID    string `json:"id"`
		Body  object `json:"body"`
		Patch object `json:"patch"`
		By    Author `json:"by"`
	}
	type stateInput struct {
		ID                string `json:"id"`
		ProvisioningState string `json:"provisioningState"`
		Properties        object `json:"properties"`
	}
	type providerInput struct {
		Namespace         string `json:"namespace"`
		RegistrationState string `json:"registrationState"`
	}
	type actInput struct {
		ID    string `json:"id"`
		Path  string `json:"path"`
		Value any    `json:"value"`
	}
	type moveInput struct {
		ID    string `json:"id"`
		Group string `json:"group"`
	}
	return map[string]controlHandler{
		"/health":   view(func(url.Values) any { return object{"status": "ok"} }),
		"/time":     view(s.simulatedTime),
		"PUT /time": s.controlTime,
		"POST /reset": func(r *http.Request) *response {
			s.resetState(r.URL.Query().Get("all") == "true")
			return okControl()
		},

		"GET /counters": view(func(url.Values) any { return s.Counters() }),
		"GET /requests": view(s.matchingRequests),
		"GET /writes":   view(s.matchingWrites),
		"GET /changes":  view(s.matchingChanges),
		"GET /secrets":  view(func(url.Values) any { return object{"values": s.Secrets()} }),
		"POST /secrets": command(s.addSecretRule),

		"GET /resources":   view(func(query url.Values) any { return s.Resources(query.Get("id"), query.Get("type")) }),
		"PUT /resources":   checkedCommand(func(in resourceInput) error { return s.As(in.By).Put(in.ID, in.Body) }),
		"PATCH /resources": checkedCommand(func(in resourceInput) error { return s.As(in.By).Patch(in.ID, in.Patch) }),
		"DELETE /resources": func(r *http.Request) *response {
			query := r.URL.Query()
			id := query.Get("id")
			by := Author{Name: query.Get("by"), Type: query.Get("byType"), Client: query.Get("client"), System: query.Get("system") == "true"}
			if !s.As(by).Delete(id) {
				return controlError(http.StatusNotFound, "there is no resource "+id)
			}
			return okControl()
		},
		"PUT /state": checkedCommand(func(in stateInput) error { return s.SetState(in.ID, in.ProvisioningState, in.Properties) }),

		"GET /faults":               view(func(url.Values) any { return s.Faults() }),
		"POST /faults":              s.controlAddFault,
		"DELETE /faults":            s.controlRemoveFault,
		"DELETE /faults/{id}":       s.controlRemoveFault,
		"POST /faults/{id}/release": s.controlRemoveFault,
		"GET /operations":           view(func(url.Values) any { return s.Operations() }),
		"POST /answers":             command(s.AnswerType),
		"POST /operations":          command(s.AddOperationRule),
		"DELETE /operations":        trigger(s.resetOperationRules),
		"POST /holds":               command(s.Hold),
		"DELETE /holds":             trigger(s.ReleaseHolds),
		"PUT /providers":            command(func(in providerInput) { s.SetProvider(in.Namespace, in.RegistrationState) }),
		"POST /deny":                command(s.Deny),
		"DELETE /deny":              trigger(s.AllowAll),
		"PUT /throttle":             command(s.SetThrottle),
		"PUT /options":              command(s.changeOptions),
		"PUT /reports":              command(s.changeReports),
		"GET /queues":               view(func(url.Values) any { return s.Queues() }),
		"POST /queues":              checkedCommand(s.SubscribeQueue),
		"POST /queues/messages":     checkedCommand(s.PoisonQueue),
		"GET /policies":             view(func(url.Values) any { return s.listPolicies() }),
		"POST /policies":            checkedCommand(s.AddPolicy),
		"DELETE /policies":          s.controlRemovePolicy,
		"DELETE /policies/{name}":   s.controlRemovePolicy,
		"GET /vaults":               view(func(url.Values) any { return s.VaultSecrets() }),
		"PUT /vaults":               command(s.ChangeVault),
		"POST /vaults/deny":         command(s.DenyVault),
		"DELETE /vaults/deny":       trigger(s.AllowVaults),
		"POST /keys":                checkedCommand(s.RegenerateKey),
		"POST /types":               command(s.LimitType),
		"DELETE /types":             trigger(s.UnlimitTypes),
		"POST /connections":         checkedCommand(s.Approve),
		"POST /act":                 checkedCommand(func(in actInput) error { return s.Act(in.ID, in.Path, in.Value) }),
		"POST /moves":               checkedCommand(func(in moveInput) error { return s.Move(in.ID, in.Group) }),
	}
}

// newControlMux registers the routes, and a 405 for the other methods of each path.
func (s *Simulator) newControlMux() *http.ServeMux {
	routes := s.controlRoutes()
	for pattern := range maps.Clone(routes) {
		if _, path, ok := strings.Cut(pattern, " "); ok && routes[path] == nil {
			routes[path] = func(r *http.Request) *response {
				return controlError(http.StatusMethodNotAllowed, r.Method+" is not possible here")
			}
		}
	}
	mux := http.NewServeMux()
	for pattern, serve := range routes {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { serve(r).write(w, false) })
	}
	return mux
}

// serveControl routes a request of the control API. The first segment after /_sim/ is
// matched without regard to case, and a trailing slash is ignored.
func (s *Simulator) serveControl(w http.ResponseWriter, r *http.Request) {
	name, rest, nested := strings.Cut(strings.Trim(r.URL.Path[len(controlPrefix):], "/"), "/")
	path := "/" + strings.ToLower(name)
	if nested {
		path += "/" + rest
	}
	routed := r.WithContext(r.Context()) // a copy
	routed.URL = &url.URL{Path: path, RawQuery: r.URL.RawQuery}
	routed.Body = http.MaxBytesReader(w, r.Body, maxBodyBytes)
	if _, pattern := s.control.Handler(routed); pattern == "" {
		controlError(http.StatusNotFound, "unknown control path "+r.URL.Path).write(w, false)
		return
	}
	s.control.ServeHTTP(w, routed)
}

func controlError(status int, message string) *response {
	return newResponse(status, object{"error": message})
}

func badControl(message string) *response { return controlError(http.StatusBadRequest, message) }

func okControl() *response { return newResponse(http.StatusOK, object{"ok": true}) }

// decodeControl decodes a body strictly, because an unknown field is a mistake in a
// test. It returns the refusal, or nil.
func decodeControl(r *http.Request, into any) *response {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return badControl("parse body: " + err.Error())
	}
	return nil
}

// view serves the result of read for the query.
func view(read func(url.Values) any) controlHandler {
	return func(r *http.Request) *response { return newResponse(http.StatusOK, read(r.URL.Query())) }
}

// checkedCommand runs do with the decoded body. An error of do is a 400.
func checkedCommand[T any](do func(T) error) controlHandler {
	return func(r *http.Request) *response {
		var in T
		if refused := decodeControl(r, &in); refused != nil {
			return refused
		}
		if err := do(in); err != nil {
			return badControl(err.Error())
		}
		return okControl()
	}
}

// command runs do with the decoded body.
func command[T any](do func(T)) controlHandler {
	return checkedCommand(func(in T) error {
		do(in)
		return nil
	})
}

// trigger runs do and ignores the body.
func trigger(do func()) controlHandler {
	return func(*http.Request) *response {
		do()
		return okControl()
	}
}

func (s *Simulator) simulatedTime(url.Values) any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return object{"now": s.clock.now().UTC().Format(time.RFC3339Nano), "scale": s.clock.scale}
}

func (s *Simulator) controlTime(r *http.Request) *response {
	var in struct {
		Scale          *float64 `json:"scale"`
		AdvanceSeconds float64  `json:"advanceSeconds"`
	}
	if refused := decodeControl(r, &in); refused != nil {
		return refused
	}
	if in.Scale != nil {
		if err := s.SetTimeScale(*in.Scale); err != nil {
			return badControl(err.Error())
		}
	}
	s.Advance(seconds(in.AdvanceSeconds))
	return newResponse(http.StatusOK, s.simulatedTime(nil))
}

// optionsInput contains the options that can change while the simulator runs. Absent
// fields keep their value.
type optionsInput struct {
	ReadAfterWriteSeconds *float64 `json:"readAfterWriteSeconds"`
	ApprovalSeconds       *float64 `json:"approvalSeconds"`
	ManualApprovalSeconds *float64 `json:"manualApprovalSeconds"`
}

func (s *Simulator) changeOptions(in optionsInput) {
	s.mu.Lock()
	defer s.mu.Unlock()
	set := func(option *time.Duration, value *float64) {
		if value != nil {
			*option = seconds(*value)
		}
	}
	set(&s.options.ReadAfterWrite, in.ReadAfterWriteSeconds)
	set(&s.options.Approval, in.ApprovalSeconds)
	set(&s.options.ManualApproval, in.ManualApprovalSeconds)
}

func (s *Simulator) matchingRequests(query url.Values) any {
	return slices.DeleteFunc(s.Requests(), func(entry Request) bool {
		return !globMatch(query.Get("id"), entry.ID) || !globMatch(query.Get("type"), entry.Type) ||
			!globMatch(query.Get("method"), entry.Method) || !globMatch(query.Get("kind"), entry.Kind)
	})
}

func (s *Simulator) matchingWrites(query url.Values) any {
	return slices.DeleteFunc(s.Writes(), func(entry Write) bool { return !globMatch(query.Get("id"), entry.ID) })
}

func (s *Simulator) matchingChanges(query url.Values) any {
	return slices.DeleteFunc(s.Changes(), func(entry Change) bool {
		return !globMatch(query.Get("id"), entry.ID) || !globMatch(query.Get("type"), entry.Type) || !globMatch(query.Get("by"), entry.ChangedBy)
	})
}

func (s *Simulator) controlAddFault(r *http.Request) *response {
	var f Fault
	if refused := decodeControl(r, &f); refused != nil {
		return refused
	}
	f.ID = s.AddFault(f)
	return newResponse(http.StatusCreated, f)
}

func (s *Simulator) controlRemoveFault(r *http.Request) *response {
	id := r.PathValue("id")
	if !s.RemoveFault(id) && id != "" {
		return controlError(http.StatusNotFound, "there is no fault "+id)
	}
	return okControl()
}

func (s *Simulator) controlRemovePolicy(r *http.Request) *response {
	s.RemovePolicy(r.PathValue("name"))
	return okControl()
}
