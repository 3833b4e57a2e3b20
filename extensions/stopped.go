package extensions

import (
	"fmt"
	"strings"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/resource"
)

// resting is a way in which resources say that they were stopped, and that a PUT
// would start them or be refused.
type resting struct {
	// types is an ARM type, or AllTypes.
	types string
	// path leads to the word, from the top of the resource.
	path string
	// words are those of rest, in any case.
	words []string
	// start says how people start it.
	start string
	// source is where it was seen what a PUT does to it.
	source string
}

// restings is a table of paths and words. A machine is not in it: its GET does not
// show its power state, and a PUT leaves one that is deallocated as it is. Nor are
// what rests to be changed (a stream job, a trigger) and what a PUT leaves stopped
// (a web site).
func restings() []resting {
	const flexible = "with az %s flexible-server start"
	return []resting{
		{AllTypes, "properties.powerState.code", []string{"Stopped"}, "with the start action of its type (az aks start, az aks nodepool start)",
			"AKS answers 400 OperationNotAllowed: stopped, no operations except for start are allowed; the shape is that of AKS, its pools, snapshots and fleets"},
		{AllTypes, "properties.operationalState", []string{"Stopped"}, "with the start action of its type (az network application-gateway start)",
			"MicrosoftDocs/azure-docs#107660: a PUT of a stopped application gateway starts it"},
		{KustoClusterType, "properties.state", []string{kustoStopped}, "with az kusto cluster start", "recorded: a stopped cluster takes no change and starts only by its action"},
		{"Microsoft.Synapse/workspaces/kustoPools", "properties.state", []string{kustoStopped}, "with az synapse kusto pool start", "the same service as Microsoft.Kusto/clusters"},
		{PostgreSQLFlexibleServerType, postgreSQLState, []string{"Stopped"}, fmt.Sprintf(flexible, "postgres"), "turbot/steampipe-plugin-azure#1015: 400 ServerStoppedError"},
		{"Microsoft.DBforMySQL/flexibleServers", "properties.state", []string{"Stopped"}, fmt.Sprintf(flexible, "mysql"),
			"turbot/steampipe-plugin-azure#859: 409 ServerUnavailableForOperation, cannot be performed as the server is in state Stopped"},
		{"Microsoft.AppPlatform/Spring", "properties.powerState", []string{"Stopped"}, "with az spring start", "learn.microsoft.com, start or stop an Azure Spring Apps instance: a stopped one takes no operation but start and delete"},
	}
}

// stopped is the row by which a resource rests. One whose manifest states the
// power state does not: its author decides. Both are values at the same path.
func stopped(obj *resource.Object) (row resting, word string, found bool) {
	for _, row := range restings() {
		if row.types != AllTypes && !strings.EqualFold(row.types, obj.ID.Type()) {
			continue
		}
		word, _ := obj.StringAt(row.path)
		if among(word, row.words...) && !states(obj.Desired, row.path) {
			return row, word, true
		}
	}
	return resting{}, "", false
}

// Resting is the verdict that leaves a resource stopped which a PUT would start,
// and whether it is: for who reads it again right before the PUT.
func (r *Registry) Resting(obj *resource.Object) (resource.Verdict, bool) {
	row, word, rests := stopped(obj)
	if !rests {
		return resource.Verdict{}, false
	}
	return resource.Block(resource.ReasonStopped, fmt.Sprintf(
		"somebody stopped it since this pass read it (%s is %q), and a PUT would start it or be refused, so none is sent", row.path, word)), true
}

// states reports whether a body has a value at a path.
func states(body map[string]any, text string) bool {
	path, err := resource.ParsePath(text)
	if err != nil {
		return false
	}
	value, found := path.Get(body)
	return found && value != nil
}

// leftStopped leaves what somebody stopped as it is, and says what the PUT would
// change.
func leftStopped(found drift.Result, row resting, word string) PreReconcileCheckResult {
	result := differing(found)
	verdict := resource.Block(resource.ReasonStopped, fmt.Sprintf(
		"somebody stopped it (%s is %q), and a PUT would start it or be refused, so none is sent. It would change: %s. The differences are listed. "+
			"Start it %s, then armature reconcile; or state %s in the manifest, where the type takes it; armature reconcile --force sends the PUT once",
		row.path, word, result.verdict.Message, row.start, row.path))
	verdict.Differences, verdict.More, verdict.Drops = result.verdict.Differences, result.verdict.More, result.verdict.Drops
	result.verdict = verdict
	return result
}

// sayingFirst puts the words of a type before those of the default that leaves it
// stopped.
func (r PreReconcileCheckResult) sayingFirst(words string) PreReconcileCheckResult {
	if r.verdict.Reason == resource.ReasonStopped {
		r.verdict.Message = words + ": " + r.verdict.Message
	}
	return r
}
