package main

import (
	"crypto/rand"
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

// saveResources writes the simulator's resources to a file.
func saveResources(file string, sim *armsim.Simulator) error {
	snapshot, err := sim.Snapshot()
	if err != nil {
		return fmt.Errorf("save the simulator's resources: %w", err)
	}
	if err := os.WriteFile(file, snapshot, 0o600); err != nil {
		return fmt.Errorf("save the simulator's resources: %w", err)
	}
	return nil
}

// loadResources puts the resources of an earlier demo, if any, into the simulator.
func loadResources(file string, sim *armsim.Simulator) error {
	snapshot, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the simulator's resources: %w", err)
	}
	if err := sim.Restore(snapshot); err != nil {
		return fmt.Errorf("load the simulator's resources from %s: %w", file, err)
	}
	return nil
}
