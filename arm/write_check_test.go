package arm_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
)

var errNotNow = errors.New("not now")

// TestWriteCheck sends one request of each kind with a check that refuses all.
func TestWriteCheck(t *testing.T) {
	id, err := resource.ParseID("/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/rg/providers/Contoso.Things/things/t1")
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		send   func(ctx context.Context, c *arm.Client) error
		asked  arm.Write
	}{
		"Put": {"a PUT writes", func(ctx context.Context, c *arm.Client) error {
			_, err := c.Put(ctx, id, "2024-01-01", []byte(`{}`), arm.PutOptions{})
			return err
		}, arm.Write{Call: arm.CallPut, Method: http.MethodPut, Type: id.Type()}},
		"Patch": {"so does a PATCH", func(ctx context.Context, c *arm.Client) error {
			_, err := c.Patch(ctx, id, "2024-01-01", []byte(`{}`), arm.PutOptions{})
			return err
		}, arm.Write{Call: arm.CallPatch, Method: http.MethodPatch, Type: id.Type()}},
		"Delete": {"and a DELETE", func(ctx context.Context, c *arm.Client) error {
			_, err := c.Delete(ctx, id, "2024-01-01", arm.DeleteOptions{})
			return err
		}, arm.Write{Call: arm.CallDelete, Method: http.MethodDelete, Type: id.Type()}},
		"Post": {"an action may do anything", func(ctx context.Context, c *arm.Client) error {
			_, err := c.Post(ctx, id, "restart", "2024-01-01", nil)
			return err
		}, arm.Write{Call: arm.CallPost, Method: http.MethodPost, Type: id.Type(), Action: "restart"}},
		"List": {"ARM names the actions that read", func(ctx context.Context, c *arm.Client) error {
			_, err := c.Post(ctx, id, "listKeys", "2024-01-01", nil)
			return err
		}, arm.Write{}},
		"Get": {"a read needs no check", func(ctx context.Context, c *arm.Client) error {
			_, err := c.Get(ctx, id, "2024-01-01")
			return err
		}, arm.Write{}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var arrived atomic.Int32
			var asked arm.Write
			client := checkedClient(t, func(_ context.Context, write arm.Write) error {
				asked = write
				return errNotNow
			}, nil, func(w http.ResponseWriter, _ *http.Request) {
				arrived.Add(1)
				_, _ = w.Write([]byte(`{"id":"` + id.String() + `"}`))
			})
			err := test.send(t.Context(), client)
			writes := test.asked.Method != ""
			refusal, refused := errors.AsType[*arm.WriteRefusedError](err)
			if refused != writes || refused && !errors.Is(refusal, errNotNow) || asked != test.asked {
				t.Errorf("asked about %+v and returned %v, want %+v: %s", asked, err, test.asked, test.reason)
			}
			if got := arrived.Load() > 0; got == writes {
				t.Errorf("a request arrived is %t: %s", got, test.reason)
			}
		})
	}
}

// TestWriteCheckAtConnection refuses a write that was allowed before a connection took
// longer than the result of the check counts.
//
//guard:fence
func TestWriteCheckAtConnection(t *testing.T) {
	id, err := resource.ParseID("/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/rg/providers/Contoso.Things/things/t1")
	if err != nil {
		t.Fatal(err)
	}
	for name, protocol := range map[string]string{"HTTP1": "http/1.1", "HTTP2": "h2"} {
		for method, send := range map[string]func(context.Context, *arm.Client) error{
			"Put": func(ctx context.Context, c *arm.Client) error {
				_, err := c.Put(ctx, id, "2024-01-01", []byte(`{}`), arm.PutOptions{})
				return err
			},
			"Delete": func(ctx context.Context, c *arm.Client) error {
				_, err := c.Delete(ctx, id, "2024-01-01", arm.DeleteOptions{})
				return err
			},
		} {
			t.Run(name+method, func(t *testing.T) {
				t.Parallel()
				var arrived, checks atomic.Int32
				client := checkedClient(t, func(context.Context, arm.Write) error {
					if checks.Add(1) > 1 {
						return errNotNow
					}
					return nil
				}, []string{protocol}, func(http.ResponseWriter, *http.Request) { arrived.Add(1) })
				if err := send(t.Context(), client); !errors.Is(err, errNotNow) {
					t.Errorf("the request ended with %v, want the refusal", err)
				}
				<-time.After(200 * time.Millisecond) // net/http writes beside the caller
				if checks.Load() != 2 || arrived.Load() != 0 {
					t.Errorf("%d checks and %d requests, want 2 and 0", checks.Load(), arrived.Load())
				}
			})
		}
	}
}

// checkedClient returns a client whose writes are checked; with protocols it takes 2.2 s
// to connect, and speaks TLS.
func checkedClient(t *testing.T, check arm.WriteCheck, protocols []string, handler http.HandlerFunc) *arm.Client {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	dialer := &net.Dialer{}
	transport := &http.Transport{DialContext: dialer.DialContext}
	if protocols != nil {
		server.EnableHTTP2 = true
		server.StartTLS()
		transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: true, NextProtos: protocols, MinVersion: tls.VersionTLS12}
		transport.ForceAttemptHTTP2 = protocols[0] == "h2"
		transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			select {
			case <-time.After(2200 * time.Millisecond):
			case <-ctx.Done():
			}
			return dialer.DialContext(ctx, network, address)
		}
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	t.Cleanup(transport.CloseIdleConnections)
	cloud, err := arm.CloudConfiguration(arm.CloudOptions{Name: "custom", Endpoint: server.URL, Audience: server.URL, AuthorityHost: "https://login.invalid"})
	if err != nil {
		t.Fatal(err)
	}
	client, err := arm.NewClient(arm.Options{Cloud: cloud, MayWrite: check, Transport: &http.Client{Transport: transport}})
	if err != nil {
		t.Fatal(err)
	}
	return client
}
