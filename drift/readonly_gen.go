//go:build ignore

// Readonly_gen writes readonly.txt from the published descriptions of the
// resource types:
//
//	go run readonly_gen.go FOLDER >readonly.txt
//
// FOLDER is that of writeonly_gen.go. A path is taken when the newest api-version
// that has it marks it as read-only.
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
	readOnly = 2
	// deepest bounds the table: what stands deeper are copies of other resources.
	deepest = 5
)

type reference struct {
	Ref string `json:"$ref"`
}

type property struct {
	Type  reference `json:"type"`
	Flags int       `json:"flags"`
}

type node struct {
	Kind       string              `json:"$type"`
	Body       reference           `json:"body"`
	Properties map[string]property `json:"properties"`
	Base       map[string]property `json:"baseProperties"`
	// Elements are a map in an object with a discriminator, a list in a union.
	Elements json.RawMessage `json:"elements"`
	Item     reference       `json:"itemType"`
}

// mark is what the newest api-version that has a path says of it.
type mark struct {
	version  string
	writable bool
}

type walker struct {
	types   []node
	version string
	// marks are those of each path of the type.
	marks map[string]mark
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: go run readonly_gen.go FOLDER")
	}
	var index struct{ Resources map[string]reference }
	read(filepath.Join(os.Args[1], "index.json"), &index)
	byFile := map[string][]string{}
	for name, at := range index.Resources {
		file, _, _ := strings.Cut(at.Ref, "#/")
		byFile[file] = append(byFile[file], name)
	}
	table := map[string]map[string]mark{}
	for file, resources := range byFile {
		var types []node
		read(filepath.Join(os.Args[1], file), &types)
		for _, name := range resources {
			resourceType, version, _ := strings.Cut(strings.ToLower(name), "@")
			if table[resourceType] == nil {
				table[resourceType] = map[string]mark{}
			}
			(&walker{types, version, table[resourceType]}).walk(index.Resources[name], nil, map[string]bool{})
		}
	}
	fmt.Println("# Read-only properties by resource type; docs/drift.md says where they come from.")
	for _, resourceType := range slices.Sorted(maps.Keys(table)) {
		if paths := outermost(table[resourceType]); len(paths) > 0 {
			fmt.Println(resourceType, strings.Join(paths, " "))
		}
	}
}

func read(file string, into any) {
	raw, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		log.Fatalf("read %s: %v", file, err)
	}
}

// outermost are the read-only paths in order, without those below another one
// and without what the contract of all types says.
func outermost(marks map[string]mark) []string {
	var kept []string
	for _, path := range slices.Sorted(maps.Keys(marks)) {
		below := slices.ContainsFunc(kept, func(other string) bool { return strings.HasPrefix(path, other+".") })
		switch {
		case marks[path].writable, below, strings.Contains(path, " "):
		case path == "id", path == "name", path == "type", path == "apiversion", path == "systemdata", path == "etag":
		case strings.HasSuffix(path, ".provisioningstate"):
		default:
			kept = append(kept, path)
		}
	}
	return kept
}

func (w *walker) walk(at reference, path []string, above map[string]bool) {
	if above[at.Ref] || len(path) > deepest {
		return
	}
	above = maps.Clone(above)
	above[at.Ref] = true
	_, number, _ := strings.Cut(at.Ref, "#/")
	i, err := strconv.Atoi(number)
	if err != nil || i >= len(w.types) {
		log.Fatalf("no type %q", at.Ref)
	}
	t := w.types[i]
	switch t.Kind {
	case "ResourceType":
		w.walk(t.Body, path, above)
	case "ArrayType":
		w.walk(t.Item, append(slices.Clone(path), "[]"), above)
	}
	for _, members := range []map[string]property{t.Properties, t.Base} {
		for name, member := range members {
			name = strings.ToLower(name)
			next := append(slices.Clone(path), name)
			frozen := member.Flags&readOnly != 0
			key := strings.Join(next, ".")
			switch known := w.marks[key]; {
			case w.version > known.version:
				w.marks[key] = mark{w.version, !frozen}
			case w.version == known.version:
				w.marks[key] = mark{w.version, known.writable || !frozen}
			}
			if !frozen {
				w.walk(member.Type, next, above)
			}
		}
	}
	for _, element := range elements(t.Elements) {
		w.walk(element, path, above)
	}
}

func elements(raw json.RawMessage) []reference {
	var list []reference
	if len(raw) == 0 || json.Unmarshal(raw, &list) == nil {
		return list
	}
	var named map[string]reference
	if err := json.Unmarshal(raw, &named); err != nil {
		log.Fatalf("read elements: %v", err)
	}
	return slices.Collect(maps.Values(named))
}
