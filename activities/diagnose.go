package activities

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
)

// DiagnoseInput selects what a worker checks.
type DiagnoseInput struct {
	// ID, when set, adds a check of the rights at that resource.
	ID resource.ID `json:"id,omitzero"`
	// Credential is as in resource.Desired.
	Credential string `json:"credential,omitempty"`
}

// DiagnoseResult contains what only the worker can check.
type DiagnoseResult struct {
	Findings []Finding `json:"findings"`
	// ServerAt is the time of the Temporal server.
	ServerAt time.Time `json:"serverAt"`
	// Signatures is nil for a worker that checks none.
	Signatures *SignatureStatus `json:"signatures,omitempty"`
	// Encryption is nil for a worker without keys.
	Encryption *payload.Status `json:"encryption,omitempty"`
}

// FindingState is the severity of a finding.
type FindingState string

// The states: no action needed; works, but needs attention; does not work.
const (
	FindingOK    FindingState = "ok"
	FindingWarn  FindingState = "warn"
	FindingError FindingState = "error"
)

// Finding is the result of one check; nothing in it is secret.
type Finding struct {
	Check   string       `json:"check"`
	State   FindingState `json:"state"`
	Message string       `json:"message"`
	// Advice is how to fix it, "" where no action is needed.
	Advice string `json:"advice,omitempty"`
}

// maxSkew is how far the clocks may differ: tokens are valid from minutes before
// they are issued, and expire to the second.
const maxSkew = 2 * time.Minute

// MaxServerSkew is how far a clock may differ from the Temporal server's. What is compared
// across workers uses the server's, so a larger difference writes nothing twice: it shows
// that the time of a machine is out of control, and tokens, certificates and logs need it.
const MaxServerSkew = 5 * time.Second

// Diagnose checks what the worker needs in Azure: each credential, the connection
// to ARM, the clock, and on request the rights at a resource. It writes nothing.
func (a *Activities) Diagnose(ctx context.Context, in DiagnoseInput) (DiagnoseResult, error) {
	now := a.requestMaker.startedAt(a.options.StartTime(ctx)).now
	requests, cancel := requestContext(arm.WithCredential(ctx, in.Credential))
	defer cancel()
	var result DiagnoseResult
	for _, check := range a.Client.Check(requests) {
		result.Findings = append(result.Findings, credentialFinding(check))
		if skew := check.Skew.Abs(); skew > maxSkew {
			result.Findings = append(result.Findings, Finding{
				Check: "clock", State: FindingError,
				Message: fmt.Sprintf("the worker's clock is %s %s that of %s", skew, aheadOf(check.Skew), check.Endpoint),
				Advice:  "synchronize the clock of the worker's machine by NTP: tokens are refused or expire early otherwise",
			})
		}
	}
	if !in.ID.IsZero() {
		result.Findings = append(result.Findings, a.checkRights(requests, in.ID), a.checkProvider(requests, in.ID))
	}
	result.Findings = append(result.Findings, a.checkGuards(ctx)...)
	result.Findings = append(result.Findings, a.followers.findings(now())...)
	if a.options.Senders != nil {
		result.Findings = append(result.Findings, a.options.Senders()...)
	}
	result.ServerAt = now()
	result.Signatures = a.signatureStatus()
	if status := a.options.Encryption; len(status.Keys) > 0 {
		result.Encryption = &status
	}
	if skew := a.clock.Local().Sub(result.ServerAt).Round(time.Second); skew.Abs() > MaxServerSkew {
		result.Findings = append(result.Findings, Finding{
			Check: "clock of the worker", State: FindingError,
			Message: fmt.Sprintf("the worker's clock is %s %s that of the Temporal server; the worker is not ready", skew.Abs(), aheadOf(skew)),
			Advice:  "synchronize the clocks of the worker's machine and of the Temporal server by NTP",
		})
	}
	return result, nil
}

func aheadOf(skew time.Duration) string {
	if skew < 0 {
		return "behind"
	}
	return "ahead of"
}

// credentialFinding reports whether ARM accepts requests with a credential, with
// advice where it does not.
func credentialFinding(check arm.Check) Finding {
	finding := Finding{Check: "credential " + check.Name, State: FindingOK}
	access := fmt.Sprintf("visible subscriptions: %d", check.Visible)
	if check.Subscription != "" {
		access = "subscription " + check.Subscription + " is readable"
	}
	finding.Message = fmt.Sprintf("%s: %s answers, %s", check.Description, check.Endpoint, access)
	if check.Err == nil {
		if check.Visible == 0 && check.Subscription == "" {
			finding.State, finding.Advice = FindingWarn, "give it a role at a subscription or a resource group (docs/security.md#rights-in-azure); one at a resource group alone shows none here"
		}
		return finding
	}
	finding.State = FindingError
	finding.Message = fmt.Sprintf("%s: %s", check.Description, secrets.Scrub(check.Err.Error(), nil))
	finding.Advice = adviceFor(check)
	return finding
}

