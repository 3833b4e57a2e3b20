package extensionhost

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/extensionshare"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
)

// notingClient is the ARMClient of the links of one step. Its reads show secrets, because a link
// may need one; it notes them, so that no verdict of the step contains one.
type notingClient struct {
	extensions.ARMClient
	masker *secrets.Masker

	mu    sync.Mutex
	noted []string
}

// begin returns the context and the request with which the links of a step are called.
func (r *Registry) begin(ctx context.Context, req Request) (context.Context, Request) {
	ctx = extensionshare.WithNow(extensionshare.WithForce(ctx, req.Force), req.Now)
	if resolver := r.resolver(req); resolver != nil {
		ctx = extensionshare.WithResolver(ctx, resolver)
	}
	return ctx, req.noting()
}

// noting returns a request whose client notes secrets. A request without a masker stays as it is.
func (r Request) noting() Request {
	if r.Client != nil && r.Masker != nil {
		r.Client = &notingClient{ARMClient: r.Client, masker: r.Masker}
	}
	return r
}

// withoutSecrets returns a verdict without the secrets that the links of the step have read.
func (r Request) withoutSecrets(ctx context.Context, verdict resource.Verdict) resource.Verdict {
	client, notes := r.Client.(*notingClient)
	if !notes {
		return verdict
	}
	client.mu.Lock()
	noted := slices.Clone(client.noted)
	client.mu.Unlock()
	if len(noted) == 0 {
		return verdict
	}
	clean := verdict
	for _, text := range []*string{&clean.Message, &clean.Actor, &clean.Seen} {
		*text = secrets.Scrub(*text, noted)
	}
	if clean.Message != verdict.Message || clean.Actor != verdict.Actor || clean.Seen != verdict.Seen {
		r.log().WarnContext(ctx, SecretInVerdict, "id", r.Object.ID.String(), "extension", verdict.Origin)
	}
	return clean
}

// SecretInVerdict is the line of the log about a verdict with a secret, which is masked.
const SecretInVerdict = "extension put a secret that it read into its verdict"

// note records the secrets in a body of a type.
func (c *notingClient) note(resourceType string, raw json.RawMessage) {
	body, err := resource.DecodeBody(raw)
	if err != nil {
		return // no body of a resource
	}
	found := c.masker.Secrets(resourceType, body)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.noted = append(c.noted, found...)
}

// Get notes the secrets of a resource.
func (c *notingClient) Get(ctx context.Context, id resource.ID, apiVersion string) (arm.Response, error) {
	response, err := c.ARMClient.Get(ctx, id, apiVersion)
	c.note(id.Type(), response.Body)
	return response, err
}

// Find notes the secrets of the items.
func (c *notingClient) Find(ctx context.Context, id resource.ID, collection, apiVersion, filter string, limit int) ([]json.RawMessage, error) {
	items, err := c.ARMClient.Find(ctx, id, collection, apiVersion, filter, limit)
	for _, item := range items {
		c.note(id.Type()+"/"+collection, item)
	}
	return items, err
}

// Post notes the secrets of the response, such as keys that an action lists.
func (c *notingClient) Post(ctx context.Context, id resource.ID, action, apiVersion string, body []byte) (arm.Operation, error) {
	operation, err := c.ARMClient.Post(ctx, id, action, apiVersion, body)
	c.note(id.Type(), operation.Body)
	return operation, err
}
