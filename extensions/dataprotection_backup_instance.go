package extensions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
)

var _ PostReconciliationChecker = BackupInstance{}

// BackupInstanceType is the ARM type of a backup instance.
const BackupInstanceType = "Microsoft.DataProtection/backupVaults/backupInstances"

// BackupInstance is Ready when its protection has come to an end state. An error
// that a person has mended meanwhile (a missing role) goes away only when the
// instance is synchronised, so each pass that finds one asks for that.
type BackupInstance struct{}

// protectionEnded are the states in which nothing more comes by itself.
func protectionEnded() []string {
	return []string{
		"ConfiguringProtectionFailed", "Invalid", "NotProtected", "ProtectionConfigured", "SoftDeleted",
		"ProtectionStopped", "BackupSchedulesSuspended", "RetentionSchedulesSuspended",
	}
}

// PostReconcileCheck fails until the protection has ended, and synchronises an
// instance that waits for its user.
func (BackupInstance) PostReconcileCheck(
	ctx context.Context,
	obj *resource.Object,
	owner *resource.Object,
	resolver Resolver,
	client ARMClient,
	log *slog.Logger,
	next PostReconcileCheckFunc,
) (PostReconcileCheckResult, error) {
	status, going := unsettled(obj, "properties.protectionStatus.status", protectionEnded()...)
	if !going {
		return next(ctx, obj, owner, resolver, client, log)
	}
	message := fmt.Sprintf("Backup Instance is in non terminal state %q", status)
	code := protectionErrorCode(obj)
	if !strings.EqualFold(status, "ProtectionError") || !strings.Contains(strings.ToLower(code), "usererror") {
		return PostReconcileCheckResultFailure(message), nil
	}
	_, err := client.Post(ctx, obj.ID, "sync", obj.APIVersion, []byte(`{"syncType":"Default"}`))
	var failure *arm.Error
	switch {
	case errors.As(err, &failure) && failure.Status == http.StatusConflict:
		message += fmt.Sprintf(" (%s): a synchronisation goes on", code)
	case err != nil:
		return PostReconcileCheckResult{}, fmt.Errorf("synchronise the backup instance after %s: %w", code, err)
	default:
		message += fmt.Sprintf(" (%s): a synchronisation was started; mend what the code names", code)
	}
	return PostReconcileCheckResultFailure(message), nil
}

// protectionErrorCode is the code of the protection's error, in either of the
// places that api-versions have for it.
func protectionErrorCode(obj *resource.Object) string {
	for _, path := range []string{"properties.protectionStatus.errorDetails.code", "properties.protectionErrorDetails.code"} {
		if code, _ := obj.StringAt(path); code != "" {
			return code
		}
	}
	return ""
}
