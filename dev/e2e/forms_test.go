package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/workflows"
)

// form is how the provider of one namespace answers.
type form struct {
	answer            armsim.AnswerRule
	put, patch, purge armsim.OperationSpec // of PUT, PATCH and DELETE; updates by PUT have updateStatus
	updateStatus      int
	// patched is set for resources that others created and Armature changes by PATCH.
	patched bool
	// changesETags is set if a write between a read and a PUT is noticed by the ETag.
	changesETags bool
}

// forms are the forms of armsim, and those of providers that other people wrote
// (docs/contributing/simulator.md).
func forms() map[string]form {
	operation := func(shape armsim.Shape) armsim.OperationSpec {
		return armsim.OperationSpec{Shape: shape, Polls: 1, RetryAfter: []float64{60}}
	}
	async, both, location := operation(armsim.ShapeAsync), operation(armsim.ShapeBoth), operation(armsim.ShapeLocation)
	location.EmptyFinal, location.ErrorStatus = true, http.StatusConflict
	aro := form{answer: armsim.AnswerRule{ETag: armsim.ETagNone, Absent: armsim.AbsentOwnCode}, put: async, patch: both, purge: both}
	patched := aro
	patched.patched = true
	return map[string]form{
		"azure":        {put: both, purge: both, changesETags: true},
		"aro":          aro,
		"aropatched":   patched,
		"radius":       {answer: armsim.AnswerRule{ETag: armsim.ETagUnquoted, Absent: armsim.AbsentOwnCode, LowerCase: true}, put: both, purge: both, updateStatus: http.StatusCreated, changesETags: true},
		"miniblue":     {answer: armsim.AnswerRule{ETag: armsim.ETagConstant}, put: operation(armsim.ShapeSync), purge: operation(armsim.ShapeSync)},
		"locationonly": {put: location, purge: location, changesETags: true},
		"stateonly":    {answer: armsim.AnswerRule{LowerCase: true}, put: operation(armsim.ShapeState), purge: operation(armsim.ShapeState), updateStatus: http.StatusCreated, changesETags: true},
	}
}

// formed is a scenario in the group of a form.
type formed struct {
	scenarios
	form
	name, method string
	writes       int // of the method, to the thing
}

// TestForms creates, updates, corrects, fails and deletes a resource with a child at the
// providers of all forms.
func TestForms(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	w.StartWorker(harness.WorkerOptions{})
	cases := map[string]func(*testing.T){}
	for name, form := range forms() {
		cases[name] = func(t *testing.T) {
			f := &formed{scenarios: scenarios{w.On(t)}, form: form, name: name, method: http.MethodPut}
			if form.patched {
				f.method = http.MethodPatch
			}
			f.play()
		}
	}
	sideBySide(t, 3, cases)
}

func (f *formed) typ() string { return "Contoso." + f.name + "/things" }

func (f *formed) id() string {
	return subscription + "/resourceGroups/forms-" + f.name + "/providers/" + f.typ() + "/one"
}

// manifests returns the thing and its child.
func (f *formed) manifests(size string) string {
	reconcile := "interval: 1h"
	if f.patched {
		reconcile += ", put: patch, policy: manage"
	}
	return fmt.Sprintf(`type: %s@2024-01-01
name: one
owner: %s/resourceGroups/forms-%s
body: {location: westus2, tags: {purpose: forms}, properties: {size: %s}}
reconcile: {%s}
---
type: %[1]s/parts@2024-01-01
name: part
owner: one
body: {properties: {color: red}}
reconcile: {interval: 1h}
`, f.typ(), subscription, f.name, size, reconcile)
}

func (f *formed) play() {
	f.arrange()
	f.apply("small")
	f.want("creation", 1, "small")
	f.apply("medium")
	f.want("update", 1, "medium")
	f.MustCLI("reconcile", f.id(), "--wait", "--timeout", "60s")
	f.want("pass without a difference", 0, "medium")
	f.correct()
	f.refuse()
	f.fail()
	f.MustCLI("delete", f.id(), "--cascade", "--yes", "--wait", "--timeout", "2m")
	if left := stored(f.World, f.id()+"*"); len(left) > 0 {
		f.T.Errorf("a deletion left %+v", left)
	}
	if deletes := f.Sim.Count(http.MethodDelete, f.id()); deletes != 1 {
		f.T.Errorf("%d DELETEs, want one", deletes)
	}
}

// arrange makes the group, and the provider answer in the form.
func (f *formed) arrange() {
	f.putGroup("forms-" + f.name)
	f.answer.Type = f.typ() + "*"
	f.Sim.Call(http.MethodPost, "/answers", f.answer, nil)
	for _, typ := range []string{f.typ(), f.typ() + "/parts"} { // an absence needs a type that the provider registers
		f.Sim.Call(http.MethodPost, "/types", armsim.TypeLimit{Type: typ, APIVersions: []string{"2024-01-01"}}, nil)
	}
	update := f.put
	update.Status = f.updateStatus
	for _, rule := range []armsim.OperationRule{{On: "create", Spec: f.put}, {On: "update", Spec: update}, {On: "patch", Spec: f.patch}, {On: "delete", Spec: f.purge}} {
		if rule.Spec.Shape != "" {
			rule.Type = f.typ() + "*"
			f.Sim.Call(http.MethodPost, "/operations", rule, nil)
		}
	}
	if f.patched {
		f.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": f.id(), "body": map[string]any{"location": "westus2", "properties": map[string]any{"size": "none"}}}, nil)
	}
}