// adviceFor returns how to fix a failed check.
func adviceFor(check arm.Check) string {
	failure, answered := errors.AsType[*arm.Error](check.Err)
	switch {
	case arm.IsUntrustedCertificate(check.Err):
		return "set ca-file in the worker's config to a PEM file with the authority of that certificate"
	case !answered && check.Unsent:
		return "let the worker reach the endpoint that issues its tokens (DNS, firewall, HTTPS_PROXY; authority-host of a custom cloud)"
	case !answered:
		return "let the worker reach " + check.Endpoint + " (DNS, firewall, HTTPS_PROXY; cloud and endpoint in its config)"
	case failure.Code == arm.CodeAuthenticationFailed:
		return tokenAdvice(failure.Message)
	case failure.Status == http.StatusUnauthorized:
		return "ARM accepts no token of this credential: check tenant-id, cloud and audience in the worker's config"
	case failure.Status == http.StatusForbidden:
		return "give the credential a role there (docs/security.md#rights-in-azure); a new assignment takes minutes to spread"
	case failure.Status == http.StatusNotFound:
		return "check the subscription: this credential does not see it, or it belongs to another tenant"
	case failure.Class == arm.ClassThrottled:
		return "wait: Azure limits the requests of this credential"
	}
	return "try again; see Azure Service Health for outages"
}

// tokenAdvice returns how to fix an error code of Entra
// (learn.microsoft.com, Microsoft Entra authentication and authorization error
// codes).
func tokenAdvice(message string) string {
	for _, row := range []struct{ codes, advice string }{
		{"AADSTS7000215", "give the worker the secret's value (not its ID) where client-secret points, and restart it"},
		{"AADSTS7000222", "the secret has expired: create a new one, put it where client-secret points, and restart the worker"},
		{"AADSTS700016", "the tenant has no such application: check tenant-id and client-id"},
		{"AADSTS90002 AADSTS900023", "there is no such tenant: check tenant-id and cloud"},
		{"AADSTS700027 AADSTS1000502", "the application does not know the certificate, or it has expired: check certificate"},
		{"AADSTS700024", "the assertion's time is wrong: set the worker's clock"},
		{"AADSTS70021 AADSTS700213", "no federated credential of the application matches the token: check issuer, subject and audience"},
	} {
		for _, code := range strings.Fields(row.codes) {
			if strings.Contains(message, code+":") {
				return row.advice
			}
		}
	}
	return "check kind, tenant-id, client-id and the secret of this credential in the worker's config"
}

// checkRights reports which of read, write and delete are granted at a resource.
func (a *Activities) checkRights(ctx context.Context, id resource.ID) Finding {
	finding := Finding{Check: "rights", State: FindingOK}
	granted, err := a.Client.Permissions(ctx, id)
	for owner := id.Owner(); arm.IsAbsent(err) && !owner.IsZero(); owner = owner.Owner() {
		granted, err = a.Client.Permissions(ctx, owner) // a new resource inherits them
	}
	if err != nil {
		finding.State = FindingWarn
		finding.Message = fmt.Sprintf("the rights at %s cannot be read: %s", id.Short(), secrets.Scrub(err.Error(), nil))
		finding.Advice = "give the credential the right Microsoft.Authorization/permissions/read, or check its role assignments"
		return finding
	}
	var missing []string
	for _, verb := range []string{"read", "write", "delete"} {
		if action := id.Type() + "/" + verb; !granted.Allow(action) {
			missing = append(missing, action)
		}
	}
	finding.Message = fmt.Sprintf("read, write and delete of %s are granted", id.Short())
	if len(missing) > 0 {
		finding.State = FindingError
		finding.Message = fmt.Sprintf("not granted at %s: %s", id.Short(), strings.Join(missing, ", "))
		finding.Advice = "give the credential a role with these actions there (docs/security.md#rights-in-azure); read alone is enough for policy observe"
	}
	return finding
}

// checkProvider reports whether the subscription is registered for the resource's
// provider.
func (a *Activities) checkProvider(ctx context.Context, id resource.ID) Finding {
	namespace := id.Provider()
	finding := Finding{Check: "provider", State: FindingOK}
	if namespace == "" || id.Subscription() == "" {
		finding.Message = id.Short() + " needs no registration"
		return finding
	}
	state, err := a.Client.ProviderState(ctx, id.Subscription(), namespace)
	finding.Message = fmt.Sprintf("%s is %s in subscription %s", namespace, state, id.Subscription())
	switch {
	case err != nil:
		finding.State, finding.Message = FindingWarn, "the registration of "+namespace+" cannot be read: "+secrets.Scrub(err.Error(), nil)
		finding.Advice = "give the credential the right Microsoft.Resources/subscriptions/providers/read"
	case state == arm.ProviderRegistered:
	case a.options.KeepUnregistered:
		finding.State = FindingError
		finding.Advice = "run: az provider register --namespace " + namespace + " --subscription " + id.Subscription() + " (azure.register-providers is off)"
	default:
		finding.State, finding.Advice = FindingWarn, "no action needed: the first PUT registers it, which takes minutes"
	}
	return finding
}

