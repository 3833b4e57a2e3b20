package extensions

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/armature-io/armature/resource"
)

var (
	_ PreReconciliationChecker = KustoCluster{}
	_ ChildLister              = KustoCluster{}
)

// KustoClusterType is the ARM type of an Azure Data Explorer cluster.
const KustoClusterType = "Microsoft.Kusto/clusters"

// KustoCluster waits for a cluster that is changing. A stopped cluster refuses
// changes too, so it blocks the PUT, and only the PUT: stopped and in sync is a
// fine state to be in.
type KustoCluster struct{}

// PreReconcileCheck blocks while the cluster is changing; a stopped one, when
// there is something to change.
func (KustoCluster) PreReconcileCheck(
	ctx context.Context,
	obj *resource.Object,
	owner *resource.Object,
	resolver Resolver,
	client ARMClient,
	log *slog.Logger,
	next PreReconcileCheckFunc,
) (PreReconcileCheckResult, error) {
	state, blocks := kustoBlockingState(obj)
	if !blocks || Forced(ctx) {
		return next(ctx, obj, owner, resolver, client, log)
	}
	if strings.EqualFold(state.word, kustoStopped) {
		result, err := next(ctx, obj, owner, resolver, client, log)
		if err != nil || result.Action() != resource.ActionProceed {
			return result.sayingFirst("Cluster is in " + state.String()), err
		}
	}
	return BlockReconcile("Cluster is in " + state.String()), nil
}

// Children are the databases, which go with the cluster.
func (KustoCluster) Children() []string { return []string{"databases"} }

// kustoState is one word of a cluster and the property that says it.
type kustoState struct {
	kind, word string
}

// String is for messages: provisioning state "Updating".
func (s kustoState) String() string { return fmt.Sprintf("%s %q", s.kind, s.word) }

const kustoStopped = "Stopped"

// kustoBlocking are the words, in lower case, with which a cluster refuses
// changes of itself and every access to its databases, even GET (409). Running
// and Succeeded pass; so do Failed and Canceled, which only a new PUT heals, and
// every word that is not here: a new word of Azure must not block for ever.
func kustoBlocking(word string) bool {
	switch strings.ToLower(word) {
	case "creating", "updating", "deleting", "moving", "stopped", "stopping", "starting":
		return true
	}
	return false
}

// kustoBlockingState reads both states of a cluster: what its last operation
// does (properties.provisioningState) and whether it runs (properties.state). A
// cluster that was stopped says Succeeded in the first and Stopped in the
// second.
func kustoBlockingState(cluster *resource.Object) (kustoState, bool) {
	if word := cluster.ProvisioningState(); kustoBlocking(word) {
		return kustoState{kind: "provisioning state", word: word}, true
	}
	if word, _ := cluster.StringAt("properties.state"); kustoBlocking(word) {
		return kustoState{kind: "state", word: word}, true
	}
	return kustoState{}, false
}
