package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	classifier "github.com/google/licenseclassifier/v2"
	"github.com/google/licenseclassifier/v2/assets"
)

// allowedLicenses are the licenses, by SPDX ID, of modules that may be linked into a
// program of a release, each with the reason. The decision record 0025 has the policy.
var allowedLicenses = map[string]string{
	"0BSD":             "permissive, without a condition",
	"Apache-2.0":       "permissive; license and NOTICE go with the program",
	"BSD-2-Clause":     "permissive; the text goes with the program",
	"BSD-3-Clause":     "permissive; the text goes with the program",
	"ISC":              "permissive; the text goes with the program",
	"MIT":              "permissive; the text goes with the program",
	"MPL-2.0":          "copyleft by file: the files are linked unchanged, and their source is public",
	"Unicode-DFS-2016": "permissive, for tables of Unicode; the text goes with the program",
}

// licensesOfOthers are license files, by module and path, of what stands in a folder of a
// linked package and is not linked itself.
var licensesOfOthers = map[string]string{
	standardLibrary + " src/crypto/internal/boring/LICENSE": "object files of BoringCrypto, linked with GOEXPERIMENT=boringcrypto alone",
}

// acceptedWithoutLicense are versions of modules, each with the reason, that are linked
// although they have no license file. A next version is checked again.
var acceptedWithoutLicense = map[string]string{
	"github.com/nexus-rpc/nexus-proto-annotations v0.1.0": "options of protobuf, which go.temporal.io/api (MIT) requires; ask the publisher for a license file",
}

// maxUnknownLines is the number of lines of a license file that no known license
// covers: titles, names and rulers. A file with more has text that a person must read.
const maxUnknownLines = 15

// licenseText is a file of a module that has its license, or a notice that goes with it.
type licenseText struct {
	// Name is the path below the module's folder.
	Name string

	Text []byte

	// Notice marks a file that has to be passed on and is no license.
	Notice bool
}

var (
	licenseName = regexp.MustCompile(`(?i)^(un)?licen[cs]e([.-].*)?$|^copying([.-].*)?$`)
	noticeName  = regexp.MustCompile(`(?i)^(notice|patents)([.-].*)?$`)
)

// licenseTexts returns the license files of a module: those of its own folder and of
// every folder on the way to a linked package, sorted by name.
func licenseTexts(m linkedModule) ([]licenseText, error) {
	folders := map[string]bool{m.Dir: true}
	for _, folder := range m.Packages {
		for strings.HasPrefix(folder, m.Dir+string(filepath.Separator)) {
			folders[folder] = true
			folder = filepath.Dir(folder)
		}
	}
	var texts []licenseText
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return nil, fmt.Errorf("read the folder of %s: %w", m.Path, err)
		}
		for _, entry := range entries {
			notice := noticeName.MatchString(entry.Name())
			if !entry.Type().IsRegular() || filepath.Ext(entry.Name()) == ".go" || !notice && !licenseName.MatchString(entry.Name()) {
				continue
			}
			file := filepath.Join(folder, entry.Name())
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, fmt.Errorf("read a license of %s: %w", m.Path, err)
			}
			name, err := filepath.Rel(m.Dir, file)
			if err != nil {
				return nil, err
			}
			if licensesOfOthers[m.Path+" "+filepath.ToSlash(name)] != "" {
				continue
			}
			texts = append(texts, licenseText{Name: filepath.ToSlash(name), Text: text, Notice: notice})
		}
	}
	return texts, nil
}

// licenseReader recognises licenses by their text.
type licenseReader struct{ known *classifier.Classifier }

func newLicenseReader() (*licenseReader, error) {
	known, err := assets.DefaultClassifier()
	if err != nil {
		return nil, fmt.Errorf("load the known licenses: %w", err)
	}
	return &licenseReader{known: known}, nil
}

// spdxNames are the SPDX IDs of licenses that the classifier names otherwise.
var spdxNames = map[string]string{"BSD-0-Clause": "0BSD"}

// identify returns the SPDX IDs of the licenses in a text, sorted, and the number of
// lines that are neither part of one nor a line with a copyright.
func (r *licenseReader) identify(text []byte) (ids []string, unknown int) {
	lines := strings.Split(string(text), "\n")
	covered := make([]bool, len(lines)+1)
	found := map[string]bool{}
	for _, match := range r.known.Match(text).Matches {
		if match.MatchType != "Copyright" {
			found[cmp.Or(spdxNames[match.Name], match.Name)] = true
		}
		for line := match.StartLine; line <= match.EndLine && line <= len(lines); line++ {
			covered[line] = true
		}
	}
	for i, line := range lines {
		if !covered[i+1] && strings.ContainsFunc(line, isLetter) {
			unknown++
		}
	}
	return slices.Sorted(maps.Keys(found)), unknown
}

func isLetter(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }

// licenses returns the SPDX IDs of a module's licenses. The error names every reason
// for which the module may not be linked.
func (r *licenseReader) licenses(m linkedModule) ([]string, error) {
	texts, err := licenseTexts(m)
	if err != nil {
		return nil, err
	}
	all := map[string]bool{}
	var problems []error
	for _, text := range texts {
		if text.Notice {
			continue
		}
		ids, unknown := r.identify(text.Text)
		if len(ids) == 0 {
			problems = append(problems, fmt.Errorf("%s is no license that the check recognises", text.Name))
		} else if unknown > maxUnknownLines {
			problems = append(problems, fmt.Errorf("%s has %d lines that belong to no license that the check recognises", text.Name, unknown))
		}
		for _, id := range ids {
			all[id] = true
			if allowedLicenses[id] == "" {
				problems = append(problems, fmt.Errorf("%s has the license %s, which is not allowed", text.Name, id))
			}
		}
	}
	if len(all) == 0 && len(problems) == 0 && acceptedWithoutLicense[m.Path+" "+m.Version] == "" {
		problems = append(problems, errors.New("it has no license file"))
	}
	return slices.Sorted(maps.Keys(all)), errors.Join(problems...)
}

// checkLicenses writes one line for each license, with the number of its modules. The
// error names each module that may not be linked.
func checkLicenses(w io.Writer, r *licenseReader, modules []linkedModule) error {
	count := map[string]int{}
	var problems []error
	for _, m := range modules {
		ids, err := r.licenses(m)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s %s: %w", m.Path, m.Version, err))
		}
		for _, id := range ids {
			count[id]++
		}
		if reason := acceptedWithoutLicense[m.Path+" "+m.Version]; reason != "" {
			fmt.Fprintf(w, "accepted without a license file: %s %s: %s\n", m.Path, m.Version, reason)
		}
	}
	names := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
	fmt.Fprintf(w, "%d linked modules and npm packages\n", len(modules))
	for _, id := range names {
		fmt.Fprintf(w, "  %-18s %d\n", id, count[id])
	}
	if len(problems) > 0 {
		return fmt.Errorf("licenses of linked modules: %w\nread the license; then remove the module, or add the license to allowedLicenses in dev/release/licenses.go with its reason",
			errors.Join(problems...))
	}
	return nil
}

// writeNotices writes the licenses and notices of all modules, which have to go with
// the programs.
func writeNotices(w io.Writer, modules []linkedModule) error {
	const ruler = "================================================================================"
	for _, m := range modules {
		texts, err := licenseTexts(m)
		if err != nil {
			return err
		}
		for _, text := range texts {
			if _, err := fmt.Fprintf(w, "%s\n%s %s: %s\n%s\n\n%s\n\n", ruler, m.Path, m.Version, text.Name, ruler, strings.TrimSpace(string(text.Text))); err != nil {
				return err
			}
		}
	}
	return nil
}
