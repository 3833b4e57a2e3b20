package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// markerFile marks a folder as the demo's.
const markerFile = ".armature-demo"

// prepareFolder creates the demo's folder, and empties it unless keep is set. It
// refuses a folder with other files: a mistyped --folder must not delete them.
func prepareFolder(folder string, keep bool) error {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read demo folder: %w", err)
	}
	_, err = os.Stat(filepath.Join(folder, markerFile))
	if len(entries) > 0 && err != nil {
		return fmt.Errorf("use demo folder %s: it has files that the demo did not create; choose another one with --folder", folder)
	}
	if !keep {
		if err := os.RemoveAll(folder); err != nil {
			return fmt.Errorf("empty demo folder: %w", err)
		}
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("create demo folder: %w", err)
	}
	if err := os.WriteFile(filepath.Join(folder, markerFile), nil, 0o600); err != nil {
		return fmt.Errorf("mark demo folder: %w", err)
	}
	return nil
}
