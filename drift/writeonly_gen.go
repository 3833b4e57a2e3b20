//go:build ignore

// Writeonly_gen writes writeonly.txt from the published descriptions of the
// resource types:
//
//	go run writeonly_gen.go FOLDER >writeonly.txt
//
// FOLDER holds index.json and the types.json files that it names, as the project
// bicep-types-az (MIT) generates them from the REST API specifications. A property
// that any api-version marks as write-only is taken.
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

// The flags of a property in types.json.
const (
	readOnly  = 2
	writeOnly = 4
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

// added are write-only by the specifications, which say so by two models of the
// body (ServerForCreate and Server) instead of a mark.
var added = map[string][]string{
	"microsoft.dbformariadb/servers":    {"properties.createmode"},
	"microsoft.dbformysql/servers":      {"properties.createmode"},
	"microsoft.dbforpostgresql/servers": {"properties.createmode"},
}

type walker struct {
	types []node
	found map[string]bool
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: go run writeonly_gen.go FOLDER")
	}
	var index struct{ Resources map[string]reference }
	read(filepath.Join(os.Args[1], "index.json"), &index)
	byFile := map[string][]string{}
	for name, at := range index.Resources {
		file, _, _ := strings.Cut(at.Ref, "#/")
		byFile[file] = append(byFile[file], name)
	}
	table := map[string]map[string]bool{}
	for file, names := range byFile {
		var types []node
		read(filepath.Join(os.Args[1], file), &types)
		for _, name := range names {
			resourceType, _, _ := strings.Cut(strings.ToLower(name), "@")
			if table[resourceType] == nil {
				table[resourceType] = map[string]bool{}
			}
			(&walker{types, table[resourceType]}).walk(index.Resources[name], nil, map[string]bool{})
		}
	}
	for resourceType, paths := range added {
		for _, path := range paths {
			table[resourceType][path] = true
		}
	}
	fmt.Println("# Write-only properties by resource type; docs/drift.md says where they come from.")
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

// outermost are the paths in order, without those below another one.
func outermost(paths map[string]bool) []string {
	var kept []string
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		below := slices.ContainsFunc(kept, func(other string) bool { return strings.HasPrefix(path, other+".") })
		if !below && !strings.Contains(path, " ") && path != "id" && path != "name" && path != "type" {
			kept = append(kept, path)
		}
	}
	return kept
}

func (w *walker) walk(at reference, path []string, above map[string]bool) {
	if above[at.Ref] || len(path) > 24 {
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
			next := append(slices.Clone(path), strings.ToLower(name))
			if member.Flags&writeOnly != 0 {
				w.found[strings.Join(next, ".")] = true
			}
			if member.Flags&readOnly == 0 {
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
