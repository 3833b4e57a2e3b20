package extensionhost_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

const (
	block, proceed, skips = resource.ActionBlock, resource.ActionProceed, resource.ActionSkip
	fails, readyNow, errs = resource.ActionFailure, resource.ActionSuccess, resource.ActionError
)

// Specification of the owner checker, pattern 1: block on the owner's state.
func TestSpecOwnerBlockOnState(t *testing.T) {
	situations(t, ownerLink(func(owner *resource.Object, w given) (extensions.PreReconcileCheckResult, error) {
		switch state, _ := owner.StringAt("properties.state"); state {
		case "PoweredOff":
			return extensions.BlockReconcile("parent is powered off"), nil
		case "Updating":
			return extensions.BlockReconcile("parent is updating"), nil
		}
		return w.next()
	}), map[string]situation{
		"nil owner":   {reason: "a nil owner is not an error", none: true, want: proceed},
		"powered off": {reason: "off", owner: `{"properties":{"state":"PoweredOff"}}`, want: block, why: "ReconciliationBlocked", severity: "Warning", class: "Slow", message: "parent is powered off"},
		"updating":    {reason: "busy", owner: `{"properties":{"state":"Updating"}}`, want: block, message: "parent is updating"},
		"running":     {reason: "fine", owner: `{"properties":{"state":"Running"}}`, want: proceed},
		"null state":  {reason: "nothing known", owner: `{"properties":{"state":null}}`, want: proceed},
		"absent":      {reason: "the default check runs after the link", owner: ``, want: block, why: "WaitingForOwner"},
	})
}

// Pattern 2: a map from the owner's states to reasons, Migrating too.
func TestSpecOwnerStateMap(t *testing.T) {
	reasons := map[string]string{
		"Stopped":   "parent is stopped and children cannot be accessed",
		"Stopping":  "parent is stopping, wait for it to complete",
		"Deleting":  "parent is being deleted",
		"Updating":  "parent is updating, operations will conflict",
		"Migrating": "parent is migrating, children unavailable",
	}
	table := map[string]situation{
		"Running": {reason: "not in the map", owner: `{"properties":{"state":"Running"}}`, want: proceed},
		"none":    {reason: "no owner", none: true, want: proceed},
	}
	for state, reason := range reasons {
		table[state] = situation{reason: state, owner: `{"properties":{"state":"` + state + `"}}`, want: block, message: reason}
	}
	situations(t, ownerLink(func(owner *resource.Object, w given) (extensions.PreReconcileCheckResult, error) {
		state, _ := owner.StringAt("properties.state")
		if reason, blocked := reasons[state]; blocked {
			return extensions.BlockReconcile(reason), nil
		}
		return w.next()
	}), table)
}

// Pattern 3: state and SKU together; Premium may proceed while Updating, and
// maintenance mode blocks whatever the SKU.
func TestSpecOwnerSKUAndMaintenance(t *testing.T) {
	situations(t, ownerLink(func(owner *resource.Object, w given) (extensions.PreReconcileCheckResult, error) {
		state, _ := owner.StringAt("properties.state")
		if sku, known := owner.StringAt("sku.name"); state == "Updating" && known && sku != "Premium" {
			return extensions.BlockReconcile("parent is updating and SKU does not support concurrent operations"), nil
		}
		if maintained, _ := owner.At("properties.inMaintenanceMode"); maintained == true {
			return extensions.BlockReconcile("parent is in maintenance mode"), nil
		}
		return w.next()
	}), map[string]situation{
		"Standard updating":   {reason: "it takes one thing at a time", owner: `{"sku":{"name":"Standard"},"properties":{"state":"Updating"}}`, want: block, message: "parent is updating and SKU does not support concurrent operations"},
		"Premium updating":    {reason: "Premium may", owner: `{"sku":{"name":"Premium"},"properties":{"state":"Updating"}}`, want: proceed},
		"unknown SKU":         {reason: "an unknown SKU does not block", owner: `{"properties":{"state":"Updating"}}`, want: proceed},
		"Standard running":    {reason: "no operation is in progress", owner: `{"sku":{"name":"Standard"},"properties":{"state":"Running"}}`, want: proceed},
		"Premium maintenance": {reason: "maintenance applies to all SKUs", owner: `{"sku":{"name":"Premium"},"properties":{"state":"Updating","inMaintenanceMode":true}}`, want: block, message: "parent is in maintenance mode"},
		"no maintenance":      {reason: "false is false", owner: `{"properties":{"inMaintenanceMode":false}}`, want: proceed},
	})
}

// Pattern 4: decisions are logged, a block at info, a proceed at debug; both by
// the link and, without its doing, by the registry.
func TestSpecOwnerLogging(t *testing.T) {
	for state, level := range map[string]string{"Updating": "level=INFO", "Running": "level=DEBUG"} {
		var out bytes.Buffer
		log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
		link := ownerLink(func(owner *resource.Object, w given) (extensions.PreReconcileCheckResult, error) {
			state, _ := owner.StringAt("properties.state")
			w.log.DebugContext(w.ctx, "checking parent state", "state", state)
			if state == "Updating" {
				return extensions.BlockReconcile(fmt.Sprintf("parent %s is updating", owner.ID.Name())), nil
			}
			return w.next()
		})
		r := registry(t, extensions.Entry{Type: extensions.AllTypes, Link: link})
		r.CheckOwner(t.Context(), extensionhost.Request{
			Object: object(t, childID, `{}`, ""), Owner: object(t, parentID, "", `{"properties":{"state":"`+state+`"}}`), Log: log,
		})
		if !strings.Contains(out.String(), "checking parent state") {
			t.Errorf("%s: the link's own line is lost: %s", state, &out)
		}
		verdict := out.String()[strings.LastIndex(out.String(), "time="):]
		if !strings.Contains(verdict, level) || !strings.Contains(verdict, "verdict of PreReconcileOwnerCheck") {
			t.Errorf("%s: want %s, got %s", state, level, verdict)
		}
	}
}

// A failed check is not a failed resource: Warning, CheckFailed, retried.
func TestSpecOwnerError(t *testing.T) {
	situations(t, ownerLink(func(*resource.Object, given) (extensions.PreReconcileCheckResult, error) {
		return extensions.PreReconcileCheckResult{}, fmt.Errorf("check failed: %w", errors.New("no answer"))
	}), map[string]situation{
		"error": {reason: "the text is kept", owner: `{}`, want: errs, why: "CheckFailed", severity: "Warning", class: "Slow"},
	})
}

// Many children share one owner: a check of the owner alone makes no request.
func TestSpecOwnerMakesNoRequest(t *testing.T) {
	s := situation{reason: "the owner is given", owner: `{"properties":{"provisioningState":"Updating"}}`, want: block}
	client := &countingClient{}
	r := registry(t)
	got := r.CheckOwner(t.Context(), extensionhost.Request{Object: object(t, childID, `{}`, ""), Owner: object(t, parentID, "", s.owner), Client: client})
	if got.Action != s.want || client.gets != 0 {
		t.Errorf("got %+v with %d requests", got, client.gets)
	}
}
