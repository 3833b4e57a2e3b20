package fleet

import (
	"bytes"
	"maps"
	"strings"
	"testing"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/resource"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
)

// TestUnreadableDependents checks that a worker without the key of a memo takes its resource
// for a protected one: an owner would be deleted with what is in it.
//
//guard:what-is-encrypted-stays-whole
func TestUnreadableDependents(t *testing.T) {
	t.Parallel()
	key := func(fill byte) *payload.Converters {
		keyed, err := payload.New(payload.Options{WriteKey: "a", Keys: []payload.Key{{ID: "a", Secret: bytes.Repeat([]byte{fill}, payload.KeySize)}}})
		if err != nil {
			t.Fatal(err)
		}
		return keyed
	}
	s := newServer(t)
	s.add(run{id: database(1), needs: []string{clusterText}, policy: resource.PolicyManage})
	id := parse(t, database(1))
	clear := map[string]*commonpb.Payload{}
	for _, info := range s.listed {
		maps.Copy(clear, info.GetMemo().GetFields())
	}
	// seal encrypts the memo for a workflow.
	seal := func(workflowID string) {
		for _, info := range s.listed {
			for name, value := range clear {
				sealed, err := payload.At(payload.Place{WorkflowID: workflowID}, key(1).Data).ToPayload(converter.NewRawValue(value))
				if err != nil {
					t.Fatal(err)
				}
				info.Memo.Fields[name] = sealed
			}
		}
	}
	seal(id.WorkflowID())
	with := New(direct{server: s}, Options{Converters: key(1)})
	if found, err := with.Dependents(t.Context(), parse(t, clusterText)); err != nil || len(found.Listed) != 1 || found.Listed[0].Policy != resource.PolicyManage {
		t.Errorf("with the key: %+v, %v", found, err)
	}
	for name, converters := range map[string]*payload.Converters{"no key": nil, "another key of the same ID": key(2)} {
		without := New(direct{server: s}, Options{Converters: converters})
		found, err := without.Dependents(t.Context(), parse(t, clusterText))
		if err != nil || len(found.Listed) != 1 || found.Blocking != 1 || !isProtected(found.Listed[0], id) {
			t.Errorf("%s: dependents are %+v, %v", name, found, err)
		}
		if within, err := without.within(t.Context(), parse(t, clusterText)); err != nil || len(within) != 1 || !within[0].Equal(id) {
			t.Errorf("%s: within are %v, %v", name, within, err)
		}
		if managed, known, err := without.Managed(t.Context(), id); err != nil || !known || !isProtected(managed, id) {
			t.Errorf("%s: the resource is %+v, %t, %v", name, managed, known, err)
		}
		if _, _, err := without.ReadMemory(t.Context(), id); !payload.IsUnreadable(err) {
			t.Errorf("%s: the memory is read: %v", name, err)
		}
	}
	seal("/another")
	if managed, known, err := with.Managed(t.Context(), id); err != nil || !known || !isProtected(managed, id) {
		t.Errorf("the memo of another workflow: the resource is %+v, %t, %v", managed, known, err)
	}
}

// isProtected reports whether a workflow counts as that of a protected resource, with the
// reason.
func isProtected(managed activities.Managed, id resource.ID) bool {
	return managed.ID.Equal(id) && managed.Policy == resource.PolicyProtect && payload.IsUnreadable(managed.Unreadable) &&
		strings.Contains(managed.Unreadable.Error(), id.WorkflowID())
}
