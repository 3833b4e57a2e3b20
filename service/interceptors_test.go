package service_test

import (
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/armature-io/armature/service"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
)

// counting is an interceptor that counts the clients that use it.
type counting struct {
	interceptor.InterceptorBase
	clients atomic.Int64
}

func (c *counting) InterceptClient(next interceptor.ClientOutboundInterceptor) interceptor.ClientOutboundInterceptor {
	c.clients.Add(1)
	return next
}

// TestInterceptors checks that a worker uses the interceptors of its options beside
// those of the Temporal client.
func TestInterceptors(t *testing.T) {
	own, added := &counting{}, &counting{}
	address := listenTemporal(t, &fakeTemporal{mayRegister: true}, "127.0.0.1:0")
	r := startWith(t, settings(newEndpoint(t)), service.Options{
		Temporal:     &client.Options{HostPort: address, Interceptors: []interceptor.ClientInterceptor{own}},
		Interceptors: []interceptor.ClientInterceptor{added},
	})
	eventually(t, "the worker is ready", func() bool { status, _ := r.get(t, "/readyz"); return status == http.StatusOK })
	const clients = 2 // one polls, one sends the requests of activities
	if own.clients.Load() != clients || added.clients.Load() != clients {
		t.Errorf("%d clients use the interceptor of the client and %d the added one, want both all of them", own.clients.Load(), added.clients.Load())
	}
}
