package arm

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/armature-io/armature/resource"
)

// TestSubject checks that what is read on behalf of a resource is read by the connection
// of that resource, whether its manifest names one or not.
//
//guard:tenants-are-separate
func TestSubject(t *testing.T) {
	const teamA, teamB, untied = "aaaaaaaa-0000-0000-0000-000000000000", "bbbbbbbb-0000-0000-0000-000000000000", "cccccccc-0000-0000-0000-000000000000"
	idIn := func(subscription string) resource.ID {
		return parseID(t, "/subscriptions/"+subscription+"/resourceGroups/g/providers/Microsoft.Kusto/clusters/c")
	}
	cases := map[string]struct {
		reason  string
		name    string
		subject string
		read    string
		write   bool
		strict  bool
		mayRead []string
		want    string // the connection, "" for none
	}{
		"own subscription":       {reason: "its own connection", subject: teamA, read: teamA, want: "a"},
		"other tenant":           {reason: "a reference never borrows the connection of the other tenant", subject: teamA, read: teamB},
		"named":                  {reason: "the same with the name in the manifest", name: "a", subject: teamA, read: teamB},
		"name of the other":      {reason: "naming the other one does not help", name: "b", subject: teamA, read: teamA},
		"may-read":               {reason: "an explicit list allows reads", subject: teamA, read: teamB, mayRead: []string{teamB}, want: "a"},
		"may-read, write":        {reason: "and nothing else", subject: teamA, read: teamB, mayRead: []string{teamB}, write: true},
		"outside, named":         {reason: "a resource elsewhere reads nothing with it, not even where it serves", name: "a", subject: untied, read: teamA},
		"may-read, named there":  {reason: "a resource in a subscription that it may read does not get it", name: "a", subject: untied, read: untied, mayRead: []string{untied}},
		"untied":                 {reason: "the worker's own connection, with its own rights", subject: untied, read: teamB, want: "own"},
		"default":                {reason: "a manifest may name default", name: CredentialDefaultName, subject: teamA, read: teamA, want: "own"},
		"default, tied strictly": {reason: "unless the subscription is tied strictly", name: CredentialDefaultName, subject: teamA, read: teamA, strict: true},
		"strict, nothing named":  {reason: "its own connection is the one", subject: teamA, read: teamA, strict: true, want: "a"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			servers := map[string]*script{}
			for _, at := range []string{"own", "a", "b"} {
				servers[at] = newScript(t, reply{200, nil, `{}`})
			}
			client := servers["own"].client(t, func(o *Options) {
				o.Connections = map[string]Connection{
					"a": {Options: Options{Cloud: cloudAt(servers["a"].URL)}, Subscriptions: []string{teamA}, MayRead: c.mayRead, Strict: c.strict},
					"b": {Options: Options{Cloud: cloudAt(servers["b"].URL)}, Subscriptions: []string{teamB}},
				}
			})
			ctx := WithSubject(WithCredential(testContext(t), c.name), idIn(c.subject))
			var err error
			if c.write {
				_, err = client.Put(ctx, idIn(c.read), apiVersion, []byte(`{}`), PutOptions{})
			} else {
				_, err = client.Get(ctx, idIn(c.read), apiVersion)
			}
			for at, server := range servers {
				if asked := len(server.requests()) > 0; asked != (at == c.want) {
					t.Errorf("%s: connection %s received requests: %t (%v)", c.reason, at, asked, err)
				}
			}
			if c.want == "" && asError(t, err).Code != CodeCredentialNotUsable {
				t.Errorf("%s: got %v, want %s", c.reason, err, CodeCredentialNotUsable)
			}
		})
	}
}

