package extensions

import (
	"context"

	"github.com/armature-io/armature/internal/extensionshare"
)

// Purpose is why a PUT is sent.
type Purpose string

// The purposes. A creation is the first one: no read of this workflow ever showed the
// resource, and it sent no PUT before. A recreation makes a resource again that was
// deleted outside Armature. A user requests an update by a change of the manifest. No
// user requests a correction: the same spec was Ready before.
const (
	PurposeUnknown    Purpose = ""
	PurposeCreation   Purpose = "creation"
	PurposeRecreation Purpose = "recreation"
	PurposeUpdate     Purpose = "update"
	PurposeCorrection Purpose = "correction"
)

// PurposeOf returns why the PUT is sent whose body a modifier builds, PurposeUnknown
// at any other point. A modifier with an effect outside of the body (a purge) checks
// it: an effect that destroys something is for PurposeCreation alone. It is in the
// context, because the specification gives the signature of a modifier.
func PurposeOf(ctx context.Context) Purpose {
	return Purpose(extensionshare.Purpose(ctx))
}

// Forced reports whether a user asked to skip the guards against operations in
// progress. A link that only guards against one checks it before it blocks. It is in
// the context, because the specification gives the signature of a pre-check.
func Forced(ctx context.Context) bool { return extensionshare.Forced(ctx) }
