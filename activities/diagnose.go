package activities

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
)

// DiagnoseInput asks a worker how it stands.
type DiagnoseInput struct {
	// ID, when set, asks besides what may be done to that resource.
	ID resource.ID `json:"id,omitzero"`
	// Credential is that of resource.Desired.
	Credential string `json:"credential,omitempty"`
}

// DiagnoseResult is what only the worker knows.
type DiagnoseResult struct {
	Findings []Finding `json:"findings"`
	// At is the worker's clock.
	At time.Time `json:"at"`
}

// FindingState says how bad a finding is.
type FindingState string

// The states: as it should be; works, but look at it; does not work.
const (
	FindingOK    FindingState = "ok"
	FindingWarn  FindingState = "warn"
	FindingFault FindingState = "fault"
)

// Finding is one thing that was looked at; nothing in it is secret.
type Finding struct {
	Check   string       `json:"check"`
	State   FindingState `json:"state"`
	Message string       `json:"message"`
	// Advice says how to mend it, "" where nothing is to mend.
	Advice string `json:"advice,omitempty"`
}

// skewMost is how far the clocks may differ: tokens are valid from minutes
// before they are made, and to the second afterwards.
const skewMost = 2 * time.Minute

// Diagnose looks at what the worker needs of Azure: each credential, the way to
// ARM, the clock, and on request the rights at a resource. It writes nothing.
func (a *Activities) Diagnose(ctx context.Context, in DiagnoseInput) (DiagnoseResult, error) {
	requests, cancel := forARM(arm.WithCredential(ctx, in.Credential))
	defer cancel()
	var result DiagnoseResult
	for _, check := range a.Client.Check(requests) {
		result.Findings = append(result.Findings, credentialFinding(check))
		if skew := check.Skew.Abs(); skew > skewMost {
			result.Findings = append(result.Findings, Finding{
				Check: "clock", State: FindingFault,
				Message: fmt.Sprintf("the worker's clock is %s %s that of %s", skew, aheadOf(check.Skew), check.Endpoint),
				Advice:  "let the worker's machine set its clock by NTP: tokens are refused or taken for expired otherwise",
			})
		}
	}
	if !in.ID.IsZero() {
		result.Findings = append(result.Findings, a.rights(requests, in.ID), a.provider(requests, in.ID))
	}
	result.Findings = append(result.Findings, a.guards()...)
	result.At = a.now()
	return result, nil
}

func aheadOf(skew time.Duration) string {
	if skew < 0 {
		return "behind"
	}
	return "ahead of"
}

// credentialFinding says whether a credential gets an answer of ARM, and what to
// do where it does not.
func credentialFinding(check arm.Check) Finding {
	finding := Finding{Check: "credential " + check.Name, State: FindingOK}
	seen := fmt.Sprintf("subscriptions it may see: %d", check.Visible)
	if check.Subscription != "" {
		seen = "subscription " + check.Subscription + " is readable"
	}
	finding.Message = fmt.Sprintf("%s: %s answers, %s", check.Description, check.Endpoint, seen)
	if check.Err == nil {
		if check.Visible == 0 && check.Subscription == "" {
			finding.State, finding.Advice = FindingWarn, "give it a role at a subscription or a resource group (docs/azure-rights.md); one at a resource group alone shows none here"
		}
		return finding
	}
	finding.State = FindingFault
	finding.Message = fmt.Sprintf("%s: %s", check.Description, secrets.Scrub(check.Err.Error(), nil))
	finding.Advice = adviceFor(check)
	return finding
}

// adviceFor reads a failed check.
func adviceFor(check arm.Check) string {
	var refused *arm.Error
	answered := errors.As(check.Err, &refused)
	switch {
	case arm.IsUntrustedCertificate(check.Err):
		return "name a PEM file with the authority of that certificate in ca-file of the worker's config"
	case !answered && check.Unsent:
		return "let the worker reach the place where its tokens come from (DNS, firewall, HTTPS_PROXY; authority-host of a custom cloud)"
	case !answered:
		return "let the worker reach " + check.Endpoint + " (DNS, firewall, HTTPS_PROXY; cloud and endpoint in its config)"
	case refused.Code == arm.CodeAuthenticationFailed:
		return tokenAdvice(refused.Message)
	case refused.Status == http.StatusUnauthorized:
		return "ARM takes no token of this credential: check tenant-id, cloud and audience in the worker's config"
	case refused.Status == http.StatusForbidden:
		return "give the credential a role there (docs/azure-rights.md); a new assignment takes minutes to spread"
	case refused.Status == http.StatusNotFound:
		return "check the subscription: this credential does not see it, or it belongs to another tenant"
	case refused.Class == arm.ClassThrottled:
		return "wait: Azure limits the requests of this credential"
	}
	return "try again; Azure Service Health tells of outages"
}

