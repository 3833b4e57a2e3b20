package manifest

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/nearest"
	"github.com/armature-io/armature/internal/regular"
)

// readPatches finds the files of an environment's patches: patterns relative to the
// folder of the project.
func (p *project) readPatches(env *environment, list *node, path string) {
	if list == nil {
		return
	}
	if list.kind != kindList {
		p.at(list.position, path, "%s; write a list of files, like [overlays/prod/*.yaml]", list.found())
		return
	}
	folder := filepath.Dir(p.file)
	for i, item := range list.items {
		at := fmt.Sprintf("%s[%d]", path, i)
		if item.kind != kindText || !filepath.IsLocal(item.text) {
			p.at(item.position, at, "write a file or a pattern inside the folder of %s, like overlays/prod/*.yaml", ProjectFile)
			continue
		}
		files, err := filepath.Glob(filepath.Join(escapeGlob(folder), filepath.FromSlash(item.text)))
		switch {
		case err != nil:
			p.at(item.position, at, "%q is not a pattern; write one like overlays/prod/*.yaml", item.text)
		case len(files) == 0:
			p.at(item.position, at, "no file matches %q; correct the pattern, or remove it", item.text)
		}
		for _, file := range files {
			if inside, err := regular.IsWithin(folder, file); err != nil || !inside {
				p.at(item.position, at, "%s is a link out of the folder, which is not followed; copy the file into the folder", file)
				continue
			}
			if _, known := p.patchFiles[file]; !known {
				p.patchFiles[file] = env.name
			}
			if !slices.Contains(env.patches, file) {
				env.patches = append(env.patches, file)
			}
		}
	}
}

// escapeGlob returns a path that a pattern matches literally.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// applyPatches merges the patches of the chosen environment into the documents that they
// name.
func (r *renderer) applyPatches(documents []document) {
	if r.project == nil || r.project.chosen == nil {
		return
	}
	for _, file := range r.project.chosen.patches {
		data, ok := r.loader.content(file)
		if !ok {
			continue
		}
		for _, root := range r.loader.quietly(func() []*node { return r.loader.decode(file, data) }) {
			root.setFile(file)
			if patch := r.document(document{file: file, root: root}); patch != nil {
				r.applyPatch(file, patch, documents)
			}
		}
	}
}

// applyPatch merges one patch into the document that it names.
func (r *renderer) applyPatch(file string, patch *node, documents []document) {
	fault := func(at position, path, format string, args ...any) {
		r.loader.report(Issue{File: file, Line: at.line, Column: at.column, Path: path, Message: fmt.Sprintf(format, args...)})
	}
	name, typ := patch.get("name"), patch.get("type")
	switch {
	case patch.kind != kindObject:
		fault(patch.position, "", "a patch is a mapping with the name of a manifest and what changes in it; %s", patch.found())
		return
	case name == nil || name.kind != kindText:
		fault(patch.position, "name", "is missing; write the name or the alias of the manifest that the patch changes")
		return
	case typ != nil && typ.kind != kindText:
		fault(typ.position, "type", "%s; write the type of the manifest, or omit it", typ.found())
		return
	}
	var found []int
	var names []string
	for i, d := range documents {
		own, alias := d.root.textOf("name"), d.root.textOf("alias")
		names = append(names, own, alias)
		if (strings.EqualFold(own, name.text) || strings.EqualFold(alias, name.text)) && (typ == nil || sameType(d.root.textOf("type"), typ.text)) {
			found = append(found, i)
		}
	}
	switch {
	case len(found) == 0 && typ == nil:
		fault(name.position, "name", "no manifest is named %q%s; a patch changes one manifest", name.text, nearest.Suggest(name.text, names))
		return
	case len(found) == 0:
		fault(name.position, "name", "no manifest of type %s is named %q%s; a patch changes one manifest", typ.text, name.text, nearest.Suggest(name.text, names))
		return
	case len(found) > 1:
		var places []string
		for _, i := range found {
			places = append(places, Source{File: documents[i].file, Line: documents[i].root.line}.String())
		}
		fault(name.position, "name", "%q is the name of %d manifests (%s); add the type of one", name.text, len(found), strings.Join(places, ", "))
		return
	}
	changes := *patch
	changes.fields = slices.DeleteFunc(slices.Clone(patch.fields), func(f field) bool {
		return f.name == "name" || f.name == "type" && !strings.Contains(f.value.text, "@")
	})
	if len(changes.fields) == 0 {
		fault(patch.position, "", "changes nothing; write what differs, like body: {sku: {name: P1}}")
		return
	}
	target := &documents[found[0]]
	target.root = mergePatch(target.root, &changes, 0)
}

// sameType reports whether a stated type is the one of a patch, whose api-version is
// the one to set.
func sameType(stated, patch string) bool {
	stated, _, _ = strings.Cut(stated, "@")
	patch, _, _ = strings.Cut(patch, "@")
	return strings.EqualFold(stated, patch)
}

// mergePatch returns a value with a patch of RFC 7396: null removes a property, a
// mapping is merged, anything else replaces. A marker is one value. Names of properties
// below the body ignore case, as ARM does. Neither argument is changed.
func mergePatch(target, patch *node, depth int) *node {
	if patch.kind != kindObject || markerOf(patch) != "" {
		return patch
	}
	merged := &node{position: patch.position, kind: kindObject}
	if target != nil && target.kind == kindObject && markerOf(target) == "" {
		merged.position, merged.broken, merged.fields = target.position, target.broken, slices.Clone(target.fields)
	}
	for _, change := range patch.fields {
		i := slices.IndexFunc(merged.fields, func(f field) bool {
			return f.name == change.name || depth > 0 && strings.EqualFold(f.name, change.name)
		})
		switch {
		case change.value.kind == kindNull && i >= 0:
			merged.fields = slices.Delete(merged.fields, i, i+1)
		case change.value.kind == kindNull:
		case i >= 0:
			merged.fields[i] = field{name: merged.fields[i].name, position: change.position, value: mergePatch(merged.fields[i].value, change.value, depth+1)}
		default:
			merged.fields = append(merged.fields, field{name: change.name, position: change.position, value: mergePatch(nil, change.value, depth+1)})
		}
	}
	return merged
}
