package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// marker is the file by which the demo knows a folder as its own.
const marker = ".armature-demo"

// prepareFolder makes the demo's folder, and empties it unless it is kept. A
// folder with anything in it that the demo did not make is refused: a mistyped
// --folder must cost nobody their files.
func prepareFolder(folder string, keep bool) error {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read demo folder: %w", err)
	}
	_, err = os.Stat(filepath.Join(folder, marker))
	if len(entries) > 0 && err != nil {
		return fmt.Errorf("use demo folder %s: it holds files of somebody else; name another with --folder", folder)
	}
	if !keep {
		if err := os.RemoveAll(folder); err != nil {
			return fmt.Errorf("empty demo folder: %w", err)
		}
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("make demo folder: %w", err)
	}
	if err := os.WriteFile(filepath.Join(folder, marker), nil, 0o600); err != nil {
		return fmt.Errorf("mark demo folder: %w", err)
	}
	return nil
}
