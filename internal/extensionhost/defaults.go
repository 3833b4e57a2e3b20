package extensionhost

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/extensionshare"
	"github.com/armature-io/armature/resource"
)

// defaultOwnerChecker ends the chain of owner checkers. It blocks when the owner
// is absent or, where it is the parent in ARM, changing, stopped, or in another state
// in which its type refuses changes. A resource group refuses only while it is deleted;
// a scope of an extension resource refuses nothing.
type defaultOwnerChecker struct {
	registry *Registry
	id       resource.ID
	note     string
}

func (d defaultOwnerChecker) check(ctx context.Context, owner *resource.Object, resolver extensions.Resolver, _ extensions.ARMClient, _ *slog.Logger) (extensions.PreReconcileCheckResult, error) {
	verdict := d.decide(owner)
	if !verdict.Stops() && d.id.IsChild() {
		if above, held := d.registry.refusesBelow(ctx, d.id.Owner(), resolver); held != nil {
			verdict = held.block(resource.ReasonReconciliationBlocked, held.text)
			verdict.WaitingFor = []resource.ID{above}
		}
	}
	return extensions.PreReconcileCheckResult(ofDefault(verdict)), nil
}

func (d defaultOwnerChecker) decide(owner *resource.Object) resource.Verdict {
	state := owner.ProvisioningState()
	switch {
	case owner == nil && d.note != "":
		return resource.Proceed(fmt.Sprintf("%s: %s", ownerText(d.id.Owner()), d.note))
	case owner == nil:
		return resource.Proceed("There is no owner to check")
	case !owner.Exists():
		return resource.Block(resource.ReasonWaitingForOwner, ownerText(owner.ID)+" does not exist in Azure")
	case strings.EqualFold(owner.ID.Type(), resource.TypeResourceGroup) && strings.EqualFold(state, "Deleting"):
		return resource.Block(resource.ReasonReconciliationBlocked, fmt.Sprintf("%s is in provisioning state %q", ownerText(owner.ID), state))
	case d.id.IsChild() && d.registry.OwnerToRead(d.id).Equal(owner.ID):
		if held := d.registry.refusesChildren(owner); held != nil {
			return held.block(resource.ReasonReconciliationBlocked, held.text)
		}
	}
	return resource.Proceed(ownerText(owner.ID) + " allows changes")
}

// defaultPreChecker ends the chain of pre-checkers. It blocks while an operation is
// in progress, then compares.
type defaultPreChecker struct {
	registry *Registry
	request  Request
}

// failedStateRule is the rule of the difference that a failed resource counts as.
const failedStateRule = "failed-state"

// forceHintAfter is longer than nearly every operation in recorded traffic (the
// longest PUT took 51 minutes).
const forceHintAfter = 2 * time.Hour

func (d defaultPreChecker) check(_ context.Context, obj, _ *resource.Object, _ extensions.Resolver, _ extensions.ARMClient, _ *slog.Logger) (extensions.PreReconcileCheckResult, error) {
	return extensions.PreReconcileCheckResult(ofDefault(d.decide(obj))), nil
}

func (d defaultPreChecker) decide(obj *resource.Object) resource.Verdict {
	if !obj.Exists() {
		verdict := resource.Proceed("The resource does not exist in Azure and will be created")
		verdict.Reason = resource.ReasonNotFound
		return verdict
	}
	state := obj.ProvisioningState()
	if d.registry.InFlight(obj.ID.Type(), state) && !d.request.Force {
		message := fmt.Sprintf("The resource is in provisioning state %q: an operation is in progress", state)
		if d.request.BlockedFor >= forceHintAfter {
			message += "; if none is, armature reconcile --force skips this check once"
		}
		return resource.Block(resource.ReasonOperationInProgress, message)
	}
	if busy := d.registry.busyState(obj); busy != nil && !d.request.Force {
		return busy.block(resource.ReasonOperationInProgress, "The resource is busy: "+busy.text)
	}
	found := drift.Compare(obj.Desired, obj.Observed, d.request.Comparison())
	if d.request.Force {
		found.Differences, found.Contested = append(found.Differences, found.Contested...), nil
	}
	if resource.Broken(state) {
		found.Differences = append([]resource.Difference{{
			Path: "properties.provisioningState", Desired: `"Succeeded"`, Observed: strconv.Quote(state), Rule: failedStateRule,
		}}, found.Differences...)
	}
	switch {
	case len(found.Differences) > 0:
		if state, value, stopped := d.registry.stoppedState(obj); stopped && !d.request.Force {
			return blockStopped(found, state, value)
		}
		return differing(found)
	case len(found.Contested) > 0:
		return contested(found, obj)
	}
	if held := HeldVerdict(obj.ID, found); held != nil {
		return *held
	}
	return inSync(found)
}

