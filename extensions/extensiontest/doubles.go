package extensiontest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

// ID returns a parsed resource ID and fails the test if it is invalid.
func ID(t testing.TB, text string) resource.ID {
	t.Helper()
	id, err := resource.ParseID(text)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// Object returns a resource with a desired and an observed body in JSON; "" means
// none.
func Object(t testing.TB, id, desired, observed string) *resource.Object {
	t.Helper()
	decode := func(text string) map[string]any {
		body, err := resource.DecodeBody([]byte(text))
		if err != nil {
			t.Fatalf("body of %s: %v", id, err)
		}
		return body
	}
	return &resource.Object{ID: ID(t, id), APIVersion: "2023-01-01", Desired: decode(desired), Observed: decode(observed)}
}

// Client is an ARMClient that returns bodies from memory and records requests. The
// zero value has no resources: every GET returns 404 ResourceNotFound.
type Client struct {
	// Resources are bodies in JSON by resource ID, in any case.
	Resources map[string]string
	// Lists are the items of a collection by "ID/collection".
	Lists map[string][]string
	// Err, when set, is the result of every call.
	Err error

	mu     sync.Mutex
	calls  []string
	misuse []string
	// read are the keys of Resources and Lists that were returned.
	read map[string]bool
}

// misuses returns the calls that a worker's client refuses without a request.
func (c *Client) misuses() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string{}, c.misuse...)
}

// refuse returns the error of a call, nil for none: that with which a worker's client
// refuses an address, or Err.
func (c *Client) refuse(call string, id resource.ID, apiVersion string) error {
	err := arm.CheckAddress(id, apiVersion)
	if err == nil {
		return c.Err
	}
	err = fmt.Errorf("%s %s: %w", call, id, err)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.misuse = append(c.misuse, err.Error())
	return err
}

// Calls returns the requests so far: "GET id", "LIST id/collection filter",
// "POST id/action", "PUT id", "PATCH id", "DELETE id".
func (c *Client) Calls() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string{}, c.calls...)
}

// noteRead records that a key of Resources or Lists was returned.
func (c *Client) noteRead(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.read == nil {
		c.read = map[string]bool{}
	}
	c.read[key] = true
}

func (c *Client) reads() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return keys(c.read)
}

func (c *Client) record(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = append(c.calls, fmt.Sprintf(format, args...))
}

// Get returns the body of a resource with its secrets, as that of a worker does.
func (c *Client) Get(_ context.Context, id resource.ID, apiVersion string) (arm.Response, error) {
	c.record("GET %s", id)
	if err := c.refuse("get", id, apiVersion); err != nil {
		return arm.Response{}, err
	}
	for text, body := range c.Resources {
		if strings.EqualFold(text, id.String()) {
			c.noteRead(text)
			return arm.Response{Status: http.StatusOK, Body: json.RawMessage(body)}, nil
		}
	}
	return arm.Response{}, NotFound(id)
}

// Find returns the items of a collection and ignores the filter.
func (c *Client) Find(_ context.Context, id resource.ID, collection, apiVersion, filter string, limit int) ([]json.RawMessage, error) {
	c.record("LIST %s/%s %s", id, collection, filter)
	if err := c.refuse("list "+collection+" of", id, apiVersion); err != nil {
		return nil, err
	}
	var items []json.RawMessage
	for text, list := range c.Lists {
		if strings.EqualFold(text, id.String()+"/"+collection) {
			c.noteRead(text)
			for _, item := range list {
				items = append(items, json.RawMessage(item))
			}
		}
	}
	return items[:min(len(items), limit)], nil
}

// Post accepts every action.
func (c *Client) Post(_ context.Context, id resource.ID, action, apiVersion string, _ []byte) (arm.Operation, error) {
	c.record("POST %s/%s", id, action)
	if err := c.refuse("post "+action+" of", id, apiVersion); err != nil {
		return arm.Operation{}, err
	}
	return arm.Operation{Response: arm.Response{Status: http.StatusAccepted}}, nil
}

// GetWithin is Get with secrets masked: what is in memory has no age.
func (c *Client) GetWithin(ctx context.Context, id resource.ID, apiVersion string, _ time.Duration) (arm.Response, error) {
	response, err := c.Get(ctx, id, apiVersion)
	if err != nil {
		return response, err
	}
	body, err := resource.DecodeBody(response.Body)
	if err != nil {
		return response, err
	}
	response.Body, err = json.Marshal(view().Other(&resource.Object{ID: id, Observed: body}).Observed)
	return response, err
}

