// Package regular reads regular files of a bounded size. Reading any other file may
// never end (a FIFO, a device), or returns what no user wrote (/proc).
package regular

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// ErrSpecial is the error of a file that is not regular.
var ErrSpecial = errors.New("it is not a regular file")

// SizeError is the error of a file that is larger than its bound.
type SizeError struct{ MaxBytes int64 }

func (e *SizeError) Error() string {
	return fmt.Sprintf("the file is larger than %d MiB", e.MaxBytes>>20)
}

// Read returns the content of a regular file of at most maxBytes bytes. It follows links.
func Read(path string, maxBytes int64) ([]byte, error) {
	// Opening some devices has an effect, so the path is checked before.
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if err := check(info, path); err != nil {
		return nil, err
	}
	// Without O_NONBLOCK a FIFO that took the place of the file would wait for a writer.
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err = file.Stat(); err != nil {
		return nil, err
	}
	if err := check(info, path); err != nil {
		return nil, err
	}
	return ReadAll(file, maxBytes)
}

// ReadAll returns what is left of a reader, at most maxBytes bytes.
func ReadAll(from io.Reader, maxBytes int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(from, maxBytes+1))
	if err == nil && int64(len(data)) > maxBytes {
		err = &SizeError{MaxBytes: maxBytes}
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

// kernelFolders have files that are regular by their mode only.
var kernelFolders = []string{"/proc/", "/sys/"}

func check(info fs.FileInfo, path string) error {
	switch {
	case info.IsDir():
		return fmt.Errorf("it is a folder: %w", ErrSpecial)
	case !info.Mode().IsRegular():
		return ErrSpecial
	}
	target, err := resolve(path)
	if err != nil {
		return err
	}
	for _, folder := range kernelFolders {
		if strings.HasPrefix(target, folder) {
			return ErrSpecial
		}
	}
	return nil
}

// IsWithin reports whether a path, with all links followed, is in a folder.
func IsWithin(folder, path string) (bool, error) {
	root, err := resolve(folder)
	if err != nil {
		return false, err
	}
	target, err := resolve(path)
	if err != nil {
		return false, err
	}
	relative, err := filepath.Rel(root, target)
	return err == nil && filepath.IsLocal(relative), nil
}

// resolve returns the absolute path behind all links.
func resolve(path string) (string, error) {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	return filepath.Abs(target)
}

// Create writes a file with mode 0600: a new one, or in place of a regular one, whose
// mode and content it replaces. It follows no link and writes to no device. The file is
// complete or not there at all.
func Create(path string, content []byte) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a link: %w", path, ErrSpecial)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s: %w", path, ErrSpecial)
	}
	// CreateTemp uses mode 0600 and no existing file.
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }() // it has the name of path by then
	_, err = file.Write(content)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
