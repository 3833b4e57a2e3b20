package armsim_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	azcorearm "github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"github.com/armature-io/armature/armsim"
)

// sdk is the Azure SDK's own stack against a served simulator: azidentity's client
// secret, azcore's ARM client and its pollers.
type sdk struct {
	t      *testing.T
	server *armsim.Server
	client *azcorearm.Client
}

func newSDK(t *testing.T, secret string, options armsim.Options) *sdk {
	t.Helper()
	options.RequireAuth, options.TenantID, options.ClientID, options.ClientSecret = true, tenant, clientID, planted
	caFile := filepath.Join(t.TempDir(), "ca", "ca.pem")
	server, err := armsim.New(options).Listen(armsim.ListenOptions{TLS: true, CAFile: caFile, Hosts: []string{"armsim"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	pem, err := os.ReadFile(caFile)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		t.Fatal("the CA file contains no certificate")
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	t.Cleanup(transport.CloseIdleConnections)
	shared := policy.ClientOptions{
		Transport: &http.Client{Transport: transport}, Retry: policy.RetryOptions{MaxRetries: -1},
		Cloud: cloud.Configuration{ActiveDirectoryAuthorityHost: server.URL() + "/", Services: map[cloud.ServiceName]cloud.ServiceConfiguration{
			cloud.ResourceManager: {Endpoint: server.URL(), Audience: server.URL()},
		}},
	}
	credential, err := azidentity.NewClientSecretCredential(tenant, clientID, secret,
		&azidentity.ClientSecretCredentialOptions{ClientOptions: shared, DisableInstanceDiscovery: true})
	if err != nil {
		t.Fatal(err)
	}
	client, err := azcorearm.NewClient("armsim.test", "v0.0.0", credential, &azcorearm.ClientOptions{ClientOptions: shared, DisableRPRegistration: true})
	if err != nil {
		t.Fatal(err)
	}
	return &sdk{t, server, client}
}

func (c *sdk) do(method, id, body string) (*http.Response, error) {
	c.t.Helper()
	request, err := runtime.NewRequest(context.Background(), method, runtime.JoinPaths(c.client.Endpoint(), id))
	if err != nil {
		c.t.Fatal(err)
	}
	request.Raw().URL.RawQuery = "api-version=2024-03-01"
	if body != "" {
		if err := request.SetBody(streaming.NopCloser(bytes.NewReader([]byte(body))), "application/json"); err != nil {
			c.t.Fatal(err)
		}
	}
	response, err := c.client.Pipeline().Do(request)
	if err != nil {
		return nil, err
	}
	if !runtime.HasStatusCode(response, 200, 201, 202, 204) {
		return response, runtime.NewResponseError(response)
	}
	return response, nil
}

// finish runs azcore's poller to the end and returns the final body.
func (c *sdk) finish(response *http.Response) (map[string]any, error) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	poller, err := runtime.NewPoller[json.RawMessage](response, c.client.Pipeline(), nil)
	if err != nil {
		c.t.Fatal(err)
	}
	data, err := poller.PollUntilDone(ctx, &runtime.PollUntilDoneOptions{Frequency: time.Millisecond})
	if err != nil {
		return nil, err
	}
	body := map[string]any{}
	if len(data) > 0 {
		if err := json.Unmarshal(data, &body); err != nil {
			c.t.Fatalf("parse final body %q: %v", data, err)
		}
	}
	return body, nil
}

// must puts or deletes a resource and waits for the end of the operation.
func (c *sdk) must(method, id, body string) map[string]any {
	c.t.Helper()
	response, err := c.do(method, id, body)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, id, err)
	}
	final, err := c.finish(response)
	if err != nil {
		c.t.Fatalf("finish %s %s: %v", method, id, err)
	}
	return final
}

func (c *sdk) refused(status int, code, method, id, body string) {
	c.t.Helper()
	_, err := c.do(method, id, body)
	var refusal *azcore.ResponseError
	if !errors.As(err, &refusal) || refusal.StatusCode != status || refusal.ErrorCode != code {
		c.t.Fatalf("%s %s: got %v, want %d %s", method, id, err, status, code)
	}
}