// checkGuards reports what stops writes, and what the worker cannot detect.
func (a *Activities) checkGuards(ctx context.Context) []Finding {
	mask := Finding{Check: "mask key", State: FindingOK, Message: "masks are keyed; rotated secrets are detected"}
	if !a.options.Rotation {
		mask.State, mask.Message = FindingWarn, "the worker has no mask-key: rotated secrets, and secrets that other tools changed, are not detected"
		mask.Advice = "set mask-key in the worker's config, the same for all workers"
	}
	access := Finding{Check: "writes", State: FindingOK, Message: "the worker may write"}
	if a.options.ReadOnly {
		access.State, access.Message = FindingWarn, "the worker is read-only: it plans and compares, and writes nothing"
		access.Advice = "for a worker that writes, remove read-only from its configuration and give its credential the rights (docs/security.md#rights-in-azure)"
	}
	checks := append(a.checkRules(), access)
	if len(a.options.Observed) > 0 {
		checks = append(checks, a.observedFinding())
	}
	return append(checks,
		a.checkRestore(ctx),
		a.checkBudget(ctx, "put budget", writing.PutBudget, a.options.PutBudget, "corrections", "check which resources drift (armature get; reason Held) before raising put-budget"),
		a.checkBudget(ctx, "disappearance budget", writing.DisappearanceBudget, a.options.DisappearanceBudget, "recreations",
			"check who deleted resources (armature get; reason Held); armature reconcile --recreate approves what is to be recreated"),
		mask,
	)
}

// observedFinding names the setting that only observes resources.
func (a *Activities) observedFinding() Finding {
	return Finding{
		Check: "observe", State: FindingWarn,
		Message: fmt.Sprintf("this worker only observes %s: what differs is reported, and nothing is written or deleted", a.options.Observed),
		Advice:  "armature observed shows which corrections were not sent; to let Armature correct, take labels out of the setting observe of all workers and restart them (docs/adopt.md#observe-first)",
	}
}

// checkRestore reports what holds back the writes of a restored, older database of Temporal,
// and whether its records are readable.
func (a *Activities) checkRestore(ctx context.Context) Finding {
	finding := Finding{Check: "restore", State: FindingOK}
	var frozen string
	switch start := a.options.StartFrozen; start {
	case "":
	case "true":
		frozen = "start-frozen freezes everything at each start of a worker"
	default:
		frozen = fmt.Sprintf("start-frozen freezes a database that does not know the start %s", start)
	}
	if a.options.Records == nil && frozen == "" {
		finding.State = FindingWarn
		finding.Message = "neither generation-fence nor start-frozen is set: an older database of Temporal would write its specs over newer ones"
		finding.Advice = "set generation-fence: blob, which notices an older database by itself, and start the workers with start-frozen after each restore (docs/upgrade.md#restore)"
		return finding
	}
	if a.options.Records == nil {
		finding.Message = frozen + "; generation-fence is off"
		return finding
	}
	finding.Message = "generation-fence holds back what is older than its records in a blob container; " + cmp.Or(frozen, "start-frozen is off")
	if _, _, err := a.options.Records.Read(ctx, "probe.json"); err != nil {
		finding.State, finding.Message = FindingError, "the records of generation-fence cannot be read, so nothing is written: "+secrets.Scrub(err.Error(), nil)
		finding.Advice = "give the worker's credential the role Storage Blob Data Contributor at the container, and check generation-fence-container"
	}
	return finding
}

// checkBudget reports what remains of a budget of the fleet.
func (a *Activities) checkBudget(ctx context.Context, check, budget string, limit int, what, advice string) Finding {
	finding := Finding{Check: check, State: FindingOK, Message: fmt.Sprintf("no limit (%s-budget 0)", budget)}
	if limit <= 0 {
		return finding
	}
	spent, err := a.Budgets.Spent(ctx, budget)
	if err != nil {
		return Finding{Check: check, State: FindingError, Message: err.Error(), Advice: "nothing is written that a budget limits until Temporal answers"}
	}
	remaining := max(limit-spent, 0)
	finding.Message = fmt.Sprintf("%d of %d %s remain in this hour", remaining, limit, what)
	if remaining == 0 {
		finding.State, finding.Advice = FindingWarn, advice
	}
	return finding
}

// SignatureStatus is what a worker demands of signatures.
type SignatureStatus struct {
	// Required is set when nothing is written without one; else it is only logged.
	Required bool `json:"required"`
	// Keys are the IDs of the accepted public keys.
	Keys []string `json:"keys"`
}

// signatureStatus returns nil for a worker that checks no signatures.
func (a *Activities) signatureStatus() *SignatureStatus {
	if a.Signatures == nil {
		return nil
	}
	return &SignatureStatus{Required: !a.options.WarnOfSignatures, Keys: a.Signatures.KeyIDs()}
}
