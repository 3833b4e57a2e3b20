package manifest

import (
	"maps"
	"path/filepath"
	"slices"
)

// readNeighbours returns the other files in the folder of the project: a part of a project uses
// the names and aliases of the whole, and patches change manifests of all files.
func (l *loader) readNeighbours(p *project, files []string) []string {
	if p == nil {
		return nil
	}
	l.neighbours = map[string]bool{}
	var neighbours []string
	for _, file := range l.files([]string{filepath.Dir(p.file)}) {
		if !slices.Contains(files, file) {
			l.neighbours[file] = true
			neighbours = append(neighbours, file)
		}
	}
	return neighbours
}

// leaveOutNeighbours removes the manifests and the issues of neighbours, once they have served.
func (l *loader) leaveOutNeighbours(ordered []*draft) []*draft {
	if len(l.neighbours) == 0 {
		return ordered
	}
	isNeighbour := func(d *draft) bool { return l.neighbours[d.file] }
	l.drafts = slices.DeleteFunc(l.drafts, isNeighbour)
	for name, drafts := range l.byName {
		l.byName[name] = slices.DeleteFunc(drafts, isNeighbour)
	}
	maps.DeleteFunc(l.byID, func(_ string, d *draft) bool { return isNeighbour(d) })
	l.issues = slices.DeleteFunc(l.issues, func(issue Issue) bool { return l.neighbours[issue.File] })
	l.found = slices.DeleteFunc(l.found, func(f Found) bool { return l.neighbours[f.Source.File] })
	return slices.DeleteFunc(ordered, isNeighbour)
}
