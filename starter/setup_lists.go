package starter

import (
	"net/url"
	"strings"

	"github.com/armature-io/armature/internal/searchattr"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// webList is a list of resources in the Temporal Web UI.
type webList struct{ name, query string }

// webLists returns the lists that users look for. All show running workflows of resources.
func webLists() []webList {
	var persons []string
	for _, info := range resource.Reasons() {
		if info.Actor != "" {
			persons = append(persons, string(info.Reason))
		}
	}
	phase := func(phases ...workflows.Phase) string {
		var names []string
		for _, p := range phases {
			names = append(names, string(p))
		}
		return searchattr.ReconcilePhase + in(names)
	}
	return []webList{
		{"not ready", searchattr.ReconcilePhase + " != '" + string(workflows.PhaseReady) + "'"},
		{"needs a person", "(" + phase(workflows.PhaseFailed, workflows.PhasePaused) + " OR " + searchattr.ReconcileReason + in(persons) + ")"},
		{"frozen or held", searchattr.ReconcileReason + in([]string{string(resource.ReasonFrozen), string(resource.ReasonHeld)})},
		{"deleting", phase(workflows.PhaseDeleting)},
		{"label env=prod", searchattr.ReconcileLabels + " = 'env=prod'"},
	}
}

// in returns the condition that an attribute has one of the values.
func in(values []string) string { return " IN ('" + strings.Join(values, "', '") + "')" }

// printWebLists prints the address of each list below the base address of the Web UI.
func (a *app) printWebLists(webUI, namespace string) {
	if webUI == "" {
		return
	}
	a.printf("\nlists in the Temporal Web UI:\n")
	for _, list := range webLists() {
		query := "WorkflowType = '" + workflows.ReconcileResourceWorkflow + "' AND ExecutionStatus = 'Running' AND " + list.query
		a.printf("%-15s %s/namespaces/%s/workflows?query=%s\n", list.name, strings.TrimSuffix(webUI, "/"), url.PathEscape(namespace), url.QueryEscape(query))
	}
}
