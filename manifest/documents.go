package manifest

import (
	"path/filepath"
	"strings"
)

// Document is one document of a file of manifests.
type Document struct {
	File string
	// Type and Version are what the document states; Type is "" if it states no
	// resource type, so that it is no manifest.
	Type, Version string
}

// Documents returns the documents of files and folders without checking them: what
// cannot be read has none. Its error is about the paths themselves.
func Documents(paths ...string) ([]Document, error) {
	l := &loader{byName: map[string][]*draft{}, keepForeign: true}
	files := l.files(paths)
	if len(l.issues) > 0 {
		return nil, l.issues.sorted(files)
	}
	var documents []Document
	for _, file := range files {
		data, ok := l.content(file)
		if !ok {
			continue
		}
		read := l.readYAML
		if strings.EqualFold(filepath.Ext(file), ".json") {
			read = l.readJSON
		}
		for _, root := range read(file, data) {
			d := &draft{file: file, root: root}
			l.readType(d)
			documents = append(documents, Document{File: file, Type: d.typ, Version: d.version})
		}
	}
	return documents, nil
}
