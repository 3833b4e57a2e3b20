// Package author helps to write manifests from the published types: pages about types and
// properties (explain), lists and completions of types, skeletons of manifests (new), and
// JSON Schemas and settings of editors (init). It reads published types and the
// manifests of a folder, and needs neither Temporal nor a worker.
package author

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/nearest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// Query is what a user asks for: TYPE[@VERSION][.path].
type Query struct {
	Type string
	// Version is the stated api-version, "" for the newest one.
	Version string
	Path    resource.Path
}

// ErrUnknown is the class of errors about names that are not published.
var ErrUnknown = errors.New("not published")

// unknownError is an ErrUnknown with its own text.
type unknownError struct{ text string }

func (e unknownError) Error() string        { return e.text }
func (e unknownError) Is(target error) bool { return target == ErrUnknown }

func unknown(format string, args ...any) error {
	return unknownError{fmt.Sprintf(format, args...)}
}

// ParseQuery reads TYPE[@VERSION][.path]. Names of types contain dots, so the type is the
// longest published one that the text starts with; the path begins behind it. A path is
// written like properties.routes[].name; [kind=X] selects a form of a mapping that has
// several.
func ParseQuery(text string) (Query, error) {
	name, rest := splitType(text)
	if name == "" {
		return Query{}, fmt.Errorf("the type is empty; write it like Microsoft.Storage/storageAccounts")
	}
	spelled, found := types.Spelled(name)
	if !found {
		return Query{}, unknown("%s is not a published type%s", name, didYouMean(name))
	}
	q := Query{Type: spelled}
	if stated, versioned := strings.CutPrefix(rest, "@"); versioned {
		q.Version, rest = splitVersion(spelled, stated)
		if !slices.Contains(types.Versions(spelled), q.Version) {
			return Query{}, unknownVersion(spelled, q.Version)
		}
	}
	rest = strings.TrimPrefix(rest, ".")
	if rest == "" {
		return q, nil
	}
	path, err := resource.ParsePath(strings.ReplaceAll(rest, "[]", "[*]"))
	if err != nil {
		return Query{}, fmt.Errorf("%w; write it like properties.routes[].name", err)
	}
	q.Path = path
	return q, nil
}

// splitType returns the type at the start of a text and what follows it.
func splitType(text string) (name, rest string) {
	for i := len(text); i > 0; i-- {
		if i < len(text) && !strings.ContainsRune(".@[", rune(text[i])) {
			continue
		}
		if _, found := types.Spelled(text[:i]); found {
			return text[:i], text[i:]
		}
	}
	if i := strings.IndexByte(text, '@'); i >= 0 {
		return text[:i], text[i:]
	}
	last := strings.LastIndexByte(text, '/') + 1
	if last == 0 {
		return text, ""
	}
	if i := strings.IndexAny(text[last:], ".["); i >= 0 {
		return text[:last+i], text[last+i:]
	}
	return text, ""
}

// versionForm is the form of an api-version at the start of a text.
var versionForm = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}(-[A-Za-z0-9]+)*`)

// splitVersion returns the api-version at the start of a text, as published if it is,
// and what follows it.
func splitVersion(name, text string) (version, rest string) {
	best := ""
	for _, v := range types.Versions(name) {
		if len(v) > len(best) && len(text) >= len(v) && strings.EqualFold(text[:len(v)], v) && (len(text) == len(v) || strings.ContainsRune(".[", rune(text[len(v)]))) {
			best = v
		}
	}
	if best != "" {
		return best, text[len(best):]
	}
	if form := versionForm.FindString(text); form != "" {
		return form, text[len(form):]
	}
	if i := strings.IndexAny(text, ".["); i >= 0 {
		return text[:i], text[i:]
	}
	return text, ""
}

// unknownVersion returns the error of an api-version that is not published, with the
// nearest one.
func unknownVersion(name, version string) error {
	if version == "" {
		return fmt.Errorf("the api-version behind @ is empty; write %s@%s, or leave out the @", name, types.Newest(name))
	}
	versions := types.Versions(name)
	near := nearest.Match(version, versions)
	if near == "" {
		near = types.Lookup(name, version).Version
	}
	newest := types.Newest(name)
	if near == newest {
		return unknown("%s has no api-version %s; the nearest is %s, the newest one; `armature explain %s --versions` lists all", name, version, near, name)
	}
	return unknown("%s has no api-version %s; the nearest is %s, the newest is %s; `armature explain %s --versions` lists all", name, version, near, newest, name)
}

// maxSuggestions is the number of types that an error suggests.
const maxSuggestions = 3

// didYouMean returns the likely types of an unknown name as the end of a sentence.
func didYouMean(name string) string {
	if found := Suggestions(name); len(found) > 0 {
		return fmt.Sprintf(" (did you mean %s?)", strings.Join(found, " or "))
	}
	return "; `armature types " + name[strings.LastIndexByte(name, '/')+1:] + "` searches by a part of the name"
}

// Suggestions returns the published types that an unknown name may stand for: the
// nearest spelling, else types of the same last segment, of the same provider
// first.
func Suggestions(name string) []string {
	if near := types.Nearest(name); near != "" {
		return []string{near}
	}
	provider, _, nested := strings.Cut(name, "/")
	last := name[strings.LastIndexByte(name, '/')+1:]
	if !nested {
		provider = ""
	}
	var same, other []string
	segments := map[string]bool{}
	for _, known := range types.Names(false) {
		segment := known[strings.LastIndexByte(known, '/')+1:]
		segments[segment] = true
		switch {
		case !strings.EqualFold(segment, last):
		case provider != "" && strings.HasPrefix(strings.ToLower(known), strings.ToLower(provider)+"/"):
			same = append(same, known)
		default:
			other = append(other, known)
		}
	}
	shortest := func(a, b string) int {
		return cmp.Or(cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/")), cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	}
	slices.SortFunc(same, shortest)
	slices.SortFunc(other, shortest)
	if found := append(same, other...); len(found) > 0 {
		return found[:min(len(found), maxSuggestions)]
	}
	if near := nearest.Match(last, sortedKeys(segments)); near != "" && !strings.EqualFold(near, last) {
		return Suggestions(near)
	}
	return nil
}

func sortedKeys(set map[string]bool) []string {
	names := make([]string, 0, len(set))
	for name := range set {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
