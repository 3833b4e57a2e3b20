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

// API versions of what Check and Permissions read.
const (
	subscriptionsAPIVersion = "2022-12-01"
	permissionsAPIVersion   = "2022-04-01"
)

// Check is what one connection made of one harmless request.
type Check struct {
	// Name is that of the credential, Description what Options.Description says of it.
	Name, Description string
	// Endpoint is where ARM was asked.
	Endpoint string
	// Subscription was read, "" where the subscriptions were listed: Visible of them.
	Subscription string
	Visible      int
	// Skew is this clock minus ARM's, to the second; 0 where ARM gave no time.
	Skew time.Duration
	// Unsent is set when no token was to be had, so that nothing was sent.
	Unsent bool
	// Err is nil, an *Error for a refusal, or a fault of the transport.
	Err error
}

// Check asks with every connection, the client's own first: one that is tied to
// subscriptions reads each of them, another one lists those that it sees. The
// bound of the context is divided among them.
func (c *Client) Check(ctx context.Context) []Check {
	var checks []Check
	for _, name := range c.Names() {
		connection, err := c.connection(name)
		if err != nil {
			continue // a name of its own list
		}
		bound := []string{""}
		if c.connections != nil && len(c.connections.bound[name]) > 0 {
			bound = c.connections.bound[name]
		}
		for _, subscription := range bound {
			check := connection.check(ctx, subscription)
			check.Name = name
			checks = append(checks, check)
		}
	}
	return checks
}

// checkTimeout bounds one request of Check: a dead network is not waited for.
const checkTimeout = 10 * time.Second

func (c *Client) check(ctx context.Context, subscription string) Check {
	check := Check{Description: c.description, Endpoint: c.endpoint, Subscription: subscription}
	target := c.endpoint + "/subscriptions"
	if subscription != "" {
		target += "/" + url.PathEscape(subscription)
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	x := &exchange{call: CallGet, typ: "Microsoft.Resources/subscriptions"}
	answer, payload, err := c.do(ctx, x, http.MethodGet, target+"?api-version="+subscriptionsAPIVersion, nil, nil)
	check.Unsent = !x.sent
	if err != nil {
		check.Err = err
		return check
	}
	if at, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
		check.Skew = c.now().Sub(at).Round(time.Second)
	}
	if !success(answer.StatusCode) {
		check.Err = newError(http.MethodGet, answer.StatusCode, answer.Header, payload, c.now)
		return check
	}
	var list struct {
		Value []json.RawMessage `json:"value"`
	}
	if json.Unmarshal(payload, &list) == nil {
		check.Visible = len(list.Value)
	}
	return check
}

// Permissions are what the credential may do at a scope.
type Permissions struct {
	granted []struct {
		Actions    []string `json:"actions"`
		NotActions []string `json:"notActions"`
	}
}

// Permissions reads them for a resource or a scope that may not exist yet.
func (c *Client) Permissions(ctx context.Context, scope resource.ID) (Permissions, error) {
	items, err := c.List(ctx, scope, "providers/Microsoft.Authorization/permissions", permissionsAPIVersion, listedMax)
	var all Permissions
	for _, item := range items {
		one := struct {
			Actions    []string `json:"actions"`
			NotActions []string `json:"notActions"`
		}{}
		if json.Unmarshal(item, &one) == nil {
			all.granted = append(all.granted, one)
		}
	}
	return all, err
}

// Allow reports whether an action such as Microsoft.Kusto/clusters/write is
// granted: by one of the roles, and not taken out by the same one.
func (p Permissions) Allow(action string) bool {
	for _, role := range p.granted {
		covers := func(pattern string) bool { return matches(pattern, action) }
		if slices.ContainsFunc(role.Actions, covers) && !slices.ContainsFunc(role.NotActions, covers) {
			return true
		}
	}
	return false
}

// matches compares without case; * stands for any text.
func matches(pattern, text string) bool {
	pattern, text = strings.ToLower(pattern), strings.ToLower(text)
	head, rest, found := strings.Cut(pattern, "*")
	if !found {
		return pattern == text
	}
	if !strings.HasPrefix(text, head) {
		return false
	}
	for i := len(head); i <= len(text); i++ {
		if matches(rest, text[i:]) {
			return true
		}
	}
	return false
}
