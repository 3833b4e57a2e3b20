package extensiontest

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/armature-io/armature/internal/regular"
	"github.com/armature-io/armature/resource"
)

// maxRecordedBytes bounds one file of recorded bodies.
const maxRecordedBytes = 32 << 20

// Recording is a set of recorded bodies in JSON by resource ID. It can be the Resources
// of a Client, a Resolver, or the Azure of a script of package passtest; Body returns one of
// them for the Resources of a Suite.
type Recording map[string]string

// Recorded reads the responses of ARM in all *.json files of a folder and the folders in
// it: a GET of a resource ({"id": ...}), a list ({"value": [...]}), or an array of
// resources. With the Azure CLI:
//
//	az rest --method get --url "$ID?api-version=2023-08-15" > testdata/recorded/cluster.json
//
// The test fails if there is no file, if one has no resource, and if two have the same.
// Take subscription IDs and secrets out before you commit them.
func Recorded(t testing.TB, folder string) Recording {
	t.Helper()
	found, sources := Recording{}, map[string]string{}
	files := 0
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.EqualFold(filepath.Ext(path), ".json") {
			return err
		}
		files++
		bodies, err := readRecorded(path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		for id, body := range bodies {
			key := strings.ToLower(id)
			if other, known := sources[key]; known {
				return fmt.Errorf("%s: %s is in %s too; keep one state in a folder", path, id, other)
			}
			sources[key], found[id] = path, body
		}
		return nil
	})
	if err == nil && files == 0 {
		err = fmt.Errorf("%s: the folder has no *.json", folder)
	}
	if err != nil {
		t.Fatalf("read recorded bodies: %v", err)
	}
	return found
}

// Body returns the body of a resource, whose ID is compared ignoring case. The test fails
// if it was not recorded.
func (r Recording) Body(t testing.TB, id string) string {
	t.Helper()
	for known, body := range r {
		if strings.EqualFold(known, id) {
			return body
		}
	}
	t.Fatalf("%s was not recorded; there are %s", id, strings.Join(keys(r), ", "))
	return ""
}

// readRecorded returns the bodies in a file by ID.
func readRecorded(path string) (map[string]string, error) {
	raw, err := regular.Read(path, maxRecordedBytes)
	if err != nil {
		return nil, err
	}
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		var list struct {
			Value []json.RawMessage `json:"value"`
			ID    string            `json:"id"`
		}
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, fmt.Errorf("it is neither a resource nor a list of resources: %w", err)
		}
		if items = list.Value; list.ID != "" {
			items = []json.RawMessage{raw}
		}
	}
	bodies := map[string]string{}
	for i, item := range items {
		var named struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal(item, &named); err != nil {
			return nil, fmt.Errorf("item %d: %w", i, err)
		}
		if _, err := resource.ParseID(named.ID); err != nil {
			return nil, fmt.Errorf("item %d: %w", i, err)
		}
		if _, twice := bodies[named.ID]; twice {
			return nil, fmt.Errorf("%s is in it twice", named.ID)
		}
		bodies[named.ID] = string(item)
	}
	if len(bodies) == 0 {
		return nil, fmt.Errorf("it has no resource: a body of ARM has an id, a list a value")
	}
	return bodies, nil
}
