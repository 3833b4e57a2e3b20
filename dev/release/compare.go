package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// sumsName is the file with the SHA-256 of all other files, as sha256sum writes it.
const sumsName = "SHA256SUMS"

// fileSums returns the SHA-256 in hexadecimal of all files of a folder but sumsName,
// by name. A release has no folders inside.
func fileSums(folder string) (map[string]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	sums := map[string]string{}
	for _, entry := range entries {
		if entry.Name() == sumsName {
			continue
		}
		if !entry.Type().IsRegular() {
			return nil, fmt.Errorf("%s is not a file", filepath.Join(folder, entry.Name()))
		}
		sum, err := fileSum(filepath.Join(folder, entry.Name()))
		if err != nil {
			return nil, err
		}
		sums[entry.Name()] = sum
	}
	return sums, nil
}

func fileSum(name string) (string, error) {
	file, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// writeSums writes sumsName into the folder.
func writeSums(folder string) error {
	sums, err := fileSums(folder)
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, name := range sortedNames(sums) {
		fmt.Fprintf(&text, "%s  %s\n", sums[name], name)
	}
	return os.WriteFile(filepath.Join(folder, sumsName), []byte(text.String()), 0o644) //nolint:gosec // it is published
}

// compareFolders compares two builds of a release: the same files with the same bytes.
// The error names each file that differs.
func compareFolders(w io.Writer, first, second string) error {
	one, err := fileSums(first)
	if err != nil {
		return err
	}
	two, err := fileSums(second)
	if err != nil {
		return err
	}
	var problems []error
	for _, name := range sortedNames(one, two) {
		switch a, b := one[name], two[name]; {
		case a == "" || b == "":
			problems = append(problems, fmt.Errorf("%s is in one build only", name))
		case a != b:
			problems = append(problems, fmt.Errorf("%s differs: %s and %s", name, a, b))
		default:
			fmt.Fprintf(w, "%s  %s\n", a, name)
		}
	}
	if len(one) == 0 {
		problems = append(problems, errors.New("there are no files"))
	}
	if len(problems) > 0 {
		return fmt.Errorf("the builds are not the same: %w", errors.Join(problems...))
	}
	fmt.Fprintf(w, "%d files are the same in both builds\n", len(one))
	return nil
}

// sortedNames returns the keys of all maps, sorted, each once.
func sortedNames(all ...map[string]string) []string {
	var names []string
	for _, m := range all {
		for name := range m {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
