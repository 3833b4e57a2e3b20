// Package archive writes files as tar archives whose bytes depend on names and contents alone.
package archive

import (
	"archive/tar"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"time"
)

// Read returns the contents of all files of a tree by their paths. Anything but a file or a
// folder is an error.
func Read(tree fs.FS) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(tree, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if !entry.Type().IsRegular() {
			return fmt.Errorf("%s is not a file", path)
		}
		files[path], err = fs.ReadFile(tree, path)
		return err
	})
	return files, err
}

// Write writes files by their paths, sorted. All have the given time, the owner root and the mode
// 0644.
func Write(w io.Writer, files map[string][]byte, modified time.Time) error {
	out := tar.NewWriter(w)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		header := tar.Header{
			Typeflag: tar.TypeReg, Name: path, Size: int64(len(files[path])), Mode: 0o644,
			ModTime: modified.UTC(), Format: tar.FormatUSTAR,
		}
		if err := out.WriteHeader(&header); err != nil {
			return fmt.Errorf("write %s into archive: %w", path, err)
		}
		if _, err := out.Write(files[path]); err != nil {
			return fmt.Errorf("write %s into archive: %w", path, err)
		}
	}
	return out.Close()
}
