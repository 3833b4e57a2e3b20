package arm

import (
	"errors"
	"strings"
	"testing"

	"github.com/armature-io/armature/resource"
)

// isRefusal reports whether an error is a response, not a transport error.
func isRefusal(err error) bool {
	var answer *Error
	return errors.As(err, &answer)
}

// TestConnections checks which connection a request uses.
func TestConnections(t *testing.T) {
	const first, second = "11111111-0000-0000-0000-000000000000", "22222222-0000-0000-0000-000000000000"
	idIn := func(subscription string) resource.ID {
		return parseID(t, "/subscriptions/"+subscription+"/resourceGroups/g/providers/Microsoft.Kusto/clusters/c")
	}
	cases := map[string]struct {
		reason string
		name   string
		id     resource.ID
		want   string // the connection, "" for none
		parts  []string
	}{
		"Nothing":     {reason: "the default is the client's own connection", id: idIn(first), want: "own"},
		"Tied":        {reason: "a subscription with its own connection uses it", id: idIn(second), want: "tied"},
		"TiedAnyCase": {reason: "GUIDs ignore case", id: idIn(strings.ToUpper(second)), want: "tied"},
		"Named":       {reason: "the manifest selects the connection", name: "free", id: idIn(second), want: "free"},
		"Default":     {reason: "the client's own connection, selected by name", name: CredentialDefaultName, id: idIn(second), want: "own"},
		"Elsewhere": {
			reason: "a connection of one subscription serves no other subscription", name: "tied", id: idIn(first),
			parts: []string{"credential tied is restricted to the subscriptions " + second, "which do not contain"},
		},
		"NoSubscription": {
			reason: "nor a resource outside subscriptions", name: "tied", id: parseID(t, "/providers/Microsoft.Management/managementGroups/m"),
			parts: []string{"credential tied is restricted to"},
		},
		"Unknown": {
			reason: "the error lists the known credentials", name: "prod", id: idIn(first),
			parts: []string{`the worker has no credential "prod", only default, free, tied`},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			servers := map[string]*script{"own": newScript(t, reply{200, nil, `{}`}), "tied": newScript(t, reply{200, nil, `{}`}), "free": newScript(t, reply{200, nil, `{}`})}
			client := servers["own"].client(t, func(o *Options) {
				o.Connections = map[string]Connection{
					"tied": {Options: Options{Cloud: cloudAt(servers["tied"].URL)}, Subscriptions: []string{second}},
					"free": {Options: Options{Cloud: cloudAt(servers["free"].URL)}},
				}
			})
			_, err := client.Get(WithCredential(testContext(t), c.name), c.id, apiVersion)
			if c.want != "" && err != nil {
				t.Fatalf("%s: %v", c.reason, err)
			}
			for at, server := range servers {
				if asked := len(server.requests()) > 0; asked != (at == c.want) {
					t.Errorf("%s: connection %s received requests: %t", c.reason, at, asked)
				}
			}
			for _, part := range c.parts {
				if refused := asError(t, err); !strings.Contains(err.Error(), part) || refused.Code != CodeCredentialNotUsable || refused.Class != ClassVerySlow {
					t.Errorf("%s: got %v (%s), want %q in it", c.reason, err, refused.Class, part)
				}
			}
		})
	}
}

// TestOperationKeepsItsConnection checks that polls of an operation use the
// credential that started it, not the one that the context selects. A credential that
// is no longer configured is an error.
func TestOperationKeepsItsConnection(t *testing.T) {
	own, other := newScript(t), newScript(t, step1(t, pollLocation), reply{200, nil, `{}`})
	connections := map[string]Connection{"other": {Options: Options{Cloud: cloudAt(other.URL)}}}
	client := own.client(t, func(o *Options) { o.Connections = connections })
	op, err := client.Delete(WithCredential(testContext(t), "other"), parseID(t, clusterID), apiVersion, DeleteOptions{})
	if err != nil || op.Token == "" {
		t.Fatalf("%+v, %v", op, err)
	}
	if _, err := client.Poll(testContext(t), op.Token); err != nil || len(other.requests()) != 2 || len(own.requests()) != 0 {
		t.Errorf("%d and %d requests, %v; want the poll on the DELETE's connection", len(other.requests()), len(own.requests()), err)
	}
	changed := own.client(t, func(o *Options) { o.Connections = map[string]Connection{} })
	if _, err := changed.Poll(testContext(t), op.Token); err == nil || !strings.Contains(err.Error(), `no credential "other"`) {
		t.Errorf("without the credential: %v", err)
	}
}

func TestConnectionsRefused(t *testing.T) {
	const subscription = "11111111-0000-0000-0000-000000000000"
	loop := Options{Cloud: cloudAt("http://127.0.0.1:1")}
	cases := map[string]struct {
		connections map[string]Connection
		want        string
	}{
		"NoToken":   {map[string]Connection{"a": {Options: Options{Cloud: cloudAt("https://arm.example")}}}, "credential a: configure credential: none is allowed for loopback only"},
		"TiedTwice": {map[string]Connection{"a": {Options: loop, Subscriptions: []string{subscription}}, "b": {Options: loop, Subscriptions: []string{strings.ToUpper(subscription)}}}, "already belongs to credential a"},
	}
	for name, c := range cases {
		options := loop
		options.Connections = c.connections
		if _, err := NewClient(options); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}
