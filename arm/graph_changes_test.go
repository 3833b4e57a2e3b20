package arm_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/armsim"
)

// TestChanges reads what the simulator's Resource Graph reports: a user, an application without a
// name, Azure itself, and a group, in more pages than one.
func TestChanges(t *testing.T) {
	const rows = 1000 // of a page
	s := newSimulated(t, secret, armsim.Options{TimeScale: 1, Changes: armsim.ChangeReports{Merge: -1, Graph: armsim.Reporting{MaxDelay: -1}}})
	sim, client := s.sim, s.Client
	const group = subscription + "/resourceGroups/g"
	const disk = group + "/providers/Microsoft.Compute/disks/d"
	for _, change := range []struct {
		by   armsim.Author
		id   string
		body map[string]any
	}{
		{armsim.Author{}, group, map[string]any{"location": "westus2"}},
		{armsim.Author{Name: "alice@contoso.com", Type: "User", Client: "Azure Portal"}, disk, map[string]any{"location": "westus2"}},
		{armsim.Author{System: true}, disk, map[string]any{"location": "westus2", "tags": map[string]any{"by": "azure"}}},
	} {
		if err := sim.As(change.by).Put(change.id, change.body); err != nil {
			t.Fatal(err)
		}
	}
	found, err := client.Changes(t.Context(), time.Now().Add(-time.Minute), time.Now().Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, change := range found {
		got = append(got, fmt.Sprintf("%s %s by %s %s", change.Kind, change.ID.Name(), change.ReportedAuthor, strings.Join(change.Paths, ",")))
	}
	slices.Sort(got) // changes of one millisecond come in the order of their records
	want := []string{"Create d by alice@contoso.com with Azure Portal ", "Create g by an unnamed writer ", "Update d by Azure itself tags.by"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("changes\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for range rows {
		if err := sim.As(armsim.Author{}).Patch(disk, map[string]any{"tags": map[string]any{"by": fmt.Sprint(time.Now().UnixNano())}}); err != nil {
			t.Fatal(err)
		}
	}
	if found, err = client.Changes(t.Context(), time.Now().Add(-time.Hour), time.Now().Add(time.Minute)); err != nil || len(found) != rows+3 {
		t.Errorf("%d changes, error %v, want all pages: %d", len(found), err, rows+3)
	}
	sim.Deny(armsim.Denial{Scope: "*"})
	if _, err := client.Changes(t.Context(), time.Now().Add(-time.Hour), time.Now()); !isForbidden(err) {
		t.Errorf("error %v without rights, want status 403", err)
	}
}

func isForbidden(err error) bool {
	failure, ok := errors.AsType[*arm.Error](err)
	return ok && failure.Status == http.StatusForbidden
}
