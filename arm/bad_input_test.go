package arm

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// elsewhere returns a server that must not receive a request, and its counter.
func elsewhere(t *testing.T) (*httptest.Server, *atomic.Int32) {
	t.Helper()
	asked := &atomic.Int32{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = w.Write([]byte(`{"status":"Succeeded","value":[]}`))
	}))
	t.Cleanup(server.Close)
	return server, asked
}

// TestBadInputForeignOperationURLs checks that an operation URL of another host is
// refused in every form: it receives no request and no token, and the accepted
// operation stays accepted.
func TestBadInputForeignOperationURLs(t *testing.T) {
	other, asked := elsewhere(t)
	foreign := strings.TrimPrefix(other.URL, "http://")
	for name, where := range map[string]string{
		"OtherHost":  other.URL + "/op/1",
		"OtherPort":  strings.Replace(other.URL, "127.0.0.1", "localhost", 1) + "/op/1",
		"NoScheme":   "//" + foreign + "/op/1",
		"UserTrick":  "http://{own}@" + foreign + "/op/1",
		"OtherProto": "https://{own}/op/1",
		"Relative":   "/op/1",
		"NoURL":      "http://%zz",
	} {
		for _, header := range []string{"Azure-AsyncOperation", "Location"} {
			for _, method := range []string{http.MethodPut, http.MethodDelete, http.MethodPost} {
				server := newScript(t)
				own := strings.TrimPrefix(server.URL, "http://")
				server.replies = []reply{{202, map[string]string{header: strings.ReplaceAll(where, "{own}", own)}, ``}}
				client, id := server.client(t, func(o *Options) { o.Credential = fixedToken{} }), parseID(t, clusterID)
				var op Operation
				var err error
				switch method {
				case http.MethodPut:
					op, err = client.Put(testContext(t), id, apiVersion, []byte(`{}`), PutOptions{})
				case http.MethodDelete:
					op, err = client.Delete(testContext(t), id, apiVersion, DeleteOptions{})
				default:
					op, err = client.Post(testContext(t), id, "start", apiVersion, nil)
				}
				if err != nil || op.Outcome != OutcomeUnreadable || op.Token != "" || op.Done {
					t.Errorf("%s %s %s: got %+v, %v; want: accepted, read the resource", name, header, method, op, err)
				}
			}
		}
	}
	if asked.Load() > 0 {
		t.Errorf("the other host received %d requests", asked.Load())
	}
}

// TestBadInputRedirects checks that no kind of request follows a redirect to another
// host.
func TestBadInputRedirects(t *testing.T) {
	other, asked := elsewhere(t)
	away := reply{307, map[string]string{"Location": other.URL + "/"}, ``}
	server := newScript(t, away, away, away, away, away, step1(t, pollAsyncURL), away)
	client, id := server.client(t, func(o *Options) { o.Credential = fixedToken{} }), parseID(t, clusterID)
	for name, call := range map[string]func() error{
		"GET": func() error { _, err := client.Get(testContext(t), id, apiVersion); return err },
		"PUT": func() error {
			_, err := client.Put(testContext(t), id, apiVersion, []byte(`{}`), PutOptions{})
			return err
		},
		"DELETE": func() error { _, err := client.Delete(testContext(t), id, apiVersion, DeleteOptions{}); return err },
		"List":   func() error { _, err := client.List(testContext(t), id, "databases", apiVersion, 10); return err },
		"Register": func() error {
			_, err := client.RegisterProvider(testContext(t), id.Subscription(), id.Provider())
			return err
		},
	} {
		if got := asError(t, call()); got.Status != http.StatusTemporaryRedirect {
			t.Errorf("%s: got %+v, want the redirect itself", name, got)
		}
	}
	op, err := client.Put(testContext(t), id, apiVersion, []byte(`{}`), PutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if poll, err := client.Poll(testContext(t), op.Token); err != nil || poll.Outcome != OutcomeUnreadable {
		t.Errorf("a redirected poll returns %+v, %v", poll, err)
	}
	if asked.Load() > 0 {
		t.Errorf("the other host received %d requests", asked.Load())
	}
}

// TestBadInputBodies checks that a response that is too large or not JSON is an error
// with the request ID, and that an accepted write stays accepted.
func TestBadInputBodies(t *testing.T) {
	huge := `{"a":"` + strings.Repeat("x", maxResponseBytes) + `"}`
	for name, body := range map[string]string{"TooLarge": huge, "HTML": `<html>`, "Half": `{"a":`, "Two": `{}{}`, "Array": `[]`} {
		server := newScript(t, reply{200, nil, body}, reply{200, nil, body}, reply{201, nil, body}, reply{404, nil, body}, reply{404, nil, body}, step1(t, pollAsyncURL), reply{200, nil, body})
		client, id := server.client(t, nil), parseID(t, clusterID)
		_, readErr := client.Get(testContext(t), id, apiVersion)
		_, listErr := client.List(testContext(t), id, "databases", apiVersion, 10)
		for what, err := range map[string]error{"GET": readErr, "list": listErr} {
			if got := asError(t, err); got.Code != CodeInvalidAnswer || got.RequestID != "request-1" || !strings.Contains(err.Error(), "request-1") {
				t.Errorf("%s, %s: got %v, want %s with the request ID", name, what, err, CodeInvalidAnswer)
			}
		}
		if op, err := client.Put(testContext(t), id, apiVersion, []byte(`{}`), PutOptions{}); err != nil || op.Err != nil || op.RequestID != "request-1" {
			t.Errorf("%s: the accepted PUT returns %+v, %v", name, op, err)
		}
		if _, err := client.Get(testContext(t), id, apiVersion); IsAbsent(err) || asError(t, err).RequestID != "request-1" {
			t.Errorf("%s: a 404 that is not from ARM returns %v", name, err)
		}
		op, err := client.Put(testContext(t), id, apiVersion, []byte(`{}`), PutOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if poll, err := client.Poll(testContext(t), op.Token); err != nil || poll.Done || poll.Outcome != OutcomeUnreadable || poll.RequestID != "request-1" {
			t.Errorf("%s: the poll returns %+v, %v", name, poll, err)
		}
	}
}

// TestBadInputPlainHTTP checks that plain HTTP is allowed for loopback only.
func TestBadInputPlainHTTP(t *testing.T) {
	for endpoint, allowed := range map[string]bool{
		"http://127.0.0.1:8080": true, "http://[::1]:8080": true, "http://localhost:8080": true,
		"http://management.azure.com": false, "http://127.0.0.1.evil.example": false, "http://10.0.0.1": false,
		"http://localhost.evil.example": false, "http://0.0.0.0:8080": false, "ftp://127.0.0.1": false,
	} {
		_, err := NewClient(Options{Cloud: cloudAt(endpoint), Credential: fixedToken{}})
		if (err == nil) != allowed {
			t.Errorf("%s: got %v", endpoint, err)
		}
	}
}
