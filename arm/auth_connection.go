package arm

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
)

// CredentialDefaultName is the name of the client's own connection.
const CredentialDefaultName = "default"

// CodeCredentialNotUsable means that the credential of the manifest is not
// configured, or is restricted to other subscriptions. Nothing was sent.
const CodeCredentialNotUsable = "CredentialNotUsable"

// Connection is an additional way of a Client to ARM: another credential, tenant or
// cloud. It shares Version and Observer with the Client, and
// Throttle unless it has its own.
type Connection struct {
	// Options of the connection; Connections are ignored.
	Options
	// Subscriptions are the GUIDs that the connection is restricted to, none for
	// all: it serves no other, and these where no credential is named.
	Subscriptions []string
}

type credentialKey struct{}

// WithCredential selects the named connection for the requests of the context. With
// "" the subscription decides: the connection that is restricted to it, else the
// client's own, which CredentialDefaultName names.
func WithCredential(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, credentialKey{}, name)
}

// CredentialName returns the name set by WithCredential, or "".
func CredentialName(ctx context.Context) string {
	name, _ := ctx.Value(credentialKey{}).(string)
	return name
}

// connections are the additional connections of a Client.
type connections struct {
	byName map[string]*Client
	// bySubscription has the names of restricted connections; keys are lower case.
	bySubscription map[string]string
	// subscriptions of each restricted connection, in lower case.
	subscriptions map[string][]string
}

// newConnections creates the additional connections with the options that they share.
func newConnections(options Options) (*connections, error) {
	all := &connections{byName: map[string]*Client{}, bySubscription: map[string]string{}, subscriptions: map[string][]string{}}
	for _, name := range slices.Sorted(maps.Keys(options.Connections)) {
		connection := options.Connections[name]
		own := connection.Options
		own.Connections = nil
		own.Version, own.ApplicationID, own.UserAgentSuffix, own.PollInterval = options.Version, options.ApplicationID, options.UserAgentSuffix, options.PollInterval
		own.Observer, own.Clock = options.Observer, options.Clock
		if own.Throttle == nil {
			own.Throttle = options.Throttle
		}
		client, err := NewClient(own)
		if err != nil {
			return nil, fmt.Errorf("credential %s: %w", name, err)
		}
		client.name = name
		all.byName[name] = client
		for _, subscription := range connection.Subscriptions {
			key := strings.ToLower(subscription)
			if other, taken := all.bySubscription[key]; taken {
				return nil, fmt.Errorf("credential %s: subscription %s already belongs to credential %s", name, subscription, other)
			}
			all.bySubscription[key] = name
			all.subscriptions[name] = append(all.subscriptions[name], key)
		}
	}
	return all, nil
}

// For returns the connection for a resource: the one that the context names, else
// the one that is restricted to its subscription, else the client's own. An unknown
// name, and one that is restricted to other subscriptions, is an *Error with
// CodeCredentialNotUsable.
func (c *Client) For(ctx context.Context, id resource.ID) (*Client, error) {
	if c.connections == nil {
		return c, nil // selected before
	}
	name, subscription := CredentialName(ctx), strings.ToLower(id.Subscription())
	if name == "" {
		name = c.connections.bySubscription[subscription]
	}
	connection, err := c.connection(name)
	if err != nil {
		return nil, err
	}
	if allowed := c.connections.subscriptions[name]; len(allowed) > 0 && !slices.Contains(allowed, subscription) {
		return nil, notUsable("credential %s is restricted to the subscriptions %s, which do not contain %s; set another one in reconcile.credential, or add the subscription in the worker's config",
			name, strings.Join(allowed, ", "), id.Short())
	}
	return connection, nil
}

// connection returns the connection of a name.
func (c *Client) connection(name string) (*Client, error) {
	if name == "" || name == CredentialDefaultName || c.connections == nil {
		return c, nil
	}
	if connection, known := c.connections.byName[name]; known {
		return connection, nil
	}
	return nil, notUsable("the worker has no credential %q, only %s; correct reconcile.credential, or add it to the worker's config",
		name, strings.Join(c.Names(), ", "))
}

// Names returns the names of the connections, the client's own first.
func (c *Client) Names() []string {
	names := []string{CredentialDefaultName}
	if c.connections != nil {
		names = append(names, slices.Sorted(maps.Keys(c.connections.byName))...)
	}
	return names
}

func notUsable(format string, args ...any) *Error {
	e := &Error{Code: CodeCredentialNotUsable, Message: fmt.Sprintf(format, args...)}
	e.classify("")
	return e
}
