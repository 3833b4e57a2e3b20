package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

const (
	// readDeepest bounds the table of read-only properties, in steps: what stands
	// deeper are copies of other resources.
	readDeepest = 5
	// writeDeepest is beyond what any type has that does not come below itself.
	writeDeepest = 24
)

// mark is what the newest api-version that has a path says of it.
type mark struct {
	version  string
	writable bool
}

// writeReadOnly writes the paths that the newest api-version which has them marks
// as read-only.
func writeReadOnly(from descriptions, out io.Writer) error {
	marks := map[string]map[string]mark{}
	err := from.each(func(name, version string, in file, at reference) {
		name = strings.ToLower(name)
		if marks[name] == nil {
			marks[name] = map[string]mark{}
		}
		in.walk(at, readDeepest, func(path []string, p property) bool {
			key, frozen := strings.Join(path, "."), p.Flags&readOnly != 0
			switch known := marks[name][key]; {
			case version > known.version:
				marks[name][key] = mark{version, !frozen}
			case version == known.version:
				marks[name][key] = mark{version, known.writable || !frozen}
			}
			return !frozen
		})
	})
	if err != nil {
		return err
	}
	table := map[string][]string{}
	for name, paths := range marks {
		for path, m := range paths {
			if !m.writable && !ofAllTypes(path) {
				table[name] = append(table[name], path)
			}
		}
	}
	return writeTable(out, "# Read-only properties by resource type; docs/drift.md says where they come from.", table)
}

// ofAllTypes is what the contract of all types says of their own properties.
func ofAllTypes(path string) bool {
	switch path {
	case "id", "name", "type", "apiversion", "systemdata", "etag":
		return true
	}
	return strings.HasSuffix(path, ".provisioningstate")
}

// added are write-only by the specifications, which say so by two models of the
// body (ServerForCreate and Server) instead of a mark.
var added = map[string][]string{
	"microsoft.dbformariadb/servers":    {"properties.createmode"},
	"microsoft.dbformysql/servers":      {"properties.createmode"},
	"microsoft.dbforpostgresql/servers": {"properties.createmode"},
}

// writeWriteOnly writes the paths that any api-version marks as write-only.
func writeWriteOnly(from descriptions, out io.Writer) error {
	found := map[string]map[string]bool{}
	err := from.each(func(name, _ string, in file, at reference) {
		name = strings.ToLower(name)
		if found[name] == nil {
			found[name] = map[string]bool{}
			for _, path := range added[name] {
				found[name][path] = true
			}
		}
		in.walk(at, writeDeepest, func(path []string, p property) bool {
			if p.Flags&writeOnly != 0 {
				found[name][strings.Join(path, ".")] = true
			}
			return p.Flags&readOnly == 0
		})
	})
	if err != nil {
		return err
	}
	table := map[string][]string{}
	for name, paths := range found {
		for path := range paths {
			if path != "id" && path != "name" && path != "type" {
				table[name] = append(table[name], path)
			}
		}
	}
	return writeTable(out, "# Write-only properties by resource type; docs/drift.md says where they come from.", table)
}

// writeTable writes a row for each type, of its outermost paths.
func writeTable(out io.Writer, title string, table map[string][]string) error {
	if _, err := fmt.Fprintln(out, title); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		paths := slices.DeleteFunc(table[name], func(path string) bool { return strings.Contains(path, " ") })
		if slices.Sort(paths); len(paths) == 0 {
			continue
		}
		if _, err := fmt.Fprintln(out, name, strings.Join(outermost(paths), " ")); err != nil {
			return err
		}
	}
	return nil
}
