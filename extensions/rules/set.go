package rules

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/regular"
)

// Set is the rules of a file or a folder. It is safe for concurrent use: a step
// of a pass uses the rules with which it began, and the next step sees a reload.
type Set struct {
	path    string
	current atomic.Pointer[snapshot]
	// failed is the error of the last reload, nil if it succeeded.
	failed atomic.Pointer[error]
}

// snapshot is one state of the files.
type snapshot struct {
	byType map[string][]any
	facts  map[string]extensions.Facts
	// rules are in the order of the files, and entries are theirs.
	rules   []*rule
	entries []extensions.Entry
	count   int
	digest  [sha256.Size]byte
	// fingerprint is the result of Set.Fingerprint.
	fingerprint string
}

// Load reads a rule file, or every *.yaml and *.yml of a folder in the order of
// their names. The error is of type Issues and has all of them. Warnings do not
// prevent loading.
func Load(path string) (*Set, Issues, error) {
	set := &Set{path: path}
	made, warnings, err := set.read()
	if err != nil {
		return nil, warnings, err
	}
	set.current.Store(made)
	return set, warnings, nil
}

// Entry returns a registry entry for the rules. Its position among the entries is
// the position of the rules in their chains.
func (s *Set) Entry() extensions.Entry {
	return extensions.Entry{Type: extensions.AllTypes, Link: s}
}

// Links implements extensionhost.LinkSource.
func (s *Set) Links(resourceType string) []any {
	return s.current.Load().byType[strings.ToLower(resourceType)]
}

// Facts implements extensionhost.FactSource.
func (s *Set) Facts(resourceType string) extensions.Facts {
	return s.current.Load().facts[strings.ToLower(resourceType)]
}

// Len returns the number of rules.
func (s *Set) Len() int { return s.current.Load().count }

// Fingerprint implements extensionhost.Fingerprinter: a hash of the rules in their order. Names
// of files, comments, quotes and tests do not count.
func (s *Set) Fingerprint() string { return s.current.Load().fingerprint }

// Reload reads the files again and reports whether the rules changed. If the files
// are invalid, it returns the issues and keeps the rules.
func (s *Set) Reload() (changed bool, warnings Issues, err error) {
	made, warnings, err := s.read()
	if err != nil {
		s.failed.Store(&err)
		return false, warnings, err
	}
	s.failed.Store(nil)
	if made.digest == s.current.Load().digest {
		return false, nil, nil
	}
	s.current.Store(made)
	return true, warnings, nil
}

// Watch reloads the files every interval until ctx is done and logs changes. It
// logs the same error once only. It calls changed after the rules changed.
func (s *Set) Watch(ctx context.Context, interval time.Duration, log *slog.Logger, changed func()) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	lastError := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		lastError = s.reloadAndLog(ctx, log, lastError, changed)
	}
}

// reloadAndLog reloads once and returns the text of the error, "" for none.
func (s *Set) reloadAndLog(ctx context.Context, log *slog.Logger, lastError string, changed func()) string {
	replaced, warnings, err := s.Reload()
	switch {
	case err != nil && err.Error() != lastError:
		log.ErrorContext(ctx, "rules not reloaded, keeping the old ones", "path", s.path, "rules", s.Len(), "issues", err.Error())
		return err.Error()
	case err != nil:
		return lastError
	case replaced:
		Warn(ctx, log, warnings)
		log.InfoContext(ctx, "rules reloaded", "path", s.path, "rules", s.Len())
		changed()
	case lastError != "":
		log.InfoContext(ctx, "rules are valid again and unchanged", "path", s.path, "rules", s.Len())
	}
	return ""
}

// Warn logs warnings.
func Warn(ctx context.Context, log *slog.Logger, warnings Issues) {
	for _, warning := range warnings {
		log.WarnContext(ctx, warning.String())
	}
}

// read returns the compiled rules of all files.
func (s *Set) read() (*snapshot, Issues, error) {
	files, digest, err := readFiles(s.path)
	if err != nil {
		return nil, nil, err
	}
	rules, warnings, issues := compileFiles(files)
	if len(issues) > 0 {
		return nil, warnings, issues.sorted()
	}
	return newSnapshot(files, rules, digest), warnings, nil
}

func newSnapshot(files []*file, rules []*rule, digest [sha256.Size]byte) *snapshot {
	read := &snapshot{
		byType: map[string][]any{}, facts: map[string]extensions.Facts{}, rules: rules, count: len(rules), digest: digest, fingerprint: fingerprint(files),
	}
	for _, r := range rules {
		key := strings.ToLower(r.resourceType)
		if link := r.link(); link != nil {
			read.byType[key] = append(read.byType[key], link)
			read.entries = append(read.entries, extensions.Entry{Type: r.resourceType, Link: link})
		} else {
			read.facts[key] = read.facts[key].With(r.facts)
			read.entries = append(read.entries, extensions.Entry{Type: r.resourceType, Facts: r.facts, Evidence: r.ExtensionName()})
		}
	}
	for key, links := range read.byType {
		read.byType[key] = inFileOrder(links)
	}
	return read
}

