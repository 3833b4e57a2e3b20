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

// number is the place in the file; -1 where the reference says none.
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
	// Elements are a map in an object with a discriminator, a list in a union.
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

// members are the properties of an object, in lower case.
func (n node) members() map[string]property {
	all := map[string]property{}
	for _, from := range []map[string]property{n.Base, n.Properties} {
		for name, p := range from {
			all[strings.ToLower(name)] = p
		}
	}
	return all
}

// file is one types.json, in which every reference leads somewhere.
type file []node

func (f file) at(r reference) node { return f[r.number()] }

// walk visits every property below a type, with its path in lower case and "[]"
// for the items of a list, as long as visit says so, a path has no more than
// deepest steps, and no type comes below itself.
func (f file) walk(at reference, deepest int, visit func(path []string, p property) (descend bool)) {
	f.below(at, nil, nil, deepest, visit)
}

func (f file) below(at reference, path []string, above []int, deepest int, visit func([]string, property) bool) {
	if slices.Contains(above, at.number()) || len(path) > deepest {
		return
	}
	above = append(slices.Clone(above), at.number())
	n := f.at(at)
	switch n.Kind {
	case "ResourceType":
		f.below(n.Body, path, above, deepest, visit)
	case "ArrayType":
		f.below(n.Item, append(slices.Clone(path), "[]"), above, deepest, visit)
	}
	for _, members := range []map[string]property{n.Properties, n.Base} {
		for name, member := range members {
			next := append(slices.Clone(path), strings.ToLower(name))
			if visit(next, member) {
				f.below(member.Type, next, above, deepest, visit)
			}
		}
	}
	for _, element := range n.Elements {
		f.below(element, path, above, deepest, visit)
	}
}

// faulty is a reference of the file that leads nowhere.
func (f file) faulty() (reference, bool) {
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

// descriptions are those of all resource types.
type descriptions struct {
	folder string
	// Resources are the types by name@version.
	Resources map[string]reference `json:"resources"`
}

func open(folder string) (descriptions, error) {
	d := descriptions{folder: folder}
	return d, read(filepath.Join(folder, "index.json"), &d)
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
	if err := read(filepath.Join(d.folder, path), &in); err != nil {
		return nil, err
	}
	if r, found := in.faulty(); found {
		return nil, fmt.Errorf("read %s: no type %q", path, r.Ref)
	}
	return in, nil
}

func read(path string, into any) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}
