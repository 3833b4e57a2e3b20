package extensionhost_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

const (
	groupID    = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/rg1"
	clusterID  = groupID + "/providers/Microsoft.Kusto/clusters/c1"
	databaseID = clusterID + "/databases/db1"
	storageID  = groupID + "/providers/Microsoft.Storage/storageAccounts/s1"
	roleID     = storageID + "/providers/Microsoft.Authorization/roleAssignments/r1"
)

// countingClient counts the requests of a check: the built-in ones make none.
type countingClient struct{ gets int }

func (c *countingClient) Get(context.Context, resource.ID, string) (arm.Response, error) {
	c.gets++
	return arm.Response{}, nil
}

func (c *countingClient) Find(context.Context, resource.ID, string, string, string, int) ([]json.RawMessage, error) {
	c.gets++
	return nil, nil
}

func (c *countingClient) Post(context.Context, resource.ID, string, string, []byte) (arm.Operation, error) {
	c.gets++
	return arm.Operation{}, nil
}

func (c *countingClient) GetWithin(context.Context, resource.ID, string, time.Duration) (arm.Response, error) {
	c.gets++
	return arm.Response{}, nil
}

func (c *countingClient) Put(context.Context, resource.ID, string, []byte, arm.PutOptions) (arm.Operation, error) {
	c.gets++
	return arm.Operation{}, nil
}

func (c *countingClient) Patch(context.Context, resource.ID, string, []byte, arm.PutOptions) (arm.Operation, error) {
	c.gets++
	return arm.Operation{}, nil
}

func (c *countingClient) Delete(context.Context, resource.ID, string) (arm.Operation, error) {
	c.gets++
	return arm.Operation{}, nil
}

func mustID(t *testing.T, text string) resource.ID {
	t.Helper()
	id, err := resource.ParseID(text)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func mustBody(t *testing.T, text string) map[string]any {
	t.Helper()
	decoded, err := resource.DecodeBody([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return decoded
}

// object returns a resource with a desired and an observed body; "" means none.
func object(t *testing.T, id, desired, observed string) *resource.Object {
	t.Helper()
	return &resource.Object{
		ID: mustID(t, id), APIVersion: "2023-08-15",
		Desired: mustBody(t, desired), Observed: mustBody(t, observed),
	}
}

func registry(t *testing.T, entries ...extensions.Entry) *extensionhost.Registry {
	t.Helper()
	built, err := extensionhost.New(entries...)
	if err != nil {
		t.Fatal(err)
	}
	return built
}

// logged returns a logger and its output at info and above.
func logged() (*slog.Logger, *bytes.Buffer) {
	var out bytes.Buffer
	return slog.New(slog.NewTextHandler(&out, nil)), &out
}

// resolves fails with the readiness of its own resource as the resolver returns it.
type resolves struct{}

func (resolves) PostReconcileCheck(
	ctx context.Context, obj, _ *resource.Object, resolver extensions.Resolver, _ extensions.ARMClient, _ *slog.Logger, _ extensions.PostReconcileCheckFunc,
) (extensions.PostReconcileCheckResult, error) {
	found, err := resolver.Resolve(ctx, resource.Reference{ID: obj.ID})
	return extensions.PostReconcileCheckResultFailure(fmt.Sprintf("%v %s", found.Ready, found.Refusal)), err
}