// TestAzureSDK runs the Azure SDK through a life cycle: token, create, poll, get,
// conflict, update, delete, deletion of the group, absence.
func TestAzureSDK(t *testing.T) {
	c := newSDK(t, planted, armsim.Options{TimeScale: 4000})
	c.refused(404, "ResourceGroupNotFound", "GET", group, "")
	c.must("PUT", group, `{"location":"westus2"}`)

	account := group + "/providers/Microsoft.Storage/storageAccounts/acc1"
	made := map[string]string{
		vnet:    `{"location":"westus2","properties":{"addressSpace":{"addressPrefixes":["10.0.0.0/16"]}}}`,
		cluster: clusterBody,
		account: `{"location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"}}`,
		group + "/providers/Microsoft.DBforPostgreSQL/flexibleServers/pg": `{"location":"westus2"}`,
		group + "/providers/Microsoft.KeyVault/vaults/kv":                 `{"location":"westus2"}`,
		database: `{"location":"westus2","kind":"ReadWrite"}`,
	}
	for _, id := range []string{vnet, cluster, account, group + "/providers/Microsoft.DBforPostgreSQL/flexibleServers/pg", group + "/providers/Microsoft.KeyVault/vaults/kv", database} {
		final := c.must("PUT", id, made[id])
		properties, _ := final["properties"].(map[string]any)
		if properties["provisioningState"] != "Succeeded" && properties["state"] != "Ready" { // PostgreSQL has its own "state"
			t.Errorf("%s ended as %v", id, final)
		}
		again := c.must("GET", id, "")
		if got, _ := again["id"].(string); !strings.EqualFold(got, id) {
			t.Errorf("GET of %s returns ID %q", id, got)
		}
	}

	c.server.Simulator().Hold(armsim.Hold{ID: cluster})
	update, err := c.do("PUT", cluster, clusterBody)
	if err != nil {
		t.Fatal(err)
	}
	c.refused(409, "AnotherOperationInProgress", "PUT", cluster, clusterBody)
	c.refused(409, "Conflict", "GET", database, "")
	c.server.Simulator().ReleaseHolds()
	if _, err := c.finish(update); err != nil {
		t.Fatal(err)
	}

	c.must("DELETE", vnet, "")
	c.refused(404, "ResourceNotFound", "GET", vnet, "")
	c.must("DELETE", vnet, "")
	c.must("DELETE", group, "")
	c.refused(404, "ResourceGroupNotFound", "GET", group, "")
	c.refused(404, "ResourceGroupNotFound", "GET", database, "")
}

func TestAzureSDKReportsFailedOperation(t *testing.T) {
	for name, shape := range map[string]armsim.Shape{"async": armsim.ShapeAsync, "location": armsim.ShapeLocation, "both": armsim.ShapeBoth} {
		t.Run(name, func(t *testing.T) {
			c := newSDK(t, planted, armsim.Options{TimeScale: 4000})
			c.must("PUT", group, `{"location":"westus2"}`)
			c.server.Simulator().AddOperationRule(armsim.OperationRule{Type: "*/things", Spec: armsim.OperationSpec{
				Shape: shape, Polls: 2, Outcome: "Failed", ErrorCode: "AllocationFailed", ErrorMessage: "no room",
			}})
			response, err := c.do("PUT", plain, `{"location":"westus2"}`)
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.finish(response)
			var refusal *azcore.ResponseError
			if !errors.As(err, &refusal) || refusal.ErrorCode != "AllocationFailed" {
				t.Fatalf("got %v, want AllocationFailed", err)
			}
		})
	}
}

// TestResumeToken uses a new poller for each poll, as a client that crashes does.
func TestResumeToken(t *testing.T) {
	c := newSDK(t, planted, armsim.Options{})
	c.must("PUT", group, `{"location":"westus2"}`)
	c.server.Simulator().AddOperationRule(armsim.OperationRule{Type: "*/things", Spec: armsim.OperationSpec{Shape: armsim.ShapeBoth, Polls: 3}})
	response, err := c.do("PUT", plain, `{"location":"westus2"}`)
	if err != nil {
		t.Fatal(err)
	}
	poller, err := runtime.NewPoller[json.RawMessage](response, c.client.Pipeline(), nil)
	polls := 0
	for ; err == nil; polls++ {
		var token string
		if token, err = poller.ResumeToken(); err != nil {
			break
		}
		poller, err = runtime.NewPollerFromResumeToken[json.RawMessage](token, c.client.Pipeline(), nil)
		if err == nil {
			_, err = poller.Poll(context.Background())
		}
		if err == nil && poller.Done() {
			break
		}
	}
	if err != nil || polls != 3 {
		t.Fatalf("ended after %d unfinished polls with %v, want 3 and none", polls, err)
	}
}

func TestWrongSecret(t *testing.T) {
	c := newSDK(t, "wrong", armsim.Options{})
	_, err := c.do("GET", group, "")
	var failed *azidentity.AuthenticationFailedError
	if !errors.As(err, &failed) || failed.RawResponse == nil || failed.RawResponse.StatusCode != http.StatusUnauthorized ||
		!strings.Contains(err.Error(), "AADSTS7000215") || !strings.Contains(err.Error(), "invalid_client") {
		t.Fatalf("got %v, want 401 invalid_client", err)
	}
	if got := c.server.Simulator().Counters(); len(got.ByMethod) != 0 {
		t.Errorf("ARM saw requests without a token: %v", got.ByMethod)
	}
}
