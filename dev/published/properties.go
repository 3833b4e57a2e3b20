package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

const (
	// maxReadOnlySteps bounds the paths in the table of read-only properties; deeper
	// properties belong to copies of other resources.
	maxReadOnlySteps = 5
	// maxWriteOnlySteps exceeds the depth of every type that does not contain itself.
	maxWriteOnlySteps = 24
)

// mark is the marking of a path in the newest api-version that has it.
type mark struct {
	version  string
	writable bool
}

// writeReadOnly writes the paths that are read-only in the newest api-version that has
// them.
func writeReadOnly(from descriptions, out io.Writer) error {
	marks := map[string]map[string]mark{}
	err := from.each(func(name, version string, in file, at reference) {
		name = strings.ToLower(name)
		if marks[name] == nil {
			marks[name] = map[string]mark{}
		}
		in.walk(at, maxReadOnlySteps, func(path []string, p property) bool {
			key, isReadOnly := strings.Join(path, "."), p.Flags&readOnly != 0
			switch known := marks[name][key]; {
			case version > known.version:
				marks[name][key] = mark{version, !isReadOnly}
			case version == known.version:
				marks[name][key] = mark{version, known.writable || !isReadOnly}
			}
			return !isReadOnly
		})
	})
	if err != nil {
		return err
	}
	table := map[string][]string{}
	for name, paths := range marks {
		for path, m := range paths {
			if !m.writable && !isCommon(path) {
				table[name] = append(table[name], path)
			}
		}
	}
	return writeTable(out, "# Read-only properties by resource type; docs/drift.md says where they come from.", table)
}

// isCommon reports whether the contract of all types defines the property.
func isCommon(path string) bool {
	switch path {
	case "id", "name", "type", "apiversion", "systemdata", "etag":
		return true
	}
	return strings.HasSuffix(path, ".provisioningstate")
}

// extraWriteOnly are properties that the specifications make write-only by two models
// of the body (ServerForCreate and Server) instead of a mark.
var extraWriteOnly = map[string][]string{
	"microsoft.dbformariadb/servers":    {"properties.createmode"},
	"microsoft.dbformysql/servers":      {"properties.createmode"},
	"microsoft.dbforpostgresql/servers": {"properties.createmode"},
}

// writeWriteOnly writes the paths that are write-only in any api-version.
func writeWriteOnly(from descriptions, out io.Writer) error {
	found := map[string]map[string]bool{}
	err := from.each(func(name, _ string, in file, at reference) {
		name = strings.ToLower(name)
		if found[name] == nil {
			found[name] = map[string]bool{}
			for _, path := range extraWriteOnly[name] {
				found[name][path] = true
			}
		}
		in.walk(at, maxWriteOnlySteps, func(path []string, p property) bool {
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

// writeTable writes a row for each type, with its outermost paths.
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
