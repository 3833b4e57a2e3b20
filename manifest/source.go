package manifest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/armature-io/armature/internal/regular"
)

// maxFileBytes is the maximum size of one file: far larger than manifests, small
// enough for memory.
const maxFileBytes = 16 << 20

// stdinName is the name of stdin in paths, issues and sources.
const stdinName = "-"

// files expands paths into the files to read, each once: folders recursively,
// sorted, without hidden files.
func (l *loader) files(paths []string) []string {
	var files []string
	seen := map[string]bool{}
	add := func(file string) {
		if !seen[file] {
			files = append(files, file)
		}
		seen[file] = true
	}
	for _, path := range paths {
		switch path {
		case stdinName:
			add(path)
			continue
		case "":
			l.report(Issue{Message: `a path is empty (unset shell variable?); name a file, a folder, or "-" for stdin`})
			continue
		}
		path = filepath.Clean(path)
		info, err := os.Stat(path)
		switch {
		case err != nil:
			l.report(Issue{File: path, Message: unreadable(err)})
		case !info.IsDir():
			add(path)
		default:
			for _, file := range l.folder(path) {
				add(file)
			}
		}
	}
	return files
}

// folder returns the manifests of a folder in lexical order.
func (l *loader) folder(root string) []string {
	var files []string
	found := 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			l.report(Issue{File: path, Message: unreadable(err)})
			return nil
		}
		// Files of rules for the worker may be in the same folder.
		hidden := path != root && (strings.HasPrefix(entry.Name(), ".") || !entry.IsDir() && isRules(entry.Name()))
		switch {
		case entry.IsDir() && hidden:
			return filepath.SkipDir
		case entry.IsDir() || hidden:
			return nil
		}
		switch strings.ToLower(filepath.Ext(path)) {
		case ".yaml", ".yml", ".json":
			if l.isInside(root, path, entry) {
				files = append(files, path)
			}
			found++
		}
		return nil
	})
	if err != nil {
		l.report(Issue{File: root, Message: unreadable(err)})
	}
	if found == 0 && !l.keepForeign {
		l.report(Issue{File: root, Message: "the folder contains no *.yaml, *.yml or *.json file; name another folder, or files"})
	}
	return files
}

// isInside reports whether an entry of a folder is in the folder, with all links followed.
// A link out of it is an issue: the author of a folder does not choose which other files
// the user reads.
func (l *loader) isInside(root, path string, entry fs.DirEntry) bool {
	if entry.Type()&fs.ModeSymlink == 0 {
		return true
	}
	inside, err := regular.IsWithin(root, path)
	switch {
	case err != nil:
		l.report(Issue{File: path, Message: unreadable(err)})
	case !inside:
		l.report(Issue{File: path, Message: "is a link out of the folder, which is not followed; copy the file into the folder, or name it by itself"})
	}
	return inside && err == nil
}

// isRules reports whether a file has the name of a rule file, x.rules.yaml.
func isRules(name string) bool {
	lower := strings.ToLower(name)
	return strings.HasSuffix(lower, ".rules.yaml") || strings.HasSuffix(lower, ".rules.yml")
}

// content returns the bytes of one file or of stdin.
func (l *loader) content(file string) ([]byte, bool) {
	var (
		data []byte
		err  error
	)
	switch {
	case file != stdinName:
		data, err = regular.Read(file, maxFileBytes)
	case l.options.Stdin == nil:
		l.report(Issue{File: file, Message: "stdin is not available; name a file or a folder"})
		return nil, false
	default:
		data, err = regular.ReadAll(l.options.Stdin, maxFileBytes)
	}
	if err != nil {
		l.report(Issue{File: file, Message: unreadable(err)})
		return nil, false
	}
	return data, true
}

// unreadable returns the text of a file error without the path, which the issue
// contains.
func unreadable(err error) string {
	if pathError, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathError.Err
	}
	if _, ok := errors.AsType[*regular.SizeError](err); ok {
		return err.Error() + "; split it"
	}
	if errors.Is(err, regular.ErrSpecial) {
		return fmt.Sprintf("cannot be read: %v; name a file, or pipe the manifests into `-f -`", err)
	}
	return fmt.Sprintf("cannot be read: %v; check the path and its permissions", err)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
