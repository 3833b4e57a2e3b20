package armsim_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/queueerror"

	"github.com/armature-io/armature/armsim"
)

// TestQueueWithSDK reads, peeks, updates and deletes messages with Microsoft's client and
// a token of the simulator.
func TestQueueWithSDK(t *testing.T) {
	simulator := armsim.New(armsim.Options{Changes: promptly, RequireAuth: true})
	server, err := simulator.Listen(armsim.ListenOptions{TLS: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	if err := simulator.SubscribeQueue(armsim.QueueSubscription{Account: "acct", Queue: "events"}); err != nil {
		t.Fatal(err)
	}
	if err := simulator.As(armsim.Author{Name: "alice@contoso.com", Client: "Azure Portal"}).Put(plain, map[string]any{"location": "westus2"}); err != nil {
		t.Fatal(err)
	}
	options := policy.ClientOptions{
		Transport: trusting(t, server), Retry: policy.RetryOptions{MaxRetries: -1},
		Cloud: cloud.Configuration{ActiveDirectoryAuthorityHost: server.URL()},
	}
	credential, err := azidentity.NewClientSecretCredential(tenant, clientID, planted, &azidentity.ClientSecretCredentialOptions{ClientOptions: options, DisableInstanceDiscovery: true})
	if err != nil {
		t.Fatal(err)
	}
	client, err := azqueue.NewQueueClient(server.URL()+"/_queue/acct/events", credential, &azqueue.ClientOptions{ClientOptions: options})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	properties, err := client.GetProperties(ctx, nil)
	if err != nil || properties.ApproximateMessagesCount == nil || *properties.ApproximateMessagesCount != 2 {
		t.Fatalf("get properties: %v %v, want two messages, of a group and a resource", properties, err)
	}
	peeked, err := client.PeekMessages(ctx, &azqueue.PeekMessagesOptions{NumberOfMessages: to.Ptr[int32](32)})
	if err != nil || len(peeked.Messages) != 2 || *peeked.Messages[0].DequeueCount != 0 {
		t.Fatalf("peek: %v %v", peeked, err)
	}
	got, err := client.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{NumberOfMessages: to.Ptr[int32](32), VisibilityTimeout: to.Ptr[int32](300)})
	if err != nil || len(got.Messages) != 2 {
		t.Fatalf("dequeue: %v %v", got, err)
	}
	first := got.Messages[0]
	content, err := base64.StdEncoding.DecodeString(*first.MessageText)
	if err != nil || !strings.Contains(string(content), `"alice@contoso.com"`) || *first.DequeueCount != 1 || !first.TimeNextVisible.After(*first.InsertionTime) {
		t.Errorf("the message is %+v: %s %v", first, content, err)
	}
	updated, err := client.UpdateMessage(ctx, *first.MessageID, *first.PopReceipt, *first.MessageText, &azqueue.UpdateMessageOptions{VisibilityTimeout: to.Ptr[int32](600)})
	if err != nil || updated.PopReceipt == nil {
		t.Fatalf("update: %v %v", updated, err)
	}
	if _, err := client.DeleteMessage(ctx, *first.MessageID, *first.PopReceipt, nil); !queueerror.HasCode(err, queueerror.PopReceiptMismatch) {
		t.Errorf("delete with an old receipt: %v", err)
	}
	if _, err := client.DeleteMessage(ctx, *first.MessageID, *updated.PopReceipt, nil); err != nil {
		t.Errorf("delete: %v", err)
	}
	if _, err := client.DeleteMessage(ctx, *first.MessageID, *updated.PopReceipt, nil); !queueerror.HasCode(err, queueerror.MessageNotFound) {
		t.Errorf("delete again: %v", err)
	}
	if _, err := client.EnqueueMessage(ctx, "hello", nil); err != nil {
		t.Errorf("enqueue: %v", err)
	}
	simulator.Deny(armsim.Denial{Scope: "/queues/*"})
	if _, err := client.DequeueMessage(ctx, nil); !queueerror.HasCode(err, queueerror.AuthorizationPermissionMismatch) {
		t.Errorf("without rights: %v", err)
	}
	simulator.AllowAll()
	wrong, err := azqueue.NewQueueClient(server.URL()+"/_queue/acct/events", credentialFor{credential, "https://other.example/.default"}, &azqueue.ClientOptions{ClientOptions: options})
	if err != nil {
		t.Fatal(err)
	}
	var refused *azcore.ResponseError
	if _, err := wrong.DequeueMessage(ctx, nil); !errors.As(err, &refused) || refused.StatusCode != 401 || refused.ErrorCode != "InvalidAuthenticationInfo" {
		t.Errorf("with another audience: %v", err)
	}
}

// trusting returns a client that trusts the CA of a server.
func trusting(t *testing.T, server *armsim.Server) *http.Client {
	t.Helper()
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(server.CA()) {
		t.Fatal("the server has no CA")
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// credentialFor gets tokens for another scope than the client asks for.
type credentialFor struct {
	azcore.TokenCredential
	scope string
}

func (c credentialFor) GetToken(ctx context.Context, options policy.TokenRequestOptions) (azcore.AccessToken, error) {
	options.Scopes = []string{c.scope}
	return c.TokenCredential.GetToken(ctx, options)
}
