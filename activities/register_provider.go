package activities

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
)

// Registering takes minutes: registrationMaxAge is how long a worker believes
// what it saw, registrationWait how soon somebody looks again.
const (
	registrationMaxAge = 10 * time.Second
	registrationWait   = 10 * time.Second
	// registrationTimeout bounds the two requests of one look.
	registrationTimeout = 60 * time.Second
)

// RegisterProviderInput names what is not registered.
type RegisterProviderInput struct {
	// ID is that of the resource whose PUT was refused.
	ID resource.ID `json:"id"`
	// Namespace is PutResourceResult.Unregistered; "" is the resource's provider.
	Namespace string `json:"namespace,omitempty"`
	// Credential is that of resource.Desired.
	Credential string   `json:"credential,omitempty"`
	Repeated   Repeated `json:"repeated,omitzero"`
}

// RegisterProviderResult says how the registration stands.
type RegisterProviderResult struct {
	// Verdict is a Proceed when the provider is registered, a Block while it is
	// being registered, else an Error that says what to run.
	Verdict resource.Verdict `json:"verdict"`
}

// registrations are what a worker knows of providers. Many resources ask at
// once; one of them looks.
type registrations struct {
	group singleflight.Group
	mu    sync.Mutex
	known map[string]registration
}

type registration struct {
	state string
	at    time.Time
	// asked is set when this look asked ARM to register.
	asked bool
}

// RegisterProvider registers the provider of a resource in its subscription. The
// state is read first, so that of all workers few ask, and asking twice changes
// nothing.
func (a *Activities) RegisterProvider(ctx context.Context, in RegisterProviderInput) (RegisterProviderResult, error) {
	ctx = arm.WithCredential(ctx, in.Credential)
	heart := startHeart[readProgress](ctx)
	defer heart.stop()
	if in.Namespace == "" {
		in.Namespace = in.ID.Provider()
	}
	requests, cancel := forARM(ctx)
	defer cancel()
	found, err := a.register(requests, in)
	if err == nil {
		return RegisterProviderResult{Verdict: a.observed("RegisterProvider", a.registrationVerdict(in, found))}, nil
	}
	progress := heart.progress()
	progress.Faults++
	of := attempted{id: in.ID, apiVersion: "", before: in.Repeated}
	verdict := a.judge(ctx, of, err, &progress.seen)
	heart.record(progress)
	if again, retry := fault(err, progress.Faults); retry {
		return RegisterProviderResult{}, again
	}
	if isForbidden(err) {
		verdict.Message = "the credential may not register the provider; somebody who may has to run: " + registerCommand(in) + ". ARM said: " + verdict.Message
	}
	return RegisterProviderResult{Verdict: a.observed("RegisterProvider", verdict)}, nil
}

// register reads the state, and asks for registration where nobody has. What is
// shared outlives the one who started it.
func (a *Activities) register(ctx context.Context, in RegisterProviderInput) (registration, error) {
	key := strings.ToLower(in.ID.Subscription() + "/" + in.Namespace)
	if found, fresh := a.registrations.get(key, a.now()); fresh {
		return found, nil
	}
	result := a.registrations.group.DoChan(key, func() (any, error) {
		shared, cancel := context.WithTimeout(context.WithoutCancel(ctx), registrationTimeout)
		defer cancel()
		found, err := a.ask(shared, in)
		if err == nil {
			a.registrations.keep(key, found)
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

func (a *Activities) ask(ctx context.Context, in RegisterProviderInput) (registration, error) {
	state, err := a.Client.ProviderState(ctx, in.ID.Subscription(), in.Namespace)
	if err != nil {
		return registration{}, err
	}
	found := registration{state: state, at: a.now()}
	if strings.EqualFold(state, arm.ProviderRegistered) || strings.EqualFold(state, arm.ProviderRegistering) || a.options.KeepUnregistered {
		return found, nil
	}
	if found.state, err = a.Client.RegisterProvider(ctx, in.ID.Subscription(), in.Namespace); err != nil {
		return registration{}, err
	}
	found.asked = true
	return found, nil
}

func (r *registrations) get(key string, now time.Time) (registration, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found, known := r.known[key]
	return found, known && now.Sub(found.at) < registrationMaxAge
}

func (r *registrations) keep(key string, found registration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil {
		r.known = map[string]registration{}
	}
	r.known[key] = found
}

// registrationVerdict says how the registration stands. The reason is ARM's code
// for what is missing.
func (a *Activities) registrationVerdict(in RegisterProviderInput, found registration) resource.Verdict {
	const reason = resource.Reason(arm.CodeMissingRegistration)
	what := fmt.Sprintf("provider %s in subscription %s", in.Namespace, in.ID.Subscription())
	switch {
	case strings.EqualFold(found.state, arm.ProviderRegistered):
		return resource.Proceed(what + " is registered")
	case a.options.KeepUnregistered && !strings.EqualFold(found.state, arm.ProviderRegistering):
		return resource.Fail(reason, resource.RetryVerySlow, fmt.Sprintf(
			"%s is %s, and this worker is configured to register none; run: %s", what, found.state, registerCommand(in)))
	}
	verdict := resource.Block(reason, what+" is being registered, which takes minutes")
	if found.asked {
		verdict.Message = what + " was not registered; ARM was asked to, which takes minutes"
	}
	verdict.Class, verdict.RetryAfter = resource.RetryFast, registrationWait
	return verdict
}

func registerCommand(in RegisterProviderInput) string {
	return fmt.Sprintf("az provider register --namespace %s --subscription %s", in.Namespace, in.ID.Subscription())
}
