package manifest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/nearest"
)

// A file in the folder may be none of Armature's, and may have secrets of another
// program. Nothing of its content appears in a message: neither keys nor values.

// isManifest reports whether a document is meant as a manifest: it has a resource type, or
// a body and another field of a manifest, or most of the fields. Misspelt fields count.
func isManifest(root *node) bool {
	if root.kind != kindObject {
		return false
	}
	stated := map[string]bool{}
	state := func(name string) string {
		if !slices.Contains(manifestFields, name) {
			name = nearest.Match(name, manifestFields)
		}
		if name != "" {
			stated[name] = true
		}
		return name
	}
	for _, name := range root.broken {
		state(name)
	}
	for _, f := range root.fields {
		if state(f.name) == "type" && f.value.kind == kindText && strings.ContainsAny(f.value.text, "/@") {
			return true
		}
	}
	return stated["body"] && len(stated) > 1 || len(stated) > 2
}

// dropForeign replaces the issues of a document, from an index of them, by one without its
// content if it is no manifest, and reports whether it did. within is the path of the
// document in its file.
func (l *loader) dropForeign(file string, root *node, from int, within string) bool {
	if l.keepForeign || isManifest(root) {
		return false
	}
	kept := slices.DeleteFunc(l.issues[from:], func(i Issue) bool { return i.File == file && strings.HasPrefix(i.Path, within) })
	l.issues = l.issues[:from+len(kept)]
	found := string(root.kind)
	if root.kind == kindObject {
		found = "other fields"
	}
	l.report(Issue{File: file, Line: root.line, Column: root.column, Message: fmt.Sprintf(
		"is no manifest: that is a mapping with the fields %s; found %s; correct it, or move the file elsewhere",
		strings.Join(manifestFields, ", "), found)})
	return true
}
