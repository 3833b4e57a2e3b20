package azure

import (
	"context"
	"log/slog"
	"strings"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

var _ extensions.PreReconciliationOwnerChecker = KustoDatabase{}

// KustoDatabaseType is the ARM type of a database of an Azure Data Explorer
// cluster.
const KustoDatabaseType = "Microsoft.Kusto/clusters/databases"

// KustoDatabase leaves a database alone, GET included, while its cluster refuses
// all access to it.
type KustoDatabase struct{}

// PreReconcileOwnerCheck blocks while the owning cluster is changing or stopped.
func (KustoDatabase) PreReconcileOwnerCheck(
	ctx context.Context,
	owner *resource.Object,
	resolver extensions.Resolver,
	client extensions.ARMClient,
	log *slog.Logger,
	next extensions.PreReconcileOwnerCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	// The owner is nil when it could not be read; the default reports that.
	if owner != nil && strings.EqualFold(owner.ID.Type(), KustoClusterType) {
		if state, blocks := kustoBlockingState(owner); blocks {
			return extensions.BlockReconcile("Owning cluster is in " + state.String()), nil
		}
	}
	return next(ctx, owner, resolver, client, log)
}
