package azure

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

var _ extensions.PostReconciliationChecker = BackupInstance{}

// BackupInstanceType is the ARM type of a backup instance.
const BackupInstanceType = "Microsoft.DataProtection/backupVaults/backupInstances"

// BackupInstance is Ready when its protection has reached a final state. An error
// that a user has fixed meanwhile (a missing role) clears only when the instance
// is synchronised, so each pass that finds one starts a synchronisation.
type BackupInstance struct{}

// finalProtectionStates returns the states that do not change by themselves.
func finalProtectionStates() []string {
	return []string{
		"ConfiguringProtectionFailed", "Invalid", "NotProtected", "ProtectionConfigured", "SoftDeleted",
		"ProtectionStopped", "BackupSchedulesSuspended", "RetentionSchedulesSuspended",
	}
}

// PostReconcileCheck fails until the protection has reached a final state, and
// synchronises an instance with a user error.
func (BackupInstance) PostReconcileCheck(
	ctx context.Context,
	obj *resource.Object,
	owner *resource.Object,
	resolver extensions.Resolver,
	client extensions.ARMClient,
	log *slog.Logger,
	next extensions.PostReconcileCheckFunc,
) (extensions.PostReconcileCheckResult, error) {
	status, changing := unsettled(obj, "properties.protectionStatus.status", finalProtectionStates()...)
	if !changing {
		return next(ctx, obj, owner, resolver, client, log)
	}
	message := fmt.Sprintf("Backup Instance is in non terminal state %q", status)
	code := protectionErrorCode(obj)
	if !strings.EqualFold(status, "ProtectionError") || !strings.Contains(strings.ToLower(code), "usererror") {
		return extensions.PostReconcileCheckResultFailure(message), nil
	}
	_, err := client.Post(ctx, obj.ID, "sync", obj.APIVersion, []byte(`{"syncType":"Default"}`))
	failure, refused := errors.AsType[*arm.Error](err)
	switch {
	case refused && failure.Status == http.StatusConflict:
		message += fmt.Sprintf(" (%s): a synchronisation is in progress", code)
	case err != nil:
		return extensions.PostReconcileCheckResult{}, fmt.Errorf("synchronise the backup instance after %s: %w", code, err)
	default:
		message += fmt.Sprintf(" (%s): a synchronisation was started; fix the cause that the code names", code)
	}
	return extensions.PostReconcileCheckResultFailure(message), nil
}

// protectionErrorCode returns the code of the protection's error, "" for none.
// api-versions differ in the path.
func protectionErrorCode(obj *resource.Object) string {
	for _, path := range []string{"properties.protectionStatus.errorDetails.code", "properties.protectionErrorDetails.code"} {
		if code, _ := obj.StringAt(path); code != "" {
			return code
		}
	}
	return ""
}