// Put accepts every body and changes no resource.
func (c *Client) Put(_ context.Context, id resource.ID, apiVersion string, _ []byte, _ arm.PutOptions) (arm.Operation, error) {
	return c.write(http.MethodPut, id, apiVersion)
}

// Patch accepts every body and changes no resource.
func (c *Client) Patch(_ context.Context, id resource.ID, apiVersion string, _ []byte, _ arm.PutOptions) (arm.Operation, error) {
	return c.write(http.MethodPatch, id, apiVersion)
}

// Delete accepts every request and removes no resource.
func (c *Client) Delete(_ context.Context, id resource.ID, apiVersion string) (arm.Operation, error) {
	return c.write(http.MethodDelete, id, apiVersion)
}

func (c *Client) write(method string, id resource.ID, apiVersion string) (arm.Operation, error) {
	c.record("%s %s", method, id)
	if err := c.refuse(strings.ToLower(method), id, apiVersion); err != nil {
		return arm.Operation{}, err
	}
	return arm.Operation{Response: arm.Response{Status: http.StatusOK}, Done: true, Outcome: arm.OutcomeSucceeded}, nil
}

// NotFound returns ARM's error for a resource that does not exist.
func NotFound(id resource.ID) error {
	return &arm.Error{Status: http.StatusNotFound, Code: "ResourceNotFound", Class: arm.ClassAbsent, Message: "The resource " + id.String() + " was not found."}
}

// Resolver is an extensions.Resolver that returns bodies from memory.
type Resolver struct {
	// Resources are bodies in JSON by resource ID, in any case.
	Resources map[string]string
	// Lists are the items of the lists that a rule reads, by "ID/collection".
	Lists map[string][]string
	// Managed are the Ready conditions of those that Armature manages, in the same way.
	Managed map[string]resource.Managed
	// Err, when set, is the result of every call.
	Err error

	mu     sync.Mutex
	misuse []string
	// read are the keys of Resources and Lists that were returned.
	read map[string]bool
}

func (r *Resolver) reads() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return keys(r.read)
}

// noteRead records that a key of Resources or Lists was returned.
func (r *Resolver) noteRead(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.read == nil {
		r.read = map[string]bool{}
	}
	r.read[key] = true
}

func (r *Resolver) misuses() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string{}, r.misuse...)
}

// Resolve returns the resource that a reference names, with secrets masked. Its api-version may be "": a
// worker takes the newest stable one then. A reference without an ID is an error.
func (r *Resolver) Resolve(_ context.Context, reference resource.Reference) (extensions.Resolution, error) {
	if reference.ID.IsZero() {
		err := errors.New("resolve: empty resource ID: the reference names nothing")
		r.mu.Lock()
		defer r.mu.Unlock()
		r.misuse = append(r.misuse, err.Error())
		return extensions.Resolution{}, err
	}
	if r.Err != nil {
		return extensions.Resolution{}, r.Err
	}
	for text, body := range r.Resources {
		if !strings.EqualFold(text, reference.ID.String()) {
			continue
		}
		observed, err := resource.DecodeBody([]byte(body))
		if err != nil {
			return extensions.Resolution{}, err
		}
		r.noteRead(text)
		object := view().Other(&resource.Object{ID: reference.ID, APIVersion: reference.APIVersion, Observed: observed})
		object.Managed = managedIn(r.Managed, reference.ID)
		return extensions.Resolution{Found: true, Object: object, Ready: object.Ready(), Managed: object.Managed}, nil
	}
	return extensions.Resolution{}, nil
}

// List returns the resources of a list that a rule reads, with secrets masked.
func (r *Resolver) List(_ context.Context, list extensionhost.List) (extensionhost.Listing, error) {
	var found extensionhost.Listing
	if r.Err != nil {
		return found, r.Err
	}
	for key, items := range r.Lists {
		if !strings.EqualFold(key, list.Parent.String()+"/"+list.Collection()) {
			continue
		}
		r.noteRead(key)
		for _, item := range items {
			body, err := resource.DecodeBody([]byte(item))
			if err != nil {
				return found, err
			}
			found.Resources = append(found.Resources, view().Other(list.Item(body)))
		}
	}
	found.More = len(found.Resources) > list.Max
	return found, nil
}

// managedIn returns the Ready condition of a resource, nil for none.
func managedIn(all map[string]resource.Managed, id resource.ID) *resource.Managed {
	for text, managed := range all {
		if strings.EqualFold(text, id.String()) {
			return &managed
		}
	}
	return nil
}