// inSync returns a skip. Its message lists what still differs and gets no PUT: a
// change that Azure did not apply is a warning, what it always kept is a note.
func inSync(found drift.Result) resource.Verdict {
	result := extensions.SkipReconcile("In sync: Azure matches the manifest")
	switch {
	case len(found.NotTaken) > 0:
		result = extensions.SkipReconcile("Azure accepted the last PUT and "+found.NotTakenText(),
			extensions.WithReason(resource.ReasonChangeNotTaken), extensions.WithSeverity(resource.SeverityWarning))
	case len(found.Accepted) > 0:
		result = extensions.SkipReconcile("In sync, except values that Azure kept after the last PUT: " + found.AcceptedText())
	}
	verdict := extensionshare.Result(result).Verdict()
	verdict.Message += found.UnverifiedText()
	if len(found.Owned) > 0 {
		verdict.Message += "; kept: " + ownedText(found.Owned)
	}
	if len(found.Children) > 0 {
		verdict.Message += "; it has children that the manifest does not list: " + summarize(found.Children)
	}
	return verdict
}

// ownedText names the first values of other owners and the number of the others.
func ownedText(owned []drift.Owned) string {
	texts := make([]string, len(owned))
	for i, value := range owned {
		texts[i] = value.String()
	}
	return summarize(texts)
}

// contested returns a block for values that another tool or user changes after
// every PUT.
func contested(found drift.Result, obj *resource.Object) resource.Verdict {
	first := found.Contested[0]
	message := fmt.Sprintf("%s was corrected %d times and is %s again, desired %s", first.Path, drift.ContestedAfter, first.Observed, first.Desired)
	if others := len(found.Contested) - 1; others > 0 {
		message += fmt.Sprintf(" (and %d more)", others)
	}
	if writer, known := obj.StringAt("systemData.lastModifiedBy"); known {
		message += "; the resource was last modified by " + writer
	}
	message += "; stop the other writer, set its value in the manifest, or ignore the path; armature reconcile --force corrects it once"
	verdict := resource.Block(resource.ReasonContested, message)
	verdict.Differences = found.Contested
	return verdict
}

// summarize returns the first paths and the number of the others.
func summarize(paths []string) string { return summarizeOf(paths, len(paths)) }

// summarizeOf is summarize for paths of a larger number.
func summarizeOf(paths []string, number int) string {
	const maxPaths = 3
	shown := paths[:min(len(paths), maxPaths)]
	if number <= len(shown) {
		return strings.Join(shown, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(shown, ", "), number-len(shown))
}

// differing returns a proceed with the differences.
func differing(found drift.Result) resource.Verdict {
	if extra := len(found.Differences) - resource.MaxDifferences; extra > 0 {
		found.Differences, found.More = found.Differences[:resource.MaxDifferences], found.More+extra
	}
	first := found.Differences[0]
	message := fmt.Sprintf("%s is %s, desired %s", first.Path, first.Observed, first.Desired)
	if others := len(found.Differences) - 1 + found.More; others > 0 {
		message += fmt.Sprintf(" (and %d more)", others)
	}
	if len(found.Drops.Paths) > 0 {
		message += "; the PUT removes what the manifest does not set: " + DropsText(found.Drops)
	}
	verdict := resource.Proceed(message)
	verdict.Drops, verdict.MoreDrops = found.Drops.Paths, found.Drops.More
	verdict.Reason = resource.ReasonDrift
	verdict.Differences, verdict.More = found.Differences, found.More
	return verdict
}

// defaultPostCheck ends the chain of post-checkers. It succeeds for a resource that
// exists and is neither failed nor changing. Unknown states pass.
func (r *Registry) defaultPostCheck(_ context.Context, obj, _ *resource.Object, _ extensions.Resolver, _ extensions.ARMClient, _ *slog.Logger) (extensions.PostReconcileCheckResult, error) {
	result, origin := r.postResult(obj)
	(*extensionshare.Result)(&result).Claim(origin)
	return result, nil
}

// postResult returns the result of the default, with the origin of a fact that decided it.
func (r *Registry) postResult(obj *resource.Object) (result extensions.PostReconcileCheckResult, origin string) {
	state := obj.ProvisioningState()
	switch {
	case !obj.Exists():
		return extensions.PostReconcileCheckResultFailure("Azure does not show the resource yet"), ""
	case resource.Broken(state), r.InFlight(obj.ID.Type(), state):
		return extensions.PostReconcileCheckResultFailure(fmt.Sprintf("The resource is in provisioning state %q", state)), ""
	}
	if busy := r.busyState(obj); busy != nil {
		return extensions.PostReconcileCheckResultFailure("The resource is busy: " + busy.text), factOrigin(busy.source)
	}
	return extensions.PostReconcileCheckResultSuccess(), ""
}

// ownerText returns an owner for messages: Owner "c1" (Microsoft.Kusto/clusters).
func ownerText(id resource.ID) string {
	return fmt.Sprintf("Owner %q (%s)", id.Short(), id.Type())
}