// tokenAdvice knows what Entra's error codes mean
// (learn.microsoft.com, Microsoft Entra authentication and authorization error
// codes).
func tokenAdvice(message string) string {
	for _, row := range []struct{ codes, advice string }{
		{"AADSTS7000215", "give the worker the secret's value (not its ID) where client-secret points, and restart it"},
		{"AADSTS7000222", "the secret has expired: make a new one, put it where client-secret points, and restart the worker"},
		{"AADSTS700016", "the tenant has no such application: check tenant-id and client-id"},
		{"AADSTS90002 AADSTS900023", "there is no such tenant: check tenant-id and cloud"},
		{"AADSTS700027 AADSTS1000502", "the application does not know the certificate, or it has expired: check certificate"},
		{"AADSTS700024", "the assertion's time is wrong: set the worker's clock"},
		{"AADSTS70021 AADSTS700213", "no federated credential of the application fits the token: check issuer, subject and audience"},
	} {
		for _, code := range strings.Fields(row.codes) {
			if strings.Contains(message, code+":") {
				return row.advice
			}
		}
	}
	return "check kind, tenant-id, client-id and the secret of this credential in the worker's config"
}

// rights says which of read, write and delete are granted at a resource.
func (a *Activities) rights(ctx context.Context, id resource.ID) Finding {
	finding := Finding{Check: "rights", State: FindingOK}
	granted, err := a.Client.Permissions(ctx, id)
	for at := id.Owner(); arm.IsAbsent(err) && !at.IsZero(); at = at.Owner() {
		granted, err = a.Client.Permissions(ctx, at) // what comes will inherit them
	}
	if err != nil {
		finding.State = FindingWarn
		finding.Message = fmt.Sprintf("what may be done to %s cannot be read: %s", id.Short(), secrets.Scrub(err.Error(), nil))
		finding.Advice = "give the credential the right Microsoft.Authorization/permissions/read, or look at its role assignments"
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
		finding.State = FindingFault
		finding.Message = fmt.Sprintf("not granted at %s: %s", id.Short(), strings.Join(missing, ", "))
		finding.Advice = "give the credential a role with these actions there (docs/azure-rights.md); read alone is enough for policy observe"
	}
	return finding
}

// provider says whether the subscription is registered for the resource's
// provider.
func (a *Activities) provider(ctx context.Context, id resource.ID) Finding {
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
		finding.State = FindingFault
		finding.Advice = "run: az provider register --namespace " + namespace + " --subscription " + id.Subscription() + " (azure.register-providers is off)"
	default:
		finding.State, finding.Advice = FindingWarn, "nothing to do: the first PUT registers it, which takes minutes"
	}
	return finding
}

// guards tells of what holds writes back, and of what cannot be seen.
func (a *Activities) guards() []Finding {
	budget := Finding{Check: "put budget", State: FindingOK, Message: "no bound (put-budget 0)"}
	if a.options.PutBudget > 0 {
		left := int(max(a.budget.TokensAt(a.now()), 0))
		budget.Message = fmt.Sprintf("%d of %d corrections are left in this hour", left, a.options.PutBudget)
		if left == 0 {
			budget.State, budget.Advice = FindingWarn, "see what drifts (armature get; reason Held) before raising put-budget"
		}
	}
	mask := Finding{Check: "mask key", State: FindingOK, Message: "masks are keyed; rotated secrets are seen"}
	if !a.options.Rotation {
		mask.State, mask.Message = FindingWarn, "mask-key is not set: rotated secrets are not seen, and short secrets could be guessed from their masks"
		mask.Advice = "set mask-key in the worker's config, the same for all workers"
	}
	return []Finding{budget, mask}
}
