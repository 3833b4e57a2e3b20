package workflows_test

import (
	"fmt"
	"os"
	"reflect"
	"sort"
	"strings"
	"testing"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
)

// TestNames compares every name in histories, search attributes and the tools of users
// with a golden file, so that a rename is deliberate.
func TestNames(t *testing.T) {
	var lines []string
	add := func(kind string, names ...string) {
		for _, name := range names {
			lines = append(lines, kind+" "+name)
		}
	}
	add("workflow", workflows.ReconcileResourceWorkflow, workflows.SerializeSiblingsWorkflow, workflows.HoldFreezeWorkflow, workflows.HoldBudgetsWorkflow, workflows.PlanResourceWorkflow, workflows.ImportResourceWorkflow, workflows.MoveResourceWorkflow, workflows.FollowChangesWorkflow)
	add("update", workflows.ApplyUpdate, workflows.ReconcileUpdate, workflows.PauseUpdate, workflows.ResumeUpdate, workflows.DeleteUpdate, workflows.AbortUpdate, workflows.ForgetUpdate,
		workflows.TakeTurnUpdate, workflows.FreezeUpdate, workflows.UnfreezeUpdate, workflows.SpendUpdate)
	add("signal", workflows.WakeSignal, workflows.ReportSignal, workflows.EndTurnSignal, workflows.MoveVersionSignal)
	add("query", workflows.StatusQuery, workflows.MemoryQuery, workflows.SpentQuery)
	add("task-queue", workflows.TaskQueue)
	add("error", workflows.FatalError)
	add("header", workflows.TokenHeader)
	add("refusal", workflows.RefusedDeleting, workflows.RefusedNotDeleted, workflows.RefusedInvalid, workflows.RefusedNotManaged, workflows.RefusedOnce, workflows.RefusedProtected, workflows.RefusedManaged, workflows.RefusedRunning)
	add("memo", workflows.MemoID, workflows.MemoName, workflows.MemoAPIVersion, workflows.MemoPolicy, workflows.MemoFrozen, workflows.MemoSummary, workflows.MemoFeed)
	attributes := workflows.SearchAttributes()
	var names []string
	for name, kind := range attributes {
		names = append(names, fmt.Sprintf("%s %s", name, kind))
	}
	sort.Strings(names)
	add("search-attribute", names...)
	for _, phase := range []workflows.Phase{
		workflows.PhasePending, workflows.PhaseBlocked, workflows.PhaseOperating, workflows.PhaseReady,
		workflows.PhaseNotReady, workflows.PhasePaused, workflows.PhaseDeleting, workflows.PhaseFailed,
	} {
		add("phase", string(phase))
	}
	for _, info := range resource.Reasons() {
		add("reason", string(info.Reason)+" "+string(info.Reason.Class()))
	}
	addActivities(add)
	compare(t, "testdata/names.txt", strings.Join(lines, "\n")+"\n")
}

// addActivities lists the activities with the JSON fields of their payloads.
func addActivities(add func(string, ...string)) {
	of := reflect.TypeFor[*activities.Activities]()
	for i := range of.NumMethod() {
		method := of.Method(i)
		add("activity", method.Name)
		add("input of "+method.Name, fields(method.Type.In(2))...)
		add("result of "+method.Name, fields(method.Type.Out(0))...)
	}
	add("state", fields(reflect.TypeFor[workflows.State]())...)
	add("status", fields(reflect.TypeFor[workflows.Status]())...)
	add("desired", fields(reflect.TypeFor[resource.Desired]())...)
	add("decision", fields(reflect.TypeFor[workflows.Decision]())...)
	add("condition", fields(reflect.TypeFor[resource.Condition]())...)
	add("verdict", fields(reflect.TypeFor[resource.Verdict]())...)
}

func fields(of reflect.Type) []string {
	var names []string
	for i := range of.NumField() {
		if of.Field(i).Anonymous && of.Field(i).Tag == "" { // its fields are flat in JSON
			names = append(names, fields(of.Field(i).Type)...)
			continue
		}
		name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
		group := of.Field(i).Type
		if group.Kind() == reflect.Pointer {
			group = group.Elem()
		}
		if group.Kind() == reflect.Struct && group.PkgPath() == reflect.TypeFor[workflows.State]().PkgPath() {
			for _, member := range fields(group) {
				names = append(names, name+"."+member)
			}
		}
	}
	return names
}

// compare compares a text with a golden file; ARMATURE_UPDATE_GOLDEN=1 writes the file.
func compare(t *testing.T, file, got string) {
	t.Helper()
	if os.Getenv("ARMATURE_UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want, +got):\n%s", file, diff)
	}
}
