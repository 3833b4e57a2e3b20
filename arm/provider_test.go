package arm

import "testing"

func TestUnregistered(t *testing.T) {
	const message = "The subscription is not registered to use namespace 'Microsoft.Batch'. See https://aka.ms/rps-not-found for how to register subscriptions."
	cases := map[string]struct {
		reason string
		given  Error
		want   string
	}{
		"Message":      {"ARM names the provider in the message", Error{Code: "MissingSubscriptionRegistration", Message: message}, "Microsoft.Batch"},
		"DetailTarget": {"or in the target of a detail", Error{Code: "MissingSubscriptionRegistration", Message: "m", Details: []Detail{{Code: "MissingSubscriptionRegistration", Target: "Microsoft.Cdn"}}}, "Microsoft.Cdn"},
		"Nested":       {"inside an envelope", Error{Code: "BadRequest", Details: []Detail{{Code: "missingsubscriptionregistration", Message: message}}}, "Microsoft.Batch"},
		"NoName":       {"it is the resource's own", Error{Code: "SubscriptionNotRegistered", Message: "m"}, "Contoso.Own"},
		"OtherTarget":  {"a target that is no provider", Error{Code: "MissingSubscriptionRegistration", Target: "properties.x"}, "Contoso.Own"},
		"Location":     {"registering brings no location", Error{Code: "MissingRegistrationForLocation", Message: message}, ""},
		"Another":      {"another error", Error{Code: "AuthorizationFailed", Message: message}, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.given.UnregisteredProvider("Contoso.Own"); got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}