func (f *formed) apply(size string) {
	f.T.Helper()
	f.MustCLI("apply", "-f", f.Write(f.name+".yaml", f.manifests(size)), "--wait", "--timeout", "90s")
}

// want checks the number of writes since the last check, and the size in Azure.
func (f *formed) want(step string, writes int, size string) {
	f.T.Helper()
	all := f.Sim.Count(f.method, f.id())
	if got := all - f.writes; got != writes {
		f.T.Errorf("%s: %d %ss, want %d\n%s", step, got, f.method, writes, f.HistoryLines(f.id()))
	}
	f.writes = all
	found := stored(f.World, f.id())
	if len(found) != 1 {
		f.T.Fatalf("%s: %d resources in Azure, want one", step, len(found))
	}
	if properties, _ := found[0].Body["properties"].(map[string]any); properties["size"] != size || properties["provisioningState"] != "Succeeded" {
		f.T.Errorf("%s: Azure has %v, want size %s in Succeeded", step, properties, size)
	}
}

// correct changes the resource behind the back of Armature, and once more between the read
// and the PUT of the correction: an ETag shows that, and the second change stays.
func (f *formed) correct() {
	f.T.Helper()
	f.Sim.Patch(f.id(), map[string]any{"properties": map[string]any{"size": "huge"}, "tags": map[string]any{"before": "other"}})
	gate := armsim.Fault{ID: f.name, Method: f.method, Path: f.id(), Gate: true, Count: 1}
	f.Sim.Call(http.MethodPost, "/faults", gate, nil)
	f.MustCLI("reconcile", f.id())
	f.untilHeld(gate.ID)
	f.Sim.Patch(f.id(), map[string]any{"tags": map[string]any{"between": "other"}})
	f.Sim.Call(http.MethodPost, "/faults/"+gate.ID+"/release", nil, nil)
	f.MustCLI("reconcile", f.id(), "--wait", "--timeout", "90s")
	writes, tags := 1, map[string]any{"purpose": "forms", "before": "other"}
	if f.changesETags {
		writes, tags["between"] = 2, "other" // the first one is refused: 412
	}
	f.want("correction", writes, "medium")
	if diff := cmp.Diff(tags, stored(f.World, f.id())[0].Body["tags"]); diff != "" {
		f.T.Errorf("tags after a correction (-want +got):\n%s", diff)
	}
}

// refuse lets the provider refuse an update for two reasons: both are shown, and the write is
// repeated only if a user asks.
func (f *formed) refuse() {
	f.T.Helper()
	refusal, err := json.Marshal(map[string]any{"error": map[string]any{"code": "MultipleErrorsOccurred", "message": "2 errors occurred", "details": []any{
		map[string]any{"code": "InvalidRequestContent", "target": "properties.size", "message": "Invalid value: huge"},
		map[string]any{"code": "InvalidRequestContent", "target": "properties.zone", "message": "Required value"},
	}}})
	if err != nil {
		f.T.Fatal(err)
	}
	fault := armsim.Fault{ID: f.name, Method: f.method, Path: f.id(), Status: http.StatusBadRequest, Body: refusal, Headers: map[string]string{"x-ms-error-code": "MultipleErrorsOccurred"}}
	f.Sim.Call(http.MethodPost, "/faults", fault, nil)
	f.MustCLI("apply", "-f", f.Write(f.name+".yaml", f.manifests("huge")))
	f.UntilStatus(60*time.Second, f.id(), "is refused with all reasons", func(status workflows.Status) bool {
		m := status.Condition.Message
		return status.Phase == workflows.PhaseFailed && strings.Contains(m, "properties.size") && strings.Contains(m, "Invalid value: huge") && strings.Contains(m, "properties.zone")
	})
	if again := f.CLI("reconcile", f.id(), "--wait", "--timeout", "60s"); again.Code != 1 {
		f.T.Errorf("want exit code 1 of %s", again)
	}
	f.want("refused update that a user repeats once", 2, "medium")
	f.Sim.Call(http.MethodDelete, "/faults/"+fault.ID, nil, nil)
	f.apply("medium")
	f.want("return to the accepted spec", 0, "medium")
}

// fail lets the operation of an update fail. Azure keeps the new values in state Failed, and
// they are written again.
func (f *formed) fail() {
	f.T.Helper()
	failing := f.put
	if f.patched {
		failing = f.patch
	}
	if failing.Shape == armsim.ShapeSync {
		failing.Shape = armsim.ShapeAsync
	}
	failing.Outcome, failing.ErrorCode, failing.ErrorMessage = "Failed", "InflightChecksFailed", "the checks failed"
	f.Sim.Call(http.MethodPost, "/operations", armsim.OperationRule{ID: f.id(), Count: 1, Spec: failing}, nil)
	f.apply("large")
	f.want("failed operation", 2, "large")
	if failing.Shape != armsim.ShapeState && !strings.Contains(f.HistoryLines(f.id()), "InflightChecksFailed") {
		f.T.Errorf("the history does not name the failure:\n%s", f.HistoryLines(f.id()))
	}
}
