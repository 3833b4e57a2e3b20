package arm

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/armature-io/armature/resource"
)

// The states of a provider in a subscription (learn.microsoft.com, resource
// providers and types). Registering takes minutes.
const (
	ProviderRegistered  = "Registered"
	ProviderRegistering = "Registering"
)

// providersAPIVersion is that of the providers of a subscription.
const providersAPIVersion = "2021-04-01"

// ProviderState reads the registration state of a provider, for example
// Microsoft.Kusto, in a subscription (a GUID).
func (c *Client) ProviderState(ctx context.Context, subscription, namespace string) (string, error) {
	scope, err := resource.ParseID("/subscriptions/" + subscription)
	if err != nil {
		return "", err
	}
	c, err = c.For(ctx, scope)
	if err != nil {
		return "", fmt.Errorf("read provider %s of %s: %w", namespace, scope, err)
	}
	target, err := c.url(scope, "providers/"+namespace, providersAPIVersion)
	if err != nil {
		return "", fmt.Errorf("read provider %s of %s: %w", namespace, scope, err)
	}
	response, err := c.read(ctx, CallGet, "Microsoft.Resources/providers", target)
	if err != nil {
		return "", fmt.Errorf("read provider %s of %s: %w", namespace, scope, err)
	}
	return registrationState(response.Body), nil
}

// RegisterProvider asks ARM to register a provider in a subscription and gives
// its state, mostly Registering. Asking again changes nothing.
func (c *Client) RegisterProvider(ctx context.Context, subscription, namespace string) (string, error) {
	scope, err := resource.ParseID("/subscriptions/" + subscription)
	if err != nil {
		return "", err
	}
	operation, err := c.Post(ctx, scope, "providers/"+namespace+"/register", providersAPIVersion, nil)
	if err != nil {
		return "", err
	}
	return registrationState(operation.Body), nil
}

func registrationState(body []byte) string {
	var view struct {
		RegistrationState string `json:"registrationState"`
	}
	if json.Unmarshal(body, &view) != nil {
		return ""
	}
	return view.RegistrationState
}

// Unregistered gives the provider for which the subscription would have to be
// registered, "" when the error is another one. It may be another provider than
// that of the resource: what the body asks for may belong to one, too. A
// location or an api-version that a provider does not have is none of these.
func (e *Error) UnregisteredProvider(own string) string {
	registration := false
	for _, code := range e.Codes() {
		switch strings.ToLower(code) {
		case "missingsubscriptionregistration", "missingregistrationforresourceprovider", "subscriptionnotregistered":
			registration = true
		}
	}
	if !registration {
		return ""
	}
	for _, detail := range append([]Detail{{Message: e.Message}}, e.Details...) {
		if found := regexp.MustCompile(`namespace '([A-Za-z0-9]+(?:\.[A-Za-z0-9]+)+)'`).FindStringSubmatch(detail.Message); found != nil {
			return found[1]
		}
		if regexp.MustCompile(`^[A-Za-z0-9]+(\.[A-Za-z0-9]+)+$`).MatchString(detail.Target) {
			return detail.Target
		}
	}
	return own
}
