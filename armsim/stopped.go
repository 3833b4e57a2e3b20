package armsim

import (
	"net/http"
	"strings"
)

// stoppedCluster is what AKS answers to a write of a stopped cluster (reported
// often): only start and delete are left.
func stoppedCluster(s *Simulator, t target, _ object) *answer {
	return s.refuseStopped(t, "properties.powerState.code", http.StatusBadRequest, "OperationNotAllowed",
		"Managed Cluster is in stopped state, no operations except for start are allowed.")
}

// stoppedServer is what a flexible server answers.
func stoppedServer(s *Simulator, t target, _ object) *answer {
	return s.refuseStopped(t, "properties.state", http.StatusBadRequest, "ServerStoppedError",
		"Operation cannot be performed as the server is currently in state 'Stopped'.")
}

// refuseStopped refuses a write of what says Stopped at a path.
func (s *Simulator) refuseStopped(t target, path string, status int, code, message string) *answer {
	r := s.find(t.id)
	if r == nil || !strings.EqualFold(text(r.body, path), "Stopped") {
		return nil
	}
	return armError(status, code, "%s", message)
}

// gatewayDefaults: a PUT of a stopped application gateway starts it
// (MicrosoftDocs/azure-docs#107660).
func gatewayDefaults(r *resource, body object) {
	guidDefaults(r, body)
	properties(body)["operationalState"] = "Running"
}
