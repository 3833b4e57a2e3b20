package main

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/armature-io/armature/armsim"
)

// resourcesFile is where a demo leaves the simulator's resources, which live in
// memory, for the next one with KEEP=1: Temporal's database alone would tell of
// resources that nobody has.
const resourcesFile = "armsim.json"

// keptSecret is a text of chance that a kept demo goes on with; it says in which
// file it stands.
func keptSecret(folder, name string) (secret, file string, err error) {
	file = filepath.Join(folder, name)
	known, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		known = []byte(rand.Text())
		err = os.WriteFile(file, known, 0o600)
	}
	if err != nil {
		return "", "", fmt.Errorf("keep the demo's %s: %w", name, err)
	}
	return string(known), file, nil
}

// keptResource is a resource as a GET shows it.
type keptResource struct {
	ID   string         `json:"id"`
	Body map[string]any `json:"body"`
}

// keepResources writes the simulator's resources to a file. An operation that
// goes on counts as ended: its URL does not outlive the simulator.
func keepResources(file string, sim *armsim.Simulator) error {
	var kept []keptResource
	for _, stored := range sim.Resources("*", "*") {
		body := map[string]any(stored.Body)
		if properties, _ := body["properties"].(map[string]any); stored.Busy && properties != nil {
			delete(properties, "provisioningState")
		}
		kept = append(kept, keptResource{ID: stored.ID, Body: body})
	}
	encoded, err := json.Marshal(kept)
	if err != nil {
		return fmt.Errorf("encode the simulator's resources: %w", err)
	}
	if err := os.WriteFile(file, encoded, 0o600); err != nil {
		return fmt.Errorf("keep the simulator's resources: %w", err)
	}
	return nil
}

// restoreResources puts back what an earlier demo left, if there was one.
func restoreResources(file string, sim *armsim.Simulator) error {
	encoded, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the simulator's resources: %w", err)
	}
	var kept []keptResource
	if err := json.Unmarshal(encoded, &kept); err != nil {
		return fmt.Errorf("decode the simulator's resources in %s: %w", file, err)
	}
	for _, r := range kept {
		if err := sim.Put(r.ID, r.Body); err != nil {
			return fmt.Errorf("restore the simulator's resources: %w", err)
		}
	}
	return nil
}
