package arm

import (
	"context"
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

// providersAPIVersion is the api-version for the providers of a subscription.
const providersAPIVersion = "2021-04-01"

var (
	// namespaceInMessage matches the provider in the message of an error.
	namespaceInMessage = regexp.MustCompile(`namespace '([A-Za-z0-9]+(?:\.[A-Za-z0-9]+)+)'`)
	namespacePattern   = regexp.MustCompile(`^[A-Za-z0-9]+(\.[A-Za-z0-9]+)+$`)
)

// ProviderState returns the registration state of a provider, for example
// Microsoft.Kusto, in a subscription (a GUID).
func (c *Client) ProviderState(ctx context.Context, subscription, namespace string) (string, error) {
	body, err := c.readProvider(ctx, subscription, namespace)
	if err != nil {
		return "", err
	}
	return registrationState(body), nil
}

// readProvider returns the body of a provider in a subscription.
func (c *Client) readProvider(ctx context.Context, subscription, namespace string) ([]byte, error) {
	scope, err := resource.ParseID("/subscriptions/" + subscription)
	if err != nil {
		return nil, err
	}
	response, err := c.readCollection(ctx, scope, "providers/"+namespace, "Microsoft.Resources/providers", providersAPIVersion)
	if err != nil {
		return nil, fmt.Errorf("read provider %s of %s: %w", namespace, scope, err)
	}
	return response.Body, nil
}

// RegisterProvider registers a provider in a subscription and returns its state,
// mostly Registering. It is idempotent.
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

// registrationState returns the state in the body of a provider.
func registrationState(body []byte) string {
	return decodeView[struct {
		RegistrationState string `json:"registrationState"`
	}](body).RegistrationState
}

// UnregisteredProvider returns the provider that the subscription has to be
// registered for, "" when the error has another cause. It may differ from the
// provider of the resource, own, because the body may need another one. A location
// or an api-version that a provider does not offer is another cause.
func (e *Error) UnregisteredProvider(own string) string {
	unregistered := false
	for _, code := range e.Codes() {
		switch strings.ToLower(code) {
		case "missingsubscriptionregistration", "missingregistrationforresourceprovider", "subscriptionnotregistered":
			unregistered = true
		}
	}
	if !unregistered {
		return ""
	}
	for _, detail := range append([]Detail{{Message: e.Message}}, e.Details...) {
		if found := namespaceInMessage.FindStringSubmatch(detail.Message); found != nil {
			return found[1]
		}
		if namespacePattern.MatchString(detail.Target) {
			return detail.Target
		}
	}
	return own
}
