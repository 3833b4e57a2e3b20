package secrets

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// defaultHolder is the name of the worker's own credential.
const defaultHolder = "default"

// systemFolders show the process and the machine as files: /proc/self/environ.
var systemFolders = []string{"/proc", "/sys"}

// maxOwnFiles bounds the files of one folder in Options.Own that are compared by identity.
const maxOwnFiles = 200

// holder is the allow-list of a resource.
type holder struct {
	Allowed
	// resources and section name it in messages: the resources that it is for, "" for
	// all, and the beginning of its keys in the worker's config.
	resources, section string
}

// holderOf returns the allow-list of the context's resource.
func (r *Resolver) holderOf(ctx context.Context) holder {
	of := holder{Allowed: Allowed{r.options.EnvPrefix, r.options.Dir}, section: "secrets."}
	if r.options.Holder == nil {
		return of
	}
	name := r.options.Holder(ctx)
	of.Allowed = r.options.Holders[name]
	switch name {
	case defaultHolder:
		of.resources = " for resources of the default credential"
	case "":
		of.resources, of.section = " for a resource that may not use its credential", "credentials.NAME.secrets."
	default:
		of.resources, of.section = " for resources of the credential "+name, "credentials."+name+".secrets."
	}
	return of
}

// isOwn reports whether an opened file is a secret of the worker itself: one of
// Options.Own, in a folder of them, or part of a system folder. The file is compared by
// identity, so that a link or a mount of it counts too; path is where it was found.
func (r *Resolver) isOwn(file *os.File, path string) (bool, error) {
	opened, err := file.Stat()
	if err != nil {
		return false, fmt.Errorf("stat: %w", err)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false, fmt.Errorf("follow links: %w", err)
	}
	for _, folder := range systemFolders {
		if isBelow(real, folder) {
			return true, nil
		}
	}
	for _, own := range r.options.Own {
		info, err := os.Stat(own)
		switch {
		case err != nil: // it does not exist (yet)
		case !info.IsDir() && os.SameFile(info, opened), info.IsDir() && (isBelow(real, own) || contains(own, opened)):
			return true, nil
		}
	}
	return false, nil
}

// isBelow reports whether a real path is below a folder.
func isBelow(path, folder string) bool {
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	relative, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(relative)
}

// contains reports whether one of the first files below a folder is the opened one.
func contains(folder string, opened fs.FileInfo) bool {
	found, seen := false, 0
	_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil //nolint:nilerr // what cannot be read is no match
		}
		if seen++; seen > maxOwnFiles {
			return filepath.SkipAll
		}
		if info, err := os.Stat(path); err == nil && os.SameFile(info, opened) {
			found = true
			return filepath.SkipAll
		}
		return nil
	})
	return found
}
