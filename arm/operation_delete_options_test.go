package arm

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/armature-io/armature/resource"
)

// postServer sends a fixed response and keeps the last request.
func postServer(t *testing.T, status int, body string) (*Client, func() (method, uri, ifMatch, sent string)) {
	t.Helper()
	var method, uri, match, sent string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		method, uri, match, sent = r.Method, r.URL.RequestURI(), r.Header.Get("If-Match"), string(raw)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	cloud, err := CloudConfiguration(CloudOptions{Name: "custom", Endpoint: server.URL, Audience: server.URL, AuthorityHost: "https://login.invalid"})
	if err != nil {
		t.Fatal(err)
	}
	client, err := NewClient(Options{Cloud: cloud})
	if err != nil {
		t.Fatal(err)
	}
	return client, func() (string, string, string, string) { return method, uri, match, sent }
}

func thing(t *testing.T) resource.ID {
	t.Helper()
	id, err := resource.ParseID("/subscriptions/s/providers/Contoso.Things/things/t1")
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestDeleteOptions(t *testing.T) {
	client, last := postServer(t, 200, "")
	options := DeleteOptions{IfMatch: "*", Query: url.Values{"deleteSubscriptions": {"true"}}}
	if _, err := client.Delete(t.Context(), thing(t), "2023-01-01", options); err != nil {
		t.Fatal(err)
	}
	if method, uri, match, _ := last(); method != "DELETE" || match != "*" ||
		uri != "/subscriptions/s/providers/Contoso.Things/things/t1?api-version=2023-01-01&deleteSubscriptions=true" {
		t.Errorf("sent %s %s, If-Match %q", method, uri, match)
	}
}

func TestFind(t *testing.T) {
	client, last := postServer(t, 200, `{"value":[{"id":"x"}]}`)
	items, err := client.Find(context.Background(), thing(t), "providers/Microsoft.Authorization/roleAssignments", "2023-01-01", "principalId eq 'a b'", 10)
	_, uri, _, _ := last()
	want := "/subscriptions/s/providers/Contoso.Things/things/t1/providers/Microsoft.Authorization/roleAssignments?api-version=2023-01-01&%24filter=principalId%20eq%20%27a%20b%27"
	if err != nil || len(items) != 1 || uri != want {
		t.Errorf("got %s, %v; sent %s", items, err, uri)
	}
}
