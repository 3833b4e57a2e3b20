package workflows

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"
)

// recordedVersions are the versions in one history by the ID of their change.
type recordedVersions map[string]workflow.Version

// defects returns the rules of the table that rows break. read returns the versions in a
// history, and nil for one that does not exist.
func defects(rows []change, read func(history string) recordedVersions) []string {
	var found []string
	for i, row := range rows {
		report := func(format string, args ...any) {
			found = append(found, fmt.Sprintf("%s: %s", row.id, fmt.Sprintf(format, args...)))
		}
		if row.id == "" || row.reason == "" || slices.ContainsFunc(rows[:i], func(other change) bool { return other.id == row.id }) {
			report("needs an ID of its own and a reason")
		}
		if row.min < workflow.DefaultVersion || row.max < 1 || row.min >= row.max {
			report("versions %d to %d are no change", row.min, row.max)
		}
		if before := read(row.before); before == nil {
			report("no history of a run before it")
		} else if version, has := before[row.id]; has && version >= row.max {
			report("history %s has version %d, so it is not from before", row.before, version)
		}
		if after := read(row.after); after == nil {
			report("no history of a run after it")
		} else if version, has := after[row.id]; !has || version != row.max {
			report("history %s does not have version %d", row.after, row.max)
		}
	}
	return found
}

// versionsIn returns the versions in a recorded history.
func versionsIn(t *testing.T, name string) recordedVersions {
	file, err := os.Open(filepath.Join("testdata/histories", name+".json"))
	if err != nil {
		return nil
	}
	defer func() { _ = file.Close() }()
	history, err := client.HistoryFromJSON(file, client.HistoryJSONOptions{})
	if err != nil {
		t.Fatalf("read %s: %v", name, err)
	}
	return markedVersions(t, history)
}

func markedVersions(t *testing.T, history *historypb.History) recordedVersions {
	versions := recordedVersions{}
	for _, event := range history.GetEvents() {
		marker := event.GetMarkerRecordedEventAttributes()
		if marker.GetMarkerName() != "Version" {
			continue
		}
		var id string
		var version workflow.Version
		for key, value := range map[string]any{"change-id": &id, "version": &version} {
			if err := converter.GetDefaultDataConverter().FromPayloads(marker.GetDetails()[key], value); err != nil {
				t.Fatal(err)
			}
		}
		versions[id] = version
	}
	return versions
}

func TestChanges(t *testing.T) {
	for _, defect := range defects(changes, func(name string) recordedVersions { return versionsIn(t, name) }) {
		t.Error(defect)
	}
}

// TestChangesDemandBothSides checks made-up rows.
func TestChangesDemandBothSides(t *testing.T) {
	complete := change{id: "read-twice", min: workflow.DefaultVersion, max: 1, reason: "one reading was too old", before: "old", after: "new"}
	histories := map[string]recordedVersions{"old": {}, "new": {"read-twice": 1}, "second": {"read-twice": 2}}
	cases := map[string]struct {
		reason string
		change func(*change)
		want   []string
	}{
		"complete":        {reason: "it has both sides", change: func(*change) {}},
		"second version":  {reason: "the side before may have the first one", change: func(c *change) { c.max, c.before, c.after = 2, "new", "second" }},
		"no side before":  {reason: "running workflows have the old order", change: func(c *change) { c.before = "" }, want: []string{"read-twice: no history of a run before it"}},
		"no side after":   {reason: "the new order becomes an old one", change: func(c *change) { c.after = "missing" }, want: []string{"read-twice: no history of a run after it"}},
		"one for both":    {reason: "a history follows one order", change: func(c *change) { c.before = "new" }, want: []string{"read-twice: history new has version 1, so it is not from before"}},
		"none of it":      {reason: "the run did not come to the change", change: func(c *change) { c.after = "old" }, want: []string{"read-twice: history old does not have version 1"}},
		"no reason":       {reason: "nobody dares to remove the branch", change: func(c *change) { c.reason = "" }, want: []string{"read-twice: needs an ID of its own and a reason"}},
		"nothing changes": {reason: "there is one version", change: func(c *change) { c.min = 1 }, want: []string{"read-twice: versions 1 to 1 are no change"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			row := complete
			c.change(&row)
			got := defects([]change{row}, func(name string) recordedVersions { return histories[name] })
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
	if got := defects([]change{complete, complete}, func(name string) recordedVersions { return histories[name] }); len(got) != 1 {
		t.Errorf("two rows of one ID: %v", got)
	}
}

// TestChangesAreInTheTable checks that the code asks for no version without a row.
func TestChangesAreInTheTable(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	call := regexp.MustCompile(`workflow\.GetVersion\(\w+, ([^,]+),`)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range call.FindAllStringSubmatch(string(text), -1) {
			if !slices.ContainsFunc(changes, func(c change) bool { return fmt.Sprintf("%q", c.id) == match[1] }) {
				t.Errorf("%s asks for the version of %s, which is no row of changes", file, match[1])
			}
		}
	}
}
