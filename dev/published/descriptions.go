package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// descriptions are the published descriptions of all resource types: a folder with
// index.json and the files that it names.
type descriptions struct {
	// Resources are the types by name@version.
	Resources map[string]reference `json:"resources"`
}

// reference names a type in a file: "some/types.json#/12".
type reference struct {
	Ref string `json:"$ref"`
}

func openDescriptions(folder string) (descriptions, error) {
	var d descriptions
	return d, readJSON(filepath.Join(folder, "index.json"), &d)
}

// files returns the files that contain the types, sorted.
func (d descriptions) files() []string {
	files := map[string]bool{}
	for _, r := range d.Resources {
		file, _, _ := strings.Cut(r.Ref, "#/")
		files[file] = true
	}
	return slices.Sorted(maps.Keys(files))
}

func readJSON(path string, into any) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}