// inFileOrder returns the links of a type in the order of a chain that lets the first rule of
// the file decide. Rules with onlyBeforePut decide after the rest of the chain, so that the
// innermost decides first; the others decide before them, also for a resource in sync.
func inFileOrder(links []any) []any {
	var before, after []any
	for _, link := range links {
		if r, pre := link.(preRule); pre && r.onlyBeforePut {
			after = slices.Insert(after, 0, link)
		} else {
			before = append(before, link)
		}
	}
	return append(before, after...)
}

// compileFiles compiles the rules of all files. Their names must be unique.
func compileFiles(files []*file) (rules []*rule, warnings, issues Issues) {
	names, shares := map[string]*rule{}, map[string]*requestShares{}
	for _, f := range files {
		for _, s := range f.rules {
			name := s.fields["name"]
			if first, twice := names[name.text]; twice && name.node != nil {
				f.report(name.node, "rule %s is defined twice, first in %s:%d", name.text, first.file, first.line)
			}
			made := f.compileRule(s)
			if made == nil {
				made = &rule{file: f.name, line: s.node.Line}
			} else {
				rules = append(rules, made)
				key := strings.ToLower(made.resourceType)
				if shares[key] == nil {
					shares[key] = &requestShares{left: maxPassRequests, granted: map[string]int{}}
				}
				shares[key].grant(f, made)
			}
			if _, twice := names[name.text]; !twice {
				names[name.text] = made
			}
		}
	}
	if len(names) == 0 && !slices.ContainsFunc(files, func(f *file) bool { return len(f.issues) > 0 }) {
		files[0].issues = append(files[0].issues, Issue{File: files[0].name, Message: "there are tests and no rules; read the rules with them"})
	}
	for _, f := range files {
		f.checkTests(names)
		warnings, issues = append(warnings, f.warnings...), append(issues, f.issues...)
	}
	return rules, warnings, issues
}

// Source is the text of a rule file.
type Source struct {
	Name string `json:"name"`
	Text []byte `json:"text"`
}

// Read returns the rule files of a path, which is one file or a folder.
func Read(path string) ([]Source, error) {
	names := []string{path}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read rules: %w", err)
	}
	if info.IsDir() {
		if names, err = ruleFiles(path); err != nil {
			return nil, fmt.Errorf("read rules: %w", err)
		}
		if len(names) == 0 {
			return nil, fmt.Errorf("read rules: %s has no *.yaml or *.yml file", path)
		}
	}
	var sources []Source
	for _, name := range names {
		text, err := regular.Read(name, maxFileBytes)
		if err != nil {
			return nil, fmt.Errorf("read rules: %s: %w", name, err)
		}
		sources = append(sources, Source{name, text})
	}
	return sources, nil
}

// Parse compiles rule files. The error is of type Issues and has all of them. The set never
// changes.
func Parse(sources []Source) (*Set, Issues, error) {
	files, digest := parseAll(sources)
	rules, warnings, issues := compileFiles(files)
	if len(issues) > 0 {
		return nil, warnings, issues.sorted()
	}
	set := &Set{}
	set.current.Store(newSnapshot(files, rules, digest))
	return set, warnings, nil
}

// parseAll returns the parsed files, and a digest of their contents.
func parseAll(sources []Source) ([]*file, [sha256.Size]byte) {
	sum := sha256.New()
	var files []*file
	for _, source := range sources {
		fmt.Fprintf(sum, "%s %d\n", source.Name, len(source.Text))
		sum.Write(source.Text)
		files = append(files, parse(source.Name, source.Text))
	}
	return files, [sha256.Size]byte(sum.Sum(nil))
}

// readFiles returns the parsed rule files of a path, and a digest of their contents.
func readFiles(path string) ([]*file, [sha256.Size]byte, error) {
	sources, err := Read(path)
	if err != nil {
		return nil, [sha256.Size]byte{}, err
	}
	files, digest := parseAll(sources)
	return files, digest, nil
}

// ruleFiles returns the rule files of a folder, without its subfolders: a mounted
// ConfigMap keeps its previous version in one.
func ruleFiles(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		extension := filepath.Ext(entry.Name())
		if !entry.IsDir() && (extension == ".yaml" || extension == ".yml") {
			names = append(names, filepath.Join(folder, entry.Name()))
		}
	}
	return names, nil // os.ReadDir sorts
}
