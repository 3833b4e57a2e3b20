// Package overlay lets the go command read changed files in place of those of the repository,
// and the files of earlier commits, without touching the tree.
package overlay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
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

// CheckOut writes the files of a commit of the repository at root into the folder.
func CheckOut(ctx context.Context, root, commit, folder string) error {
	archive, err := os.CreateTemp("", "commit-*.tar")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(archive.Name()) }()
	if err := archive.Close(); err != nil {
		return err
	}
	for _, arguments := range [][]string{
		{"git", "-C", root, "archive", "-o", archive.Name(), commit},
		{"tar", "-xf", archive.Name(), "-C", folder},
	} {
		if output, err := exec.CommandContext(ctx, arguments[0], arguments[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("take commit %s out of the history: %w\n%s", commit, err, output)
		}
	}
	return nil
}
