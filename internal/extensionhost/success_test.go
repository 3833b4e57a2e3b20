package extensionhost_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/extensions/extensiontest"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

// asking is a handler and a classifier that ask ARM; name tells them apart.
type asking struct {
	name string
	log  *[]string
}

func (a asking) HandleSuccess(
	ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger, next extensions.SuccessHandlerFunc,
) error {
	if _, err := client.Put(ctx, owner.ID, "2023-01-01", []byte(`{}`), arm.PutOptions{}); err != nil {
		return err
	}
	found, err := resolver.Resolve(ctx, resource.Reference{ID: owner.ID})
	*a.log = append(*a.log, fmt.Sprintf("%s %s found %t", a.name, obj.ID.Short(), found.Found))
	if err != nil {
		return err
	}
	return next(ctx, obj, owner, resolver, client, log)
}

func (a asking) ClassifyError(
	ctx context.Context, failure *arm.Error, obj *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger,
	next extensions.ErrorClassifierFunc,
) (extensions.ErrorDetails, error) {
	details, err := next(ctx, failure, obj, resolver, client, log)
	if err != nil || obj.ID.IsZero() {
		return details, err
	}
	if response, err := client.Get(ctx, obj.ID.Owner(), "2023-01-01"); err == nil {
		details.Message += " " + string(response.Body)
	}
	details.Class = resource.RetryVerySlow
	return details, nil
}

// plain is a handler and a classifier that read nothing.
type plain struct{ log *[]string }

func (o plain) HandleSuccess(ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger, next extensions.SuccessHandlerFunc) error {
	*o.log = append(*o.log, "plain")
	return next(ctx, obj, owner, resolver, client, log)
}

func (plain) ClassifyError(ctx context.Context, failure *arm.Error, obj *resource.Object, resolver extensions.Resolver, client extensions.ARMClient,
	log *slog.Logger, next extensions.ErrorClassifierFunc) (extensions.ErrorDetails, error) {
	details, err := next(ctx, failure, obj, resolver, client, log)
	details.Message += " at " + obj.APIVersion
	return details, err
}

// TestHandlersInAChain runs handlers and classifiers in one chain.
func TestHandlersInAChain(t *testing.T) {
	t.Parallel()
	var log []string
	const childType = "Contoso.Things/parents/children"
	r := registry(t,
		extensions.Entry{Type: childType, Link: asking{"outer", &log}},
		extensions.Entry{Type: childType, Link: plain{&log}},
		extensions.Entry{Type: childType, Link: asking{"inner", &log}},
	)
	client := &extensiontest.Client{Resources: map[string]string{parentID: `{"quota":"used up"}`}}
	request := extensionhost.Request{
		Object: object(t, childID, `{}`, `{}`), Owner: object(t, parentID, "", `{}`),
		Client: client, Resolver: &extensiontest.Resolver{Resources: map[string]string{parentID: `{}`}},
	}
	if failed := r.Success(t.Context(), request); failed != nil {
		t.Fatalf("%+v", failed)
	}
	if want := []string{"outer p1/c1 found true", "plain", "inner p1/c1 found true"}; !slices.Equal(log, want) {
		t.Errorf("called %q, want %q", log, want)
	}
	if calls := client.Calls(); len(calls) != 2 || calls[0] != "PUT "+parentID {
		t.Errorf("requests %q, want a PUT of each", calls)
	}
	failure := &arm.Error{Status: 409, Code: "Conflict", Message: "no", Class: arm.ClassFast}
	got := r.Classify(t.Context(), request, failure)
	if want := `no {"quota":"used up"} at 2023-08-15 {"quota":"used up"}`; got.Message != want || got.Class != resource.RetryVerySlow {
		t.Errorf("got %s %q, want %q", got.Class, got.Message, want)
	}
	client.Err = errors.New("cut")
	if failed := r.Success(t.Context(), request); failed == nil || failed.Origin == "" {
		t.Errorf("a handler that failed: %+v, want its name", failed)
	}
}
