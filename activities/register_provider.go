package activities

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
)

// A registration takes minutes.
const (
	// maxRegistrationAge is how long a worker caches a state.
	maxRegistrationAge = 10 * time.Second
	// registrationWait is the wait before the next try.
	registrationWait = 10 * time.Second
	// registrationTimeout bounds the two requests of a registration.
	registrationTimeout = 60 * time.Second
)

// RegisterProviderInput is the provider to register.
type RegisterProviderInput struct {
	// ID is the resource; ARM refused its PUT.
	ID resource.ID `json:"id"`
	// Namespace is PutResourceResult.Unregistered; "" is the resource's provider.
	Namespace string `json:"namespace,omitempty"`
	// Credential is as in resource.Desired.
	Credential string `json:"credential,omitempty"`
	PassFacts
}

// RegisterProviderResult is the state of the registration.
type RegisterProviderResult struct {
	// Verdict is a Proceed when the provider is registered, a Block while it is
	// being registered, else an Error with the command to run.
	Verdict resource.Verdict `json:"verdict"`
}

// registrations caches the states of providers. Many resources need one at once;
// they share its requests.
type registrations struct {
	requests singleflight.Group
	mu       sync.Mutex
	known    map[string]registration
}

type registration struct {
	state string
	at    time.Time
	// requested is set when this worker requested the registration.
	requested bool
}

// RegisterProvider registers the provider of a resource in its subscription. It
// reads the state first, so that few workers request it, and a repeated request
// changes nothing.
func (a *Activities) RegisterProvider(ctx context.Context, in RegisterProviderInput) (RegisterProviderResult, error) {
	ctx = withCredential(ctx, in.Credential, in.ID)
	heartbeat := startHeartbeat[readProgress](ctx)
	defer heartbeat.stop()
	if in.Namespace == "" {
		in.Namespace = in.ID.Provider()
	}
	requests, cancel := requestContext(ctx)
	defer cancel()
	requests = a.forWrites(requests, resource.Desired{ID: in.ID}, PassFacts{Cause: in.Cause}, writing.Step{NoResource: true, Progress: heartbeat.content})
	found, err := a.register(requests, in)
	if stop, blocked := writing.Blocked(err); blocked {
		return RegisterProviderResult{Verdict: a.report("RegisterProvider", stop)}, nil
	}
	if err == nil {
		return RegisterProviderResult{Verdict: a.report("RegisterProvider", a.registrationVerdict(in, found))}, nil
	}
	progress := heartbeat.progress()
	progress.TransientErrors++
	verdict := a.failureVerdict(ctx, failedRequest{id: in.ID, repeated: in.Repeated, write: true}, helper("the resource provider "+in.Namespace+" is not registered", err), &progress.lastAnswer)
	heartbeat.send(progress)
	if retry := retryTransient(err, progress.TransientErrors); retry != nil {
		return RegisterProviderResult{}, retry
	}
	if isForbidden(err) {
		verdict.Message = "the credential may not register the provider; with an account that may, run: " + registerCommand(in) + ". ARM said: " + verdict.Message
	}
	return RegisterProviderResult{Verdict: a.report("RegisterProvider", verdict)}, nil
}

// register reads the state, and requests the registration where it is missing. The
// shared requests outlive the activity that started them.
func (a *Activities) register(ctx context.Context, in RegisterProviderInput) (registration, error) {
	key := strings.ToLower(in.ID.Subscription() + "/" + in.Namespace)
	if found, fresh := a.registrations.get(key, a.clock.Local()); fresh {
		return found, nil
	}
	result := a.registrations.requests.DoChan(key, func() (any, error) {
		shared, cancel := context.WithTimeout(context.WithoutCancel(ctx), registrationTimeout)
		defer cancel()
		found, err := a.requestRegistration(shared, in)
		if err == nil {
			a.registrations.put(key, found)
		}
		return found, err
	})
	select {
	case got := <-result:
		found, _ := got.Val.(registration)
		return found, got.Err
	case <-ctx.Done():
		return registration{}, ctx.Err()
	}
}

func (a *Activities) requestRegistration(ctx context.Context, in RegisterProviderInput) (registration, error) {
	state, err := a.Client.ProviderState(ctx, in.ID.Subscription(), in.Namespace)
	if err != nil {
		return registration{}, err
	}
	found := registration{state: state, at: a.clock.Local()}
	if strings.EqualFold(state, arm.ProviderRegistered) || strings.EqualFold(state, arm.ProviderRegistering) || a.options.KeepUnregistered {
		return found, nil
	}
	if found.state, err = a.Client.RegisterProvider(ctx, in.ID.Subscription(), in.Namespace); err != nil {
		return registration{}, err
	}
	found.requested = true
	return found, nil
}

func (r *registrations) get(key string, now time.Time) (registration, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found, known := r.known[key]
	return found, known && now.Sub(found.at) < maxRegistrationAge
}

func (r *registrations) put(key string, found registration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil {
		r.known = map[string]registration{}
	}
	r.known[key] = found
}

// registrationVerdict returns the verdict of a state. Its reason is ARM's code for
// a missing registration.
func (a *Activities) registrationVerdict(in RegisterProviderInput, found registration) resource.Verdict {
	const reason = resource.Reason(arm.CodeMissingRegistration)
	what := fmt.Sprintf("provider %s in subscription %s", in.Namespace, in.ID.Subscription())
	switch {
	case strings.EqualFold(found.state, arm.ProviderRegistered):
		return resource.Proceed(what + " is registered")
	case a.options.KeepUnregistered && !strings.EqualFold(found.state, arm.ProviderRegistering):
		return resource.Fail(reason, resource.RetryVerySlow, fmt.Sprintf(
			"%s is %s, and this worker does not register providers (azure.register-providers is off); run: %s", what, found.state, registerCommand(in)))
	}
	verdict := resource.Block(reason, what+" is being registered, which takes minutes")
	if found.requested {
		verdict.Message = what + " was not registered; its registration was requested, which takes minutes"
	}
	verdict.Class, verdict.RetryAfter = resource.RetryFast, registrationWait
	return verdict
}

func registerCommand(in RegisterProviderInput) string {
	return fmt.Sprintf("az provider register --namespace %s --subscription %s", in.Namespace, in.ID.Subscription())
}
