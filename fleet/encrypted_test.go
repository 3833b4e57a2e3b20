package fleet

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/resource"
	commonpb "go.temporal.io/api/common/v1"
)

// TestUnreadableDependents checks that a worker without the key of a memo does not take its
// resource for one that is not there: an owner would be deleted with what is in it.
//
//guard:what-is-encrypted-stays-whole
func TestUnreadableDependents(t *testing.T) {
	t.Parallel()
	keyed, err := payload.New(payload.Options{WriteKey: "a", Keys: []payload.Key{{ID: "a", Secret: bytes.Repeat([]byte{1}, payload.KeySize)}}})
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t)
	s.add(run{id: database(1), needs: []string{clusterText}, policy: resource.PolicyProtect})
	for _, info := range s.listed {
		fields := map[string]*commonpb.Payload{}
		for name, clear := range info.GetMemo().GetFields() {
			sealed, err := keyed.Codec.Encode([]*commonpb.Payload{clear})
			if err != nil {
				t.Fatal(err)
			}
			fields[name] = sealed[0]
		}
		info.Memo.Fields = fields
	}
	with := New(direct{server: s}, Options{Converters: keyed})
	if found, err := with.Dependents(t.Context(), parse(t, clusterText)); err != nil || len(found.Listed) != 1 {
		t.Errorf("with the key: %+v, %v", found, err)
	}
	without := New(direct{server: s}, Options{})
	_, listErr := without.Dependents(t.Context(), parse(t, clusterText))
	_, withinErr := without.within(t.Context(), parse(t, clusterText))
	_, _, managedErr := without.Managed(t.Context(), parse(t, database(1)))
	for name, err := range map[string]error{"Dependents": listErr, "within": withinErr, "Managed": managedErr} {
		missing, ok := errors.AsType[*payload.MissingKeyError](err)
		if !ok || missing.KeyID != "a" || !strings.Contains(err.Error(), parse(t, database(1)).WorkflowID()) {
			t.Errorf("%s without the key: want an error with the key and the workflow, got %v", name, err)
		}
	}
}
