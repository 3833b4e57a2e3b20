package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Flags of a property, and of a resource type.
const (
	readOnly     = 2
	writeOnly    = 4
	readOnlyType = 1
)

// reference names a type: "#/12" in its own file, "some/types.json#/12" in the
// index.
type reference struct {
	Ref string `json:"$ref"`
}

func (r reference) file() string {
	file, _, _ := strings.Cut(r.Ref, "#/")
	return file
}

// number returns the index in the file; -1 if the reference has none.
func (r reference) number() int {
	_, text, _ := strings.Cut(r.Ref, "#/")
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	return -1
}

type property struct {
	Type  reference `json:"type"`
	Flags int       `json:"flags"`
}

// node is one type.
type node struct {
	Kind       string              `json:"$type"`
	Flags      int                 `json:"flags"`
	Body       reference           `json:"body"`
	Properties map[string]property `json:"properties"`
	Base       map[string]property `json:"baseProperties"`
	// Elements is a map in an object with a discriminator, and a list in a union.
	Elements elements  `json:"elements"`
	Item     reference `json:"itemType"`
}

type elements []reference

func (e *elements) UnmarshalJSON(raw []byte) error {
	var list []reference
	if json.Unmarshal(raw, &list) != nil {
		var named map[string]reference
		if err := json.Unmarshal(raw, &named); err != nil {
			return fmt.Errorf("read elements: %w", err)
		}
		list = slices.Collect(maps.Values(named))
	}
	*e = list
	return nil
}

// members returns the properties of an object by their names in lower case.
func (n node) members() map[string]property {
	all := map[string]property{}
	for _, from := range []map[string]property{n.Base, n.Properties} {
		for name, p := range from {
			all[strings.ToLower(name)] = p
		}
	}
	return all
}

// file is one types.json; all its references resolve.
type file []node

func (f file) at(r reference) node { return f[r.number()] }

// walk visits every property below a type, with its path in lower case and "[]" for the
// items of a list. It descends as long as visit returns true and the path has at most
// maxSteps steps, and never into a type below itself.
func (f file) walk(at reference, maxSteps int, visit func(path []string, p property) (descend bool)) {
	f.walkBelow(at, nil, nil, maxSteps, visit)
}

func (f file) walkBelow(at reference, path []string, ancestors []int, maxSteps int, visit func([]string, property) bool) {
	if slices.Contains(ancestors, at.number()) || len(path) > maxSteps {
		return
	}
	ancestors = append(slices.Clone(ancestors), at.number())
	n := f.at(at)
	switch n.Kind {
	case "ResourceType":
		f.walkBelow(n.Body, path, ancestors, maxSteps, visit)
	case "ArrayType":
		f.walkBelow(n.Item, append(slices.Clone(path), "[]"), ancestors, maxSteps, visit)
	}
	for _, members := range []map[string]property{n.Properties, n.Base} {
		for name, member := range members {
			next := append(slices.Clone(path), strings.ToLower(name))
			if visit(next, member) {
				f.walkBelow(member.Type, next, ancestors, maxSteps, visit)
			}
		}
	}
	for _, element := range n.Elements {
		f.walkBelow(element, path, ancestors, maxSteps, visit)
	}
}

// brokenReference returns a reference that does not resolve; false if there is none.
func (f file) brokenReference() (reference, bool) {
	for _, n := range f {
		all := slices.Clone(n.Elements)
		switch n.Kind {
		case "ResourceType":
			all = append(all, n.Body)
		case "ArrayType":
			all = append(all, n.Item)
		}
		for _, p := range n.members() {
			all = append(all, p.Type)
		}
		for _, r := range all {
			if r.number() < 0 || r.number() >= len(f) {
				return r, true
			}
		}
	}
	return reference{}, false
}

// descriptions are the published descriptions of all resource types.
type descriptions struct {
	folder string
	// Resources are the types by name@version.
	Resources map[string]reference `json:"resources"`
}

func openDescriptions(folder string) (descriptions, error) {
	d := descriptions{folder: folder}
	return d, readJSON(filepath.Join(folder, "index.json"), &d)
}

// each visits the resource types, file by file.
func (d descriptions) each(visit func(name, version string, in file, at reference)) error {
	byFile := map[string][]string{}
	for name, at := range d.Resources {
		byFile[at.file()] = append(byFile[at.file()], name)
	}
	for _, path := range slices.Sorted(maps.Keys(byFile)) {
		in, err := d.load(path)
		if err != nil {
			return err
		}
		for _, full := range slices.Sorted(slices.Values(byFile[path])) {
			name, version, _ := strings.Cut(full, "@")
			if at := d.Resources[full]; at.number() < 0 || at.number() >= len(in) {
				return fmt.Errorf("read index: no type %q", at.Ref)
			}
			visit(name, version, in, d.Resources[full])
		}
	}
	return nil
}

func (d descriptions) load(path string) (file, error) {
	var in file
	if err := readJSON(filepath.Join(d.folder, path), &in); err != nil {
		return nil, err
	}
	if r, found := in.brokenReference(); found {
		return nil, fmt.Errorf("read %s: no type %q", path, r.Ref)
	}
	return in, nil
}

func readJSON(path string, into any) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}
