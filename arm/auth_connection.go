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

// CodeCredentialNotUsable says that the credential that the manifest names is not
// configured, or is tied to other subscriptions. Nothing was sent.
const CodeCredentialNotUsable = "CredentialNotUsable"

// Connection is a further way of a Client to ARM: another credential, tenant or
// cloud. Throttle, Version and Observer are the Client's.
type Connection struct {
	// Options of the connection; Connections are ignored.
	Options
	// Subscriptions are the GUIDs that it is tied to, none for all: it is used for
	// no other, and for these where no credential is named.
	Subscriptions []string
}

type credentialKey struct{}

// WithCredential makes the requests of the context go by the named connection.
// "" leaves the choice to the subscription: the connection that is tied to it,
// else the client's own, which CredentialDefaultName names.
func WithCredential(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, credentialKey{}, name)
}

// CredentialName is the name that WithCredential left, or "".
func CredentialName(ctx context.Context) string {
	name, _ := ctx.Value(credentialKey{}).(string)
	return name
}

// connections are the further ways of a Client by their names.
type connections struct {
	named map[string]*Client
	// tied are the names by subscription, in lower case.
	tied map[string]string
	// bound are the subscriptions of each tied connection, in lower case.
	bound map[string][]string
}

// connect makes the further connections, with what they share.
func connect(options Options) (*connections, error) {
	all := &connections{named: map[string]*Client{}, tied: map[string]string{}, bound: map[string][]string{}}
	for _, name := range slices.Sorted(maps.Keys(options.Connections)) {
		connection := options.Connections[name]
		own := connection.Options
		own.Connections = nil
		own.Version, own.ApplicationID, own.PollInterval = options.Version, options.ApplicationID, options.PollInterval
		own.Throttle, own.Observer, own.Clock = options.Throttle, options.Observer, options.Clock
		client, err := NewClient(own)
		if err != nil {
			return nil, fmt.Errorf("credential %s: %w", name, err)
		}
		client.name = name
		all.named[name] = client
		for _, subscription := range connection.Subscriptions {
			key := strings.ToLower(subscription)
			if other, taken := all.tied[key]; taken {
				return nil, fmt.Errorf("credential %s: subscription %s is tied to credential %s already", name, subscription, other)
			}
			all.tied[key] = name
			all.bound[name] = append(all.bound[name], key)
		}
	}
	return all, nil
}

// For is the connection for a resource: the one that the context names, else
// the one that is tied to its subscription, else the client's own. One that is
// tied to other subscriptions is refused, an unknown one too: an *Error with
// CodeCredentialNotUsable.
func (c *Client) For(ctx context.Context, id resource.ID) (*Client, error) {
	if c.connections == nil {
		return c, nil // chosen already
	}
	name, subscription := CredentialName(ctx), strings.ToLower(id.Subscription())
	if name == "" {
		name = c.connections.tied[subscription]
	}
	chosen, err := c.connection(name)
	if err != nil {
		return nil, err
	}
	if bound := c.connections.bound[name]; len(bound) > 0 && !slices.Contains(bound, subscription) {
		return nil, notUsable("the credential %s is tied to the subscriptions %s, and %s lies in none of them; name another one in reconcile.credential, or tie it to this one in the worker's config",
			name, strings.Join(bound, ", "), id.Short())
	}
	return chosen, nil
}

// connection is the one of a name.
func (c *Client) connection(name string) (*Client, error) {
	if name == "" || name == CredentialDefaultName || c.connections == nil {
		return c, nil
	}
	if chosen, known := c.connections.named[name]; known {
		return chosen, nil
	}
	return nil, notUsable("the worker has no credential %q; it has %s: correct reconcile.credential, or add it to the worker's config",
		name, strings.Join(c.Names(), ", "))
}

// Names are those of the connections, the client's own first.
func (c *Client) Names() []string {
	names := []string{CredentialDefaultName}
	if c.connections != nil {
		names = append(names, slices.Sorted(maps.Keys(c.connections.named))...)
	}
	return names
}

func notUsable(format string, args ...any) *Error {
	refused := &Error{Code: CodeCredentialNotUsable, Message: fmt.Sprintf(format, args...)}
	refused.classify("")
	return refused
}
