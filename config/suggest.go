package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/nearest"
)

// suggest returns " (did you mean X?)" for the closest known name, else where the known
// names are listed.
func suggest(name string, known []string) string {
	if match := closest(name, known); match != "" {
		return " (did you mean " + match + "?)"
	}
	return "; see `worker --help` for the known names"
}

// closest returns the known name that is close to name or has the same last word, or
// "". The prefix of variables does not count.
func closest(name string, known []string) string {
	stems := make([]string, len(known))
	for i, candidate := range known {
		stems[i] = strings.TrimPrefix(candidate, envPrefix)
	}
	i := slices.Index(stems, nearest.Match(strings.TrimPrefix(name, envPrefix), stems))
	if i < 0 {
		last := name[strings.LastIndexAny(name, "._")+1:]
		i = slices.IndexFunc(known, func(candidate string) bool { return strings.HasSuffix(candidate, last) })
	}
	if i < 0 {
		return ""
	}
	return known[i]
}

// fileError returns an error of a config file with its remedy.
func fileError(path string, err error) error {
	info, statErr := os.Stat(path)
	text := strings.TrimPrefix(err.Error(), "While parsing config: ")
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission):
		text = fmt.Sprintf("%v; check the path and its permissions", errors.Unwrap(err))
	case statErr == nil && info.IsDir():
		text = "it is a folder; use a file in it"
	case !slices.Contains([]string{".yaml", ".yml", ".toml", ".json"}, filepath.Ext(path)):
		text = "its name must end with .yaml, .yml, .toml or .json"
	default:
		text = strings.Join(strings.Fields(text), " ") + "; check this line and the ones before it (YAML is indented with spaces)"
	}
	return fmt.Errorf("read config file %s: %s", path, text)
}

// textRemedy returns how to change a value of another kind to text.
func textRemedy(kind reflect.Kind) string {
	switch kind {
	case reflect.Slice:
		return "not a list; write one value"
	case reflect.Map:
		return "not a section; write one value"
	case reflect.Bool:
		return "not true or false; put it in quotes"
	}
	return "not a number; put it in quotes"
}

// decodeErrorPattern matches a key in the decoder's error, and the problem with it.
var decodeErrorPattern = regexp.MustCompile(`^\s*(?:error decoding )?'([^']+)':? (.*)$`)

// decodeProblems splits the decoder's error into one problem per key, in this
// package's texts.
func decodeProblems(err error) problems {
	var found problems
	for _, line := range strings.Split(err.Error(), "\n") {
		parts := decodeErrorPattern.FindStringSubmatch(line)
		if parts == nil {
			continue
		}
		// The decoder writes map keys in brackets: credentials[name].kind.
		key, reason := strings.NewReplacer("[", ".", "]", "").Replace(strings.ToLower(parts[1])), parts[2]
		switch {
		case strings.Contains(reason, "'bool'"):
			reason = "must be true or false"
		case strings.Contains(reason, "'int'"):
			reason = "must be a whole number"
		case strings.Contains(reason, "'float64'"):
			reason = "must be a number"
		}
		found.add(key, "%s", reason)
	}
	if len(found) == 0 {
		found = problems{{err: err}}
	}
	return found
}
