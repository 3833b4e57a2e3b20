// Package extensions owns the points at which code of one resource type takes
// part in a pass, the chain that joins several such links, the registry that
// finds them by type, and the default at the end of every chain.
//
// A link acts before the rest of its chain, after it, or instead of it:
//
//	func (KustoDatabase) PreReconcileOwnerCheck(ctx context.Context, owner *resource.Object,
//		resolver Resolver, client ARMClient, log *slog.Logger, next PreReconcileOwnerCheckFunc,
//	) (PreReconcileCheckResult, error) {
//		if owner is busy {
//			return BlockReconcile("Owning cluster is ..."), nil // instead
//		}
//		return next(ctx, owner, resolver, client, log) // the next link, at last the default
//	}
//
// A link holds no state, changes none of its inputs, and is keyed by ARM type
// and JSON path, never by a Go type of one api-version: a field that is absent
// blocks nothing. A block says "not now" in words that a user understands; a
// returned error says "this check failed", not "this resource failed". A panic
// becomes a verdict that names the link.
//
// The package knows no Temporal and sends no request of its own.
package extensions
