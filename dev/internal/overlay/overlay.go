// Package overlay lets the go command read changed files in place of those of the repository,
// without touching the tree.
package overlay

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
)

// FindRoot returns the folder of the repository that contains the working directory.
func FindRoot() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; folder = filepath.Dir(folder) {
		if _, err := os.Stat(filepath.Join(folder, "dev", "go.mod")); err == nil {
			return folder, nil
		}
		if folder == filepath.Dir(folder) {
			return "", errors.New("find the repository above the working directory: no dev/go.mod")
		}
	}
}

// Write describes replacements, by the absolute path of the file, in a file in the folder. It
// returns the path for the flag -overlay of the go command.
func Write(folder string, replaced map[string]string) (string, error) {
	description, err := json.Marshal(map[string]map[string]string{"Replace": replaced})
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "overlay.json")
	return path, os.WriteFile(path, description, 0o600)
}
