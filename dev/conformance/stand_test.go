// Package conformance drives the ARM simulator with the Azure SDK's typed
// clients, unchanged and with their own retries, over HTTPS and with azidentity's
// client-secret credential. The simulator must do what these clients expect of
// Azure. No other part of Armature is involved.
package conformance

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	azcorearm "github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources/v3"

	"github.com/armature-io/armature/armsim"
)

const (
	subscription = "11111111-2222-3333-4444-555555555555"
	groupName    = "rg1"
	group        = "/subscriptions/" + subscription + "/resourceGroups/" + groupName
	region       = "westus2"

	tenant   = "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"
	clientID = "cccccccc-0000-0000-0000-000000000001"
	planted  = "a-planted-client-secret"

	// timeScale lets ten minutes of an operation pass in a tenth of a second.
	timeScale = 6000
)

// stand is a served simulator and the options of the SDK's clients.
type stand struct {
	t          *testing.T
	sim        *armsim.Simulator
	credential azcore.TokenCredential
	options    *azcorearm.ClientOptions
}

// newStand serves a simulator over HTTPS that requires tokens, with one group in it.
func newStand(t *testing.T) *stand {
	t.Helper()
	sim := armsim.New(armsim.Options{
		Seed: 1, TimeScale: timeScale, Subscriptions: []string{subscription},
		RequireAuth: true, TenantID: tenant, ClientID: clientID, ClientSecret: planted,
	})
	server, err := sim.Listen(armsim.ListenOptions{TLS: true})
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(server.CA()) {
		t.Fatal("the server's CA holds no certificate")
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	shared := policy.ClientOptions{
		Transport: &http.Client{Transport: transport},
		Cloud: cloud.Configuration{ActiveDirectoryAuthorityHost: server.URL(), Services: map[cloud.ServiceName]cloud.ServiceConfiguration{
			cloud.ResourceManager: {Endpoint: server.URL(), Audience: server.URL()},
		}},
	}
	s := &stand{t: t, sim: sim, options: &azcorearm.ClientOptions{ClientOptions: shared}}
	s.credential = s.login(planted)
	groups := client(t, s, armresources.NewResourceGroupsClient)
	if _, err := groups.CreateOrUpdate(s.context(), groupName, armresources.ResourceGroup{Location: to(region)}, nil); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *stand) login(secret string) azcore.TokenCredential {
	s.t.Helper()
	credential, err := azidentity.NewClientSecretCredential(tenant, clientID, secret,
		&azidentity.ClientSecretCredentialOptions{ClientOptions: s.options.ClientOptions, DisableInstanceDiscovery: true})
	if err != nil {
		s.t.Fatal(err)
	}
	return credential
}

// context bounds a call: a client that waits longer than this does not work.
func (s *stand) context() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	s.t.Cleanup(cancel)
	return ctx
}

// client returns a typed client of the SDK.
func client[C any](t *testing.T, s *stand, make func(string, azcore.TokenCredential, *azcorearm.ClientOptions) (*C, error)) *C {
	t.Helper()
	c, err := make(subscription, s.credential, s.options)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// done runs the SDK's poller to its end. The pause between polls is for
// responses without Retry-After, for which the SDK would wait half a minute.
func done[T any](t *testing.T, s *stand, poller *runtime.Poller[T], err error) T {
	t.Helper()
	final, err := ended(s, poller, err)
	if err != nil {
		t.Fatal(err)
	}
	return final
}

func ended[T any](s *stand, poller *runtime.Poller[T], err error) (T, error) {
	if err != nil {
		var none T
		return none, err
	}
	return poller.PollUntilDone(s.context(), &runtime.PollUntilDoneOptions{Frequency: 5 * time.Millisecond})
}

// refused checks the status and the code of an error.
func refused(t *testing.T, err error, status int, code string) {
	t.Helper()
	var response *azcore.ResponseError
	if !errors.As(err, &response) || response.StatusCode != status || response.ErrorCode != code {
		t.Fatalf("got %v, want %d %s", err, status, code)
	}
}

// pages reads a list to its end.
func pages[T any](t *testing.T, s *stand, pager *runtime.Pager[T], count func(T) int) int {
	t.Helper()
	n := 0
	for pager.More() {
		page, err := pager.NextPage(s.context())
		if err != nil {
			t.Fatal(err)
		}
		n += count(page)
	}
	return n
}

func to[T any](value T) *T { return &value }

func equal[T comparable](t *testing.T, what string, got *T, want T) {
	t.Helper()
	if got == nil || *got != want {
		t.Errorf("%s is %v, want %v", what, show(got), want)
	}
}

func show[T any](value *T) any {
	if value == nil {
		return "absent"
	}
	return *value
}
