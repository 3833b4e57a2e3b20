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

// resourcesFile has the simulator's resources for the next demo with KEEP=1. The
// simulator keeps them in memory only, and Temporal's database refers to them.
const resourcesFile = "armsim.json"

// savedSecret returns a random secret and its file in the folder. A later demo with
// KEEP=1 uses the same secret.
func savedSecret(folder, name string) (secret, file string, err error) {
	file = filepath.Join(folder, name)
	content, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		content = []byte(rand.Text())
		err = os.WriteFile(file, content, 0o600)
	}
	if err != nil {
		return "", "", fmt.Errorf("save the demo's %s: %w", name, err)
	}
	return string(content), file, nil
}

// savedResource is a resource with the body of a GET.
type savedResource struct {
	ID   string         `json:"id"`
	Body map[string]any `json:"body"`
}

// saveResources writes the simulator's resources to a file. Operations in progress
// count as complete, because their URLs end with the simulator.
func saveResources(file string, sim *armsim.Simulator) error {
	var resources []savedResource
	for _, stored := range sim.Resources("*", "*") {
		body := map[string]any(stored.Body)
		if properties, _ := body["properties"].(map[string]any); stored.Busy && properties != nil {
			delete(properties, "provisioningState")
		}
		resources = append(resources, savedResource{ID: stored.ID, Body: body})
	}
	encoded, err := json.Marshal(resources)
	if err != nil {
		return fmt.Errorf("encode the simulator's resources: %w", err)
	}
	if err := os.WriteFile(file, encoded, 0o600); err != nil {
		return fmt.Errorf("save the simulator's resources: %w", err)
	}
	return nil
}

// loadResources puts the resources of an earlier demo, if any, into the simulator.
func loadResources(file string, sim *armsim.Simulator) error {
	encoded, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the simulator's resources: %w", err)
	}
	var resources []savedResource
	if err := json.Unmarshal(encoded, &resources); err != nil {
		return fmt.Errorf("decode the simulator's resources in %s: %w", file, err)
	}
	for _, r := range resources {
		if err := sim.Put(r.ID, r.Body); err != nil {
			return fmt.Errorf("load the simulator's resources: %w", err)
		}
	}
	return nil
}
