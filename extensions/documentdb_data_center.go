package extensions

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/armature-io/armature/resource"
)

var _ PreReconciliationOwnerChecker = CassandraDataCenter{}

// Types of a managed Cassandra cluster and of its data centers.
const (
	CassandraClusterType    = "Microsoft.DocumentDB/cassandraClusters"
	CassandraDataCenterType = "Microsoft.DocumentDB/cassandraClusters/dataCenters"
)

// CassandraDataCenter waits until its cluster is done, and done well: a cluster
// that failed takes no data center.
type CassandraDataCenter struct{}

// PreReconcileOwnerCheck blocks in every state of the cluster but Succeeded.
func (CassandraDataCenter) PreReconcileOwnerCheck(
	ctx context.Context,
	owner *resource.Object,
	resolver Resolver,
	client ARMClient,
	log *slog.Logger,
	next PreReconcileOwnerCheckFunc,
) (PreReconcileCheckResult, error) {
	if isType(owner, CassandraClusterType) {
		if state, busy := unsettled(owner, provisioningState, "Succeeded"); busy {
			return BlockReconcile(fmt.Sprintf("Owning CassandraCluster is in provisioning state %q", state)), nil
		}
	}
	return next(ctx, owner, resolver, client, log)
}
