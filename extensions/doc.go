// Package extensions owns the points at which code for one resource type takes
// part in a pass, the results of such links, and the facts of types. The types
// that Armature ships with are in extensions/azure.
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
// A link has no state, changes none of its inputs, and is keyed by ARM type and
// JSON path, never by a Go type of one api-version: a field that is absent blocks
// nothing. A block means "not now" and explains why to a user. A returned error
// means that the check failed, not that the resource failed. A panic becomes a
// verdict that names the link.
//
// The package knows no Temporal and calls no link: a worker does, and a test with
// extensions/extensiontest.
package extensions
