package convert

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/regular"
)

// maxFileBytes is the maximum size of a file. States of Terraform have tens of MiB.
const maxFileBytes = 64 << 20

// stdinName is the name of stdin in paths and places.
const stdinName = "-"

// eachFile reads the files one by one. Of a folder it reads the files with one of the
// extensions; without extensions a folder is a fault.
func (c *conversion) eachFile(paths, extensions []string, read func(data []byte)) {
	for _, path := range paths {
		for _, file := range c.files(path, extensions) {
			if data, ok := c.content(file); ok {
				read(data)
			}
		}
	}
}

// files returns the files of a path, sorted. A folder is not searched below.
func (c *conversion) files(path string, extensions []string) []string {
	c.file = path
	if path == stdinName {
		return []string{path}
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		c.fault(0, "%s", unreadable(err))
		return nil
	case !info.IsDir():
		return []string{filepath.Clean(path)}
	case len(extensions) == 0:
		c.fault(0, "is a folder; --from %s takes a file", c.options.From)
		return nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		c.fault(0, "%s", unreadable(err))
		return nil
	}
	var files []string
	for _, entry := range entries {
		name := entry.Name()
		if entry.IsDir() || strings.HasPrefix(name, ".") || !slices.Contains(extensions, extension(name)) {
			continue
		}
		file := filepath.Join(path, name)
		if inside, err := regular.IsWithin(path, file); err != nil || !inside {
			c.fault(0, "%s is a link out of the folder, which is not followed; copy the file into the folder", name)
			continue
		}
		files = append(files, file)
	}
	if len(files) == 0 {
		c.fault(0, "the folder has no file *%s; name another folder", strings.Join(extensions, ", *"))
	}
	return files
}

// extension returns what follows the first dot that makes a known extension: .tf.json and
// .tfvars.json are one extension each.
func extension(name string) string {
	lower := strings.ToLower(name)
	for _, known := range []string{".tf.json", ".tfvars.json"} {
		if strings.HasSuffix(lower, known) {
			return known
		}
	}
	return filepath.Ext(lower)
}

// content returns the bytes of a file and makes it the current one.
func (c *conversion) content(file string) ([]byte, bool) {
	c.file = file
	var (
		data []byte
		err  error
	)
	switch {
	case file != stdinName:
		data, err = regular.Read(file, maxFileBytes)
	case c.options.Stdin == nil:
		err = errors.New("stdin is not available; name a file")
	default:
		data, err = regular.ReadAll(c.options.Stdin, maxFileBytes)
	}
	if err != nil {
		c.fault(0, "%s", unreadable(err))
	}
	return data, err == nil
}

// unreadable returns the text of an error of a file without the path, which the place
// contains.
func unreadable(err error) string {
	if pathError, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathError.Err
	}
	if _, ok := errors.AsType[*regular.SizeError](err); ok {
		return err.Error() + "; split it"
	}
	return fmt.Sprintf("cannot be read: %v; check the path and its permissions, or pipe it into -", err)
}
