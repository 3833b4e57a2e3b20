package azure

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

var (
	_ extensions.PreReconciliationChecker = KustoCluster{}
	_ extensions.ChildLister              = KustoCluster{}
)

// KustoClusterType is the ARM type of an Azure Data Explorer cluster.
const KustoClusterType = "Microsoft.Kusto/clusters"

// KustoCluster waits for a cluster that is changing. A stopped cluster refuses
// changes too, so it blocks when it needs a PUT, and only then: stopped and in sync
// is fine.
type KustoCluster struct{}

// PreReconcileCheck blocks while the cluster is changing, and while it is stopped
// and needs a PUT.
func (KustoCluster) PreReconcileCheck(
	ctx context.Context,
	obj *resource.Object,
	owner *resource.Object,
	resolver extensions.Resolver,
	client extensions.ARMClient,
	log *slog.Logger,
	next extensions.PreReconcileCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	state, blocks := kustoBlockingState(obj)
	if !blocks || extensions.Forced(ctx) {
		return next(ctx, obj, owner, resolver, client, log)
	}
	if strings.EqualFold(state.value, "Stopped") {
		result, err := next(ctx, obj, owner, resolver, client, log)
		if err != nil || result.Action() != resource.ActionProceed {
			return prefixStopped(result, "Cluster is in "+state.String()), err
		}
	}
	return extensions.BlockReconcile("Cluster is in " + state.String()), nil
}

// Children returns the databases, which a delete of the cluster takes along.
func (KustoCluster) Children() []string { return []string{"databases"} }

// kustoState is one state of a cluster: "provisioning state" or "state", and its
// value.
type kustoState struct {
	kind, value string
}

// String returns the state for messages: provisioning state "Updating".
func (s kustoState) String() string { return fmt.Sprintf("%s %q", s.kind, s.value) }

// kustoBlocks reports whether a cluster in a state refuses changes of itself and
// every access to its databases, even GET (409). Running and Succeeded pass. So do
// Failed and Canceled, which only a new PUT repairs, and every state that is not
// listed here: a new state of Azure must not block forever.
func kustoBlocks(state string) bool {
	switch strings.ToLower(state) {
	case "creating", "updating", "deleting", "moving", "stopped", "stopping", "starting":
		return true
	}
	return false
}

// kustoBlockingState returns the state of a cluster that refuses access, and
// whether there is one. A cluster has two: the state of its last operation
// (properties.provisioningState) and whether it runs (properties.state). A stopped
// cluster shows Succeeded in the first and Stopped in the second.
func kustoBlockingState(cluster *resource.Object) (kustoState, bool) {
	if state := cluster.ProvisioningState(); kustoBlocks(state) {
		return kustoState{kind: "provisioning state", value: state}, true
	}
	if state, _ := cluster.StringAt("properties.state"); kustoBlocks(state) {
		return kustoState{kind: "state", value: state}, true
	}
	return kustoState{}, false
}
