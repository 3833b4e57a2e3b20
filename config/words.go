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

// suggest returns " (did you mean X?)" for a known name that is close or has the
// same last word, else where the known names are listed.
func suggest(name string, known []string) string {
	stems := make([]string, len(known))
	for i, candidate := range known {
		stems[i] = strings.TrimPrefix(candidate, envPrefix)
	}
	last := name[strings.LastIndexAny(name, "._")+1:]
	i := slices.Index(stems, nearest.Match(strings.TrimPrefix(name, envPrefix), stems))
	if i < 0 {
		i = slices.IndexFunc(known, func(candidate string) bool { return strings.HasSuffix(candidate, last) })
	}
	if i < 0 {
		return "; see `worker --help` for the known names"
	}
	return " (did you mean " + known[i] + "?)"
}

// fileFault is an error of a config file with what to do about it.
func fileFault(path string, err error) error {
	info, statErr := os.Stat(path)
	text := strings.TrimPrefix(err.Error(), "While parsing config: ")
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission):
		text = fmt.Sprintf("%v; check the path and its rights", errors.Unwrap(err))
	case statErr == nil && info.IsDir():
		text = "it is a folder; name a file in it"
	case !slices.Contains([]string{".yaml", ".yml", ".toml", ".json"}, filepath.Ext(path)):
		text = "its name must end with .yaml, .yml, .toml or .json, which says how to read it"
	default:
		text = strings.Join(strings.Fields(text), " ") + "; check this line and those before it (YAML is indented with blanks)"
	}
	return fmt.Errorf("read config file %s: %s", path, text)
}

// words name what a file holds where a text is due.
func words(kind reflect.Kind) string {
	switch kind {
	case reflect.Slice:
		return "a list"
	case reflect.Map:
		return "a section"
	case reflect.Bool:
		return "true or false"
	}
	return "a number"
}

// quotes is what to do about it.
func quotes(kind reflect.Kind) string {
	if kind == reflect.Slice || kind == reflect.Map {
		return "write one value"
	}
	return "put it in quotes"
}

// valueFault is one key in the decoder's error, and what is wrong with it.
var valueFault = regexp.MustCompile(`^\s*(?:error decoding )?'([^']+)':? (.*)$`)

// decodeFaults turns the decoder's error into one a key, in our words.
func decodeFaults(err error) []error {
	var faults []error
	for _, line := range strings.Split(err.Error(), "\n") {
		parts := valueFault.FindStringSubmatch(line)
		if parts == nil {
			continue
		}
		name, why := strings.ToLower(parts[1]), parts[2]
		switch {
		case strings.Contains(why, "'bool'"):
			why = "want true or false"
		case strings.Contains(why, "'int'"):
			why = "want a whole number"
		}
		faults = append(faults, fmt.Errorf("%s: %s", name, why))
	}
	if len(faults) == 0 {
		return []error{err}
	}
	return faults
}
