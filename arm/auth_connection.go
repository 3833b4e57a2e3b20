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
	// MayRead are further GUIDs that a restricted connection may read from, for
	// references.
	MayRead []string
	// Strict refuses every other connection for resources in Subscriptions, the
	// client's own included.
	Strict bool
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
	// subscriptions of each restricted connection, in lower case, and the further ones
	// that it may read.
	subscriptions, mayRead map[string][]string
	strict                 map[string]bool
}

// newConnections creates the additional connections with the options that they share.
func newConnections(options Options) (*connections, error) {
	all := &connections{
		byName: map[string]*Client{}, bySubscription: map[string]string{},
		subscriptions: map[string][]string{}, mayRead: map[string][]string{}, strict: map[string]bool{},
	}
	for _, name := range slices.Sorted(maps.Keys(options.Connections)) {
		connection := options.Connections[name]
		own := connection.Options
		own.Connections = nil
		own.Version, own.ApplicationID, own.UserAgentSuffix, own.PollInterval = options.Version, options.ApplicationID, options.UserAgentSuffix, options.PollInterval
		own.Observer, own.Clock, own.MayWrite, own.Journal, own.ReadOnly = options.Observer, options.Clock, options.MayWrite, options.Journal, options.ReadOnly
		if own.Throttle == nil {
			own.Throttle = options.Throttle
		}
		client, err := NewClient(own)
		if err != nil {
			return nil, fmt.Errorf("credential %s: %w", name, err)
		}
		client.name = name
		all.byName[name], all.strict[name] = client, connection.Strict
		for _, subscription := range connection.MayRead {
			all.mayRead[name] = append(all.mayRead[name], strings.ToLower(subscription))
		}
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

// For returns the connection for reading a resource on behalf of the resource of the
// context (WithSubject; without one the resource itself): the one that the context names,
// else the one that is restricted to the subscription of that resource, else the client's
// own. An unknown name, one that is restricted to subscriptions without that resource or
// without the one to read, and one that a strict connection excludes are an *Error with CodeCredentialNotUsable.
func (c *Client) For(ctx context.Context, id resource.ID) (*Client, error) {
	return c.forRequest(ctx, id, true)
}

// forRequest is For; a request that is no read does not get a connection that may only
// read there.
func (c *Client) forRequest(ctx context.Context, id resource.ID, read bool) (*Client, error) {
	if c.connections == nil {
		return c, nil // selected before
	}
	name, subscription := c.ConnectionName(ctx, id), strings.ToLower(id.Subscription())
	connection, err := c.connection(name)
	if err != nil {
		return nil, err
	}
	all := c.connections
	subject := strings.ToLower(subjectOf(ctx, id).Subscription())
	if tied := all.bySubscription[subject]; tied != "" && tied != name && all.strict[tied] {
		return nil, notUsable("the subscription of %s is tied to the credential %s alone (tied: strict); leave reconcile.credential out", subjectOf(ctx, id).Short(), tied)
	}
	allowed := all.subscriptions[name]
	if len(allowed) > 0 && !slices.Contains(allowed, subject) {
		return nil, notUsable("credential %s is restricted to the subscriptions %s, which do not contain %s; set another one in reconcile.credential, or add the subscription to subscriptions in the worker's config",
			name, strings.Join(allowed, ", "), subjectOf(ctx, id).Short())
	}
	if len(allowed) == 0 || slices.Contains(allowed, subscription) || read && slices.Contains(all.mayRead[name], subscription) {
		return connection, nil
	}
	return nil, notUsable("credential %s is restricted to the subscriptions %s, which do not contain %s; set another one in reconcile.credential, or add the subscription to subscriptions or may-read in the worker's config",
		name, strings.Join(allowed, ", "), id.Short())
}

// ConnectionName returns the name of the connection that For selects, before it checks
// whether it may be used: a key for caches of what was read.
func (c *Client) ConnectionName(ctx context.Context, id resource.ID) string {
	name := CredentialName(ctx)
	if name == "" && c.connections != nil {
		name = c.connections.bySubscription[strings.ToLower(subjectOf(ctx, id).Subscription())]
	}
	if name == "" {
		return CredentialDefaultName
	}
	return name
}

// SecretHolder returns the name of the connection whose secrets of the worker the resource
// of the context (WithSubject) may use: the one that is restricted to its subscription, also
// where its manifest names another one, else the one of its requests; "" where that may
// not write it.
func (c *Client) SecretHolder(ctx context.Context) string {
	id, _ := ctx.Value(subjectKey{}).(resource.ID)
	if c.connections != nil {
		if tied := c.connections.bySubscription[strings.ToLower(id.Subscription())]; tied != "" {
			return tied
		}
	}
	if _, err := c.forRequest(ctx, id, false); err != nil {
		return ""
	}
	return c.ConnectionName(ctx, id)
}

// foreignTo returns a function that reports whether a subscription is out of reach of a
// connection: it is not among those to which the connection is restricted, or it is tied to
// another one. Some services have their operations in subscriptions of their own.
func (c *Client) foreignTo(name string) func(subscription string) bool {
	return func(subscription string) bool {
		if c.connections == nil || subscription == "" {
			return false
		}
		all := c.connections
		if allowed := all.subscriptions[name]; len(allowed) > 0 {
			return !slices.Contains(allowed, subscription) && !slices.Contains(all.mayRead[name], subscription)
		}
		tied := all.bySubscription[subscription]
		return tied != "" && tied != name
	}
}

// subjectOf returns the resource that a request is sent for, id where the context has
// none.
func subjectOf(ctx context.Context, id resource.ID) resource.ID {
	if subject, ok := ctx.Value(subjectKey{}).(resource.ID); ok && !subject.IsZero() {
		return subject
	}
	return id
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
