package extensionhost

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"

	"github.com/armature-io/armature/extensions"
)

// LinkInfo is one link of the registry, or the facts of one entry, for logs.
type LinkInfo struct {
	Type string
	// Name is that of the rule or of the Go type, "" for facts without a link.
	Name string
	// Package is the import path of the link's type, "" for facts without a link.
	Package string
	// Points are the methods by which the link takes part, and the facts that the entry
	// states.
	Points []string
}

// List returns the links and facts in the order of the entries, with those of sources that
// can list them.
func (r *Registry) List() []LinkInfo {
	var list []LinkInfo
	for _, entry := range r.entries {
		if lister, ok := entry.Link.(LinkLister); ok {
			for _, listed := range lister.ListEntries() {
				info := infoOf(listed)
				info.Name = cmp.Or(info.Name, listed.Evidence)
				list = append(list, info)
			}
			continue
		}
		list = append(list, infoOf(entry))
	}
	return list
}

// Warnings returns what is probably a mistake in the entries, each with the entry. A type
// that is not published is none in an entry with Evidence.
func (r *Registry) Warnings() []string {
	var warnings []string
	for _, entry := range r.entries {
		if text := unknownType(entry.Type); text != "" && entry.Evidence == "" {
			warnings = append(warnings, titleOf(entry)+": "+text)
		}
		for _, text := range misspeltStates(entry) {
			warnings = append(warnings, titleOf(entry)+": "+text)
		}
		if entry.Link == nil {
			continue
		}
		issues, _ := linkIssues(entry.Link) // New has refused errors
		for _, text := range issues {
			warnings = append(warnings, titleOf(entry)+": "+text)
		}
	}
	return warnings
}

// titleOf returns an entry for messages.
func titleOf(e extensions.Entry) string {
	if e.Link == nil {
		return "facts of " + e.Type
	}
	if named, ok := e.Link.(extensions.Named); ok {
		return named.ExtensionName() + " for " + e.Type
	}
	return fmt.Sprintf("extension %s for %s", typeAndLine(e.Link), e.Type)
}

// infoOf describes an entry.
func infoOf(e extensions.Entry) LinkInfo {
	info := LinkInfo{Type: e.Type}
	if of := reflect.TypeOf(e.Link); of != nil {
		info.Name, info.Package = strings.TrimPrefix(nameOf(e.Link), "extension "), packageOf(e.Link)
		for _, point := range pointTypes() {
			if of.Implements(point) {
				info.Points = append(info.Points, point.method().Name)
			}
		}
	}
	info.Points = append(info.Points, factNames(e.Facts)...)
	return info
}
