package armsim_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
)

const scaleSet = group + "/providers/Microsoft.Compute/virtualMachineScaleSets/set"

func scaleSetBody(capacity int, prefix string) string {
	return fmt.Sprintf(`{"location":"westus2","sku":{"name":"Standard_D2s_v5","capacity":%d},"properties":{"upgradePolicy":{"mode":"Manual"},
		"virtualMachineProfile":{"osProfile":{"computerNamePrefix":%q}}}}`, capacity, prefix)
}

// machines returns a summary of the set's machines: number, state, and whether they
// have the latest model.
func (h *harness) machines() string {
	h.t.Helper()
	list, _ := h.do("GET", scaleSet+"/virtualMachines"+version, "").at("value").([]any)
	var out []string
	for _, item := range list {
		machine := item.(map[string]any)
		properties := machine["properties"].(map[string]any)
		word := fmt.Sprint(machine["instanceId"], " ", properties["provisioningState"])
		if properties["latestModelApplied"] != true {
			word += " old"
		}
		out = append(out, word)
	}
	return strings.Join(out, ", ")
}

// TestScaleSetInstances checks that machines follow the capacity, the newest removed
// first, and that no number is used twice.
func TestScaleSetInstances(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	for _, step := range []struct {
		reason, method, path, body string
		status                     int
		during, after              string
	}{
		{"the set creates its machines", "PUT", scaleSet, scaleSetBody(2, "w"), 201, "0 Creating, 1 Creating", "0 Succeeded, 1 Succeeded"},
		{"more capacity adds machines", "PUT", scaleSet, scaleSetBody(3, "w"), 200, "0 Succeeded, 1 Succeeded, 2 Creating", "0 Succeeded, 1 Succeeded, 2 Succeeded"},
		{"less capacity removes the newest", "PATCH", scaleSet, `{"sku":{"capacity":2}}`, 200, "0 Succeeded, 1 Succeeded, 2 Deleting", "0 Succeeded, 1 Succeeded"},
		{"numbers are not reused", "PATCH", scaleSet, `{"sku":{"capacity":3}}`, 200, "0 Succeeded, 1 Succeeded, 3 Creating", "0 Succeeded, 1 Succeeded, 3 Succeeded"},
		{"a machine that is deleted is not replaced", "DELETE", scaleSet + "/virtualMachines/0", "", 202, "0 Deleting, 1 Succeeded, 3 Succeeded", "1 Succeeded, 3 Succeeded"},
		{"a new model does not change existing machines", "PUT", scaleSet, scaleSetBody(2, "v"), 200, "1 Succeeded old, 3 Succeeded old", "1 Succeeded old, 3 Succeeded old"},
		{"until they are upgraded", "POST", scaleSet + "/manualupgrade", `{"instanceIds":["3"]}`, 202, "1 Succeeded old, 3 Succeeded old", "1 Succeeded old, 3 Succeeded"},
		{"the set deletes selected machines", "POST", scaleSet + "/delete", `{"instanceIds":["1"]}`, 202, "1 Succeeded old, 3 Succeeded", "3 Succeeded"},
	} {
		h.want(h.do(step.method, step.path+version, step.body), step.status, "")
		if got := h.machines(); got != step.during {
			t.Errorf("%s: %s while in progress, want %s", step.reason, got, step.during)
		}
		h.pass(time.Hour)
		if got := h.machines(); got != step.after {
			t.Errorf("%s: %s, want %s", step.reason, got, step.after)
		}
	}
	h.wantAt(h.do("GET", scaleSet+version, ""), "sku.capacity", 1)
	h.wantAt(h.do("GET", scaleSet+"/virtualMachines/3"+version, ""), "name", "set_3")
	h.want(h.do("PUT", scaleSet+"/virtualMachines/9"+version, located), 404, "NotFound")
	if err := h.Patch(scaleSet, map[string]any{"sku": map[string]any{"capacity": 2}}); err != nil {
		t.Fatal(err)
	}
	if got := h.machines(); got != "3 Succeeded, 4 Succeeded" {
		t.Errorf("an out-of-band capacity change creates machines too; got %s", got)
	}
	h.want(h.do("DELETE", scaleSet+version, ""), 202, "")
	h.pass(time.Hour)
	if left := h.Resources("*/virtualMachines/*", "*"); len(left) != 0 {
		t.Errorf("the set left %d machines", len(left))
	}
}

// TestFlexibleScaleSet checks that machines of a Flexible set are top-level resources.
func TestFlexibleScaleSet(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	h.want(h.do("PUT", scaleSet+version, `{"location":"westus2","sku":{"name":"a","capacity":2},"properties":{"orchestrationMode":"Flexible"}}`), 201, "")
	h.pass(time.Hour)
	if got := h.machines(); got != "" {
		t.Errorf("got %s, want none", got)
	}
}
