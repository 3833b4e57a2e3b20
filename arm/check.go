package arm

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/resource"
)

// API versions for Check and Permissions.
const (
	subscriptionsAPIVersion = "2022-12-01"
	permissionsAPIVersion   = "2022-04-01"
)

// Check is the result of one harmless request over one connection.
type Check struct {
	// Name is the credential's name, Description is Options.Description.
	Name, Description string
	// Endpoint is the requested ARM endpoint.
	Endpoint string
	// Subscription is the one that was read, "" where subscriptions were listed:
	// Visible is their number.
	Subscription string
	Visible      int
	// Skew is this clock minus ARM's, to the second; 0 where ARM returned no time.
	Skew time.Duration
	// Unsent is set when there was no token, so that nothing was sent.
	Unsent bool
	// Err is nil, an *Error for a refusal, or a transport error.
	Err error
}

// Check tries every connection, the client's own first: one that is restricted to
// subscriptions reads each of them, any other lists the visible ones.
func (c *Client) Check(ctx context.Context) []Check {
	var checks []Check
	for _, name := range c.Names() {
		connection, err := c.connection(name)
		if err != nil {
			continue // cannot happen: Names lists known ones
		}
		subscriptions := []string{""}
		if c.connections != nil && len(c.connections.subscriptions[name]) > 0 {
			subscriptions = c.connections.subscriptions[name]
		}
		for _, subscription := range subscriptions {
			check := connection.check(ctx, subscription)
			check.Name = name
			checks = append(checks, check)
		}
	}
	return checks
}

// checkTimeout bounds one request of Check, for a dead network.
const checkTimeout = 10 * time.Second

func (c *Client) check(ctx context.Context, subscription string) Check {
	check := Check{Description: c.description, Endpoint: c.endpoint, Subscription: subscription}
	target := c.endpoint + "/subscriptions"
	if subscription != "" {
		target += "/" + url.PathEscape(subscription)
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	trip := &roundTrip{call: CallGet, typ: "Microsoft.Resources/subscriptions"}
	resp, payload, err := c.do(ctx, trip, http.MethodGet, target+"?api-version="+subscriptionsAPIVersion, nil, nil)
	check.Unsent = !trip.sent
	if err != nil {
		check.Err = err
		return check
	}
	if at, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		check.Skew = c.now().Sub(at).Round(time.Second)
	}
	if !success(resp.StatusCode) {
		check.Err = newError(http.MethodGet, resp.StatusCode, resp.Header, payload, c.now)
		return check
	}
	check.Visible = len(decodeView[struct {
		Value []json.RawMessage `json:"value"`
	}](payload).Value)
	return check
}

// Permissions are the allowed actions of the credential at a scope.
type Permissions struct{ roles []role }

type role struct {
	Actions    []string `json:"actions"`
	NotActions []string `json:"notActions"`
}

// Permissions reads the permissions for a resource or a scope that may not exist yet.
func (c *Client) Permissions(ctx context.Context, scope resource.ID) (Permissions, error) {
	items, err := c.List(ctx, scope, "providers/Microsoft.Authorization/permissions", permissionsAPIVersion, maxListed)
	var all Permissions
	for _, item := range items {
		all.roles = append(all.roles, decodeView[role](item))
	}
	return all, err
}

// Allow reports whether an action such as Microsoft.Kusto/clusters/write is granted
// by one of the roles and not excluded by the same role.
func (p Permissions) Allow(action string) bool {
	for _, role := range p.roles {
		covers := func(pattern string) bool { return matchesPattern(pattern, action) }
		if slices.ContainsFunc(role.Actions, covers) && !slices.ContainsFunc(role.NotActions, covers) {
			return true
		}
	}
	return false
}

// matchesPattern compares ignoring case; * matches any text.
func matchesPattern(pattern, text string) bool {
	pattern, text = strings.ToLower(pattern), strings.ToLower(text)
	head, rest, found := strings.Cut(pattern, "*")
	if !found {
		return pattern == text
	}
	if !strings.HasPrefix(text, head) {
		return false
	}
	for i := len(head); i <= len(text); i++ {
		if matchesPattern(rest, text[i:]) {
			return true
		}
	}
	return false
}