// TestSecretHolder checks whose secrets of the worker a resource may use: those of the
// credential that its subscription is tied to, whatever its manifest names.
//
//guard:secrets-belong-to-a-credential
func TestSecretHolder(t *testing.T) {
	const teamA, teamB, untied = "aaaaaaaa-0000-0000-0000-000000000000", "bbbbbbbb-0000-0000-0000-000000000000", "cccccccc-0000-0000-0000-000000000000"
	cases := map[string]struct {
		reason, name, subject, want string
	}{
		"nothing named":            {reason: "the subscription decides", subject: teamA, want: "a"},
		"default named":            {reason: "the requests go by default, the secrets are those of the team", name: CredentialDefaultName, subject: teamA, want: "a"},
		"credential of no team":    {reason: "the secrets of another credential do not come with its name", name: "shared", subject: teamA, want: "a"},
		"credential of a team":     {reason: "another team cannot take them by its name", name: "b", subject: teamA, want: "a"},
		"untied":                   {reason: "nothing ties it", subject: untied, want: CredentialDefaultName},
		"untied, named":            {reason: "any manifest may name it", name: "shared", subject: untied, want: "shared"},
		"untied, name of a team":   {reason: "the credential serves its subscriptions alone", name: "a", subject: untied},
		"may-read is no ownership": {reason: "a subscription that the credential reads from is not its own", name: "a", subject: teamB, want: "b"},
		"may-read, untied":         {reason: "nor is one that belongs to no team", name: "b", subject: untied},
		"unknown name":             {reason: "nothing is sent for it either", name: "c", subject: untied},
	}
	client := newScript(t).client(t, func(o *Options) {
		at := Options{Cloud: o.Cloud}
		o.Connections = map[string]Connection{
			"a": {Options: at, Subscriptions: []string{teamA}, MayRead: []string{teamB}},
			"b": {Options: at, Subscriptions: []string{teamB}, MayRead: []string{untied}}, "shared": {Options: at},
		}
	})
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			id := parseID(t, "/subscriptions/"+c.subject+"/resourceGroups/g/providers/Microsoft.Kusto/clusters/c")
			if got := client.SecretHolder(WithSubject(WithCredential(testContext(t), c.name), id)); got != c.want {
				t.Errorf("%s: got %q, want %q", c.reason, got, c.want)
			}
		})
	}
}

// TestTokenOfAnotherResource checks that a forged resume token reads nothing: neither with
// a credential that the resource may not use, nor in another subscription.
//
//guard:tenants-are-separate
func TestTokenOfAnotherResource(t *testing.T) {
	const teamA, teamB = "aaaaaaaa-0000-0000-0000-000000000000", "bbbbbbbb-0000-0000-0000-000000000000"
	idIn := func(subscription string) resource.ID {
		return parseID(t, "/subscriptions/"+subscription+"/resourceGroups/g/providers/Microsoft.Kusto/clusters/c")
	}
	own, other := newScript(t), newScript(t, step1(t, pollLocation), reply{200, nil, `{}`}, reply{200, nil, `{}`})
	client := own.client(t, func(o *Options) {
		o.Connections = map[string]Connection{"b": {Options: Options{Cloud: cloudAt(other.URL)}, Subscriptions: []string{teamB}}}
	})
	op, err := client.Delete(WithSubject(testContext(t), idIn(teamB)), idIn(teamB), apiVersion, DeleteOptions{})
	if err != nil || op.Token == "" {
		t.Fatalf("%+v, %v", op, err)
	}
	if _, err := client.Poll(WithSubject(testContext(t), idIn(teamA)), op.Token); asError(t, err).Code != CodeCredentialNotUsable || len(other.requests()) != 1 {
		t.Errorf("a token with the credential of another team: %d requests, %v", len(other.requests()), err)
	}
	var token map[string]any
	if err := json.Unmarshal([]byte(op.Token), &token); err != nil {
		t.Fatal(err)
	}
	poller, _ := token["poller"].(string)
	named := other.URL + "/subscriptions/" + teamA + "/providers/Microsoft.Kusto/locations/l/operations/1"
	start := strings.Index(poller, other.URL)
	if start < 0 {
		t.Fatalf("the token has no URL: %s", poller)
	}
	end := start + strings.IndexByte(poller[start:], '"')
	token["poller"] = poller[:start] + named + poller[end:]
	forged, err := json.Marshal(token)
	if err != nil {
		t.Fatal(err)
	}
	poll, err := client.Poll(WithSubject(testContext(t), idIn(teamB)), string(forged))
	if err != nil || poll.Done || len(other.requests()) != 1 {
		t.Errorf("a token with the URL of another subscription: %d requests, %+v, %v; want none sent", len(other.requests()), poll, err)
	}
}
