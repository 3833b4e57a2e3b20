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
)

// nearest says which known name may have been meant: a near one, one that has the
// same last word, or where they are listed.
func nearest(name string, known []string) string {
	stem := strings.TrimPrefix(name, envPrefix)
	last := name[strings.LastIndexAny(name, "._")+1:]
	best, least := "", max(len(stem)/3, 1)+1
	for _, candidate := range known {
		d := distance(stem, strings.TrimPrefix(candidate, envPrefix))
		if best == "" && strings.HasSuffix(candidate, last) && d >= least {
			best = candidate
		}
		if d < least {
			best, least = candidate, d
		}
	}
	if best == "" {
		return "; `worker --help` lists what is known"
	}
	return " (is " + best + " meant?)"
}

// distance is the number of letters to insert, delete or replace between two
// names.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
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
