package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// File is a sink that appends to a file. Where the file was moved or removed, as log
// rotation does, the next lines go to a new one at the same path.
type File struct {
	path string
	// sync makes every batch reach the disk before its lines count as written.
	sync bool
	file *os.File
}

// OpenFile returns a sink that appends to a file, which it creates for its owner alone.
// With sync, the lines survive the loss of the machine, without it the loss of the worker.
func OpenFile(path string, sync bool) (*File, error) {
	f := &File{path: path, sync: sync}
	if err := f.open(); err != nil {
		return nil, err
	}
	return f, nil
}

// Name returns "file".
func (*File) Name() string { return "file" }

// open opens the file, and ends a line that a worker left unfinished.
func (f *File) open() error {
	file, err := os.OpenFile(f.path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("open audit file: %w", err)
	}
	if err := endLine(file); err != nil {
		_ = file.Close() // nothing was written
		return fmt.Errorf("end the last line of %s: %w", f.path, err)
	}
	f.file = file
	return nil
}

// endLine appends a line break to a file whose last line has none. What is not a regular
// file, such as a pipe, stays as it is.
func endLine(file *os.File) error {
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return err
	}
	last := make([]byte, 1)
	if _, err := file.ReadAt(last, info.Size()-1); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if last[0] == '\n' {
		return nil
	}
	_, err = file.WriteString("\n")
	return err
}

// Write appends the lines with one call.
func (f *File) Write(_ context.Context, lines []Line) error {
	if err := f.follow(); err != nil {
		return err
	}
	if _, err := f.file.Write(joined(lines)); err != nil {
		f.reopen()
		return fmt.Errorf("append to audit file: %w", err)
	}
	if !f.sync {
		return nil
	}
	if err := f.file.Sync(); err != nil {
		f.reopen()
		return fmt.Errorf("sync audit file: %w", err)
	}
	return nil
}

// follow opens the path again where it names another file than the open one.
func (f *File) follow() error {
	if f.file != nil {
		open, err := f.file.Stat()
		there, missing := os.Stat(f.path)
		if err == nil && missing == nil && os.SameFile(open, there) {
			return nil
		}
		f.reopen()
	}
	return f.open()
}

// reopen makes the next write open the file.
func (f *File) reopen() {
	if f.file != nil {
		_ = f.file.Close() // its lines are written, or are written again
		f.file = nil
	}
}

// Close closes the file.
func (f *File) Close() error {
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}
