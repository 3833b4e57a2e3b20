//go:build ignore

// Inline_children_gen writes inline_children.txt from the published descriptions
// of the resource types:
//
//	go run inline_children_gen.go FOLDER >inline_children.txt
//
// FOLDER is that of drift/writeonly_gen.go. A list in the body of a parent is
// taken when its items have a name of their own, the list and the item may be
// written, and a child type that may be written has the same shape: then the same
// thing can be made in two ways, and a PUT of the parent meets what the other way
// made.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	readOnlyProperty = 2
	readOnlyType     = 1
	// deepest bounds the search, in properties.
	deepest = 5
	// alike is the share of properties that two shapes have in common.
	alike = 0.8
)

// fromTheOtherSide is the one collection of ARM's common types whose items are
// made by another resource (a private endpoint) and never by a PUT of the parent,
// which leaves them alone whatever it lists.
const fromTheOtherSide = "privateendpointconnections"

type reference struct {
	Ref string `json:"$ref"`
}

type property struct {
	Type  reference `json:"type"`
	Flags int       `json:"flags"`
}

type node struct {
	Kind       string              `json:"$type"`
	Flags      int                 `json:"flags"`
	Body       reference           `json:"body"`
	Properties map[string]property `json:"properties"`
	Base       map[string]property `json:"baseProperties"`
	Item       reference           `json:"itemType"`
}

// file is one types.json.
type file []node

func (f file) at(r reference) (node, int) {
	_, number, _ := strings.Cut(r.Ref, "#/")
	i, err := strconv.Atoi(number)
	if err != nil || i >= len(f) {
		log.Fatalf("no type %q", r.Ref)
	}
	return f[i], i
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

// described is a resource type in its newest api-version, a stable one if any.
type described struct {
	name, version string
	file          file
	at            node
}

func (d described) lastSegment() string { return d.name[strings.LastIndex(d.name, "/")+1:] }

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: go run inline_children_gen.go FOLDER")
	}
	types := newest(os.Args[1])
	below := map[string][]described{}
	for key, d := range types {
		if i := strings.LastIndex(key, "/"); strings.Count(key, "/") > 1 && d.at.Flags&readOnlyType == 0 {
			below[key[:i]] = append(below[key[:i]], d)
		}
	}
	fmt.Println("# Lists in the body of a parent whose items are child resources too: parent, list, child types.")
	fmt.Println("# Made by inline_children_gen.go; docs/safety.md says from what.")
	for _, key := range slices.Sorted(maps.Keys(below)) {
		parent, ok := types[key]
		if !ok {
			continue
		}
		w := walker{parent: parent, children: below[key]}
		body, _ := parent.file.at(parent.at.Body)
		w.walk(body, nil, nil)
		slices.Sort(w.rows)
		for _, row := range w.rows {
			fmt.Println(row)
		}
	}
}

func newest(folder string) map[string]described {
	var index struct{ Resources map[string]reference }
	read(filepath.Join(folder, "index.json"), &index)
	files := map[string]file{}
	types := map[string]described{}
	for full, at := range index.Resources {
		name, version, _ := strings.Cut(full, "@")
		path, _, _ := strings.Cut(at.Ref, "#/")
		if known, ok := types[strings.ToLower(name)]; ok && !newer(version, known.version) {
			continue
		}
		if files[path] == nil {
			var read_ file
			read(filepath.Join(folder, path), &read_)
			files[path] = read_
		}
		n, _ := files[path].at(at)
		types[strings.ToLower(name)] = described{name, version, files[path], n}
	}
	return types
}

func newer(a, b string) bool {
	const stable = len("2006-01-02")
	if (len(a) == stable) != (len(b) == stable) {
		return len(a) == stable
	}
	return a > b
}

func read(path string, into any) {
	raw, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		log.Fatalf("read %s: %v", path, err)
	}
}

type walker struct {
	parent   described
	children []described
	rows     []string
}

func (w *walker) walk(n node, path []string, above []int) {
	if len(path) >= deepest {
		return
	}
	for _, members := range []map[string]property{n.Base, n.Properties} {
		for name, p := range members {
			if p.Flags&readOnlyProperty != 0 || strings.EqualFold(name, fromTheOtherSide) {
				continue
			}
			next, i := w.parent.file.at(p.Type)
			switch {
			case slices.Contains(above, i):
			case next.Kind == "ObjectType":
				w.walk(next, append(slices.Clone(path), name), append(slices.Clone(above), i))
			case next.Kind == "ArrayType":
				item, _ := w.parent.file.at(next.Item)
				if found := w.same(name, item); len(found) > 0 {
					w.rows = append(w.rows, strings.Join([]string{w.parent.name, strings.Join(append(slices.Clone(path), name), "."), strings.Join(found, ",")}, " "))
				}
			}
		}
	}
}

// same are the child types that an item of a list is, too.
func (w *walker) same(list string, item node) []string {
	members := item.members()
	name, named := members["name"]
	if !named || name.Flags&readOnlyProperty != 0 {
		return nil
	}
	shape := members
	if p, nested := members["properties"]; nested {
		inner, _ := w.parent.file.at(p.Type)
		shape = inner.members()
	}
	var found []string
	for _, child := range w.children {
		body, _ := child.file.at(child.at.Body)
		p, ok := body.members()["properties"]
		if !ok {
			continue
		}
		inner, _ := child.file.at(p.Type)
		if common(shape, inner.members(), strings.EqualFold(list, child.lastSegment())) {
			found = append(found, child.lastSegment())
		}
	}
	slices.Sort(found)
	return found
}

// common compares two shapes. Of the same name, all that the item has is in the
// child; of another, both ways, and enough to be no accident.
func common(item, child map[string]property, sameName bool) bool {
	both, all := 0, len(child)
	for name := range item {
		switch _, found := child[name]; {
		case found:
			both++
		case !slices.Contains([]string{"id", "name", "type", "etag"}, name):
			all++
		}
	}
	if sameName {
		return both > 0 && float64(both) >= alike*float64(len(item))
	}
	return both >= 3 && float64(both) >= alike*float64(all)
}
