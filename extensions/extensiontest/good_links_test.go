package extensiontest_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/extensions/extensiontest"
	"github.com/armature-io/armature/resource"
)

// waiter blocks until the resource has a key, and reads a list.
type waiter struct{}

func (waiter) PostReconcileCheck(ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver,
	client extensions.ARMClient, log *slog.Logger, next extensions.PostReconcileCheckFunc,
) (extensions.PostReconcileCheckResult, error) {
	items, err := client.Find(ctx, obj.ID, "hosts", "2023-01-01", "", 10)
	if err != nil {
		return extensions.PostReconcileCheckResult{}, err
	}
	if key, _ := obj.StringAt("properties.key"); key == "" && len(items) < 2 {
		return extensions.PostReconcileCheckResultFailure("it has no key yet"), nil
	}
	return next(ctx, obj, owner, resolver, client, log)
}

// TestAbsentBlocks holds that a check may wait until a property is set.
func TestAbsentBlocks(t *testing.T) {
	extensiontest.Run(t, extensiontest.Suite{
		Entry: extensions.Entry{Type: "Contoso.Things/parents/children", Link: waiter{}},
		ID:    childText, Requests: 1,
		Lists: map[string][]string{childText + "/hosts": {`{"name": "h1"}`}},
		Post:  []extensiontest.States{{Path: "properties.key", Pass: []string{"k1"}, AbsentBlocks: true, Message: "it has no key yet"}},
	})
}

// licensed is an owner checker that uses the resolver and the client: it blocks while the
// license that the owner names is not valid, or its server lists no seat.
type licensed struct{}

func (licensed) PreReconcileOwnerCheck(ctx context.Context, owner *resource.Object, resolver extensions.Resolver,
	client extensions.ARMClient, log *slog.Logger, next extensions.PreReconcileOwnerCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	text, _ := owner.StringAt("properties.license")
	if id, err := resource.ParseID(text); err == nil {
		license, err := resolver.Resolve(ctx, resource.Reference{ID: id})
		if err != nil {
			return extensions.PreReconcileCheckResult{}, err
		}
		seats, err := client.Find(ctx, id, "seats", "2023-01-01", "", 1)
		if err != nil {
			return extensions.PreReconcileCheckResult{}, err
		}
		if state, _ := license.Object.StringAt("properties.state"); strings.EqualFold(state, "Expired") || license.Found && len(seats) == 0 {
			return extensions.BlockReconcile("the license is "+state, extensions.WithWaitingFor(id)), nil
		}
	}
	return next(ctx, owner, resolver, client, log)
}

// TestOwnerCheckReadsOthers holds that an owner check has a resolver and a client.
func TestOwnerCheckReadsOthers(t *testing.T) {
	extensiontest.Run(t, extensiontest.Suite{
		Entry: extensions.Entry{Type: "Contoso.Things/parents/children", Link: licensed{}}, ID: childText,
		Observed:  `{"properties": {"license": "` + peerText + `"}}`,
		Resources: map[string]string{peerText: `{"properties": {}}`}, Requests: 1,
		Lists: map[string][]string{peerText + "/seats": {`{"name": "seat1"}`}},
		Owner: []extensiontest.States{{Of: peerText, Path: "properties.state", Block: []string{"Expired"}, Pass: []string{"Valid"}}},
	})
}

// readyOwner blocks until its owner is Ready, and stops at night where a label says so.
type readyOwner struct{}

func (readyOwner) PreReconcileCheck(ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver,
	client extensions.ARMClient, log *slog.Logger, next extensions.PreReconcileCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	if owner != nil && !owner.IsReady() {
		return extensions.BlockReconcile("parent is not Ready"), nil
	}
	if mode, _ := obj.StringAt("properties.mode"); strings.EqualFold(mode, "Night") && obj.Labels["stack"] == "prod" && !extensions.Forced(ctx) {
		return extensions.BlockReconcile("it is night"), nil
	}
	return next(ctx, obj, owner, resolver, client, log)
}

// TestManagedAndLabels holds that the suite sets what a check sees beside the bodies.
func TestManagedAndLabels(t *testing.T) {
	suite := extensiontest.Suite{
		Entry: extensions.Entry{Type: "Contoso.Things/parents/children", Link: readyOwner{}}, ID: childText,
		Labels:  map[string]string{"stack": "prod"},
		Managed: map[string]resource.Managed{childText[:strings.LastIndex(childText, "/children")]: {Ready: true}},
		Self:    []extensiontest.States{{Path: "properties.mode", Block: []string{"Night"}, Pass: []string{"Day"}, Message: "it is night"}},
	}
	extensiontest.Run(t, suite)
}
