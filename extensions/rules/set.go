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
	"sort"
	"strings"
	"sync/atomic"
	"time"

	"github.com/armature-io/armature/extensions"
)

// Set is the rules of a file or a folder. It is safe for concurrent use: a step
// of a pass holds the rules that it began with, and a reload is seen by the next
// step.
type Set struct {
	path    string
	now     func() time.Time
	current atomic.Pointer[compiled]
}

// compiled is one state of the files.
type compiled struct {
	byType map[string][]any
	count  int
	digest [sha256.Size]byte
}

// Load reads a rule file, or every *.yaml and *.yml of a folder in the order of
// their names. The error is Faults: all faults of all files. Warnings are told
// and refuse nothing.
func Load(path string) (*Set, Faults, error) {
	set := &Set{path: path, now: time.Now}
	made, warnings, err := set.read()
	if err != nil {
		return nil, warnings, err
	}
	set.current.Store(made)
	return set, warnings, nil
}

// Entry puts the rules into a registry, where it stands in the list.
func (s *Set) Entry() extensions.Entry {
	return extensions.Entry{Type: extensions.AllTypes, Link: s}
}

// Links implements extensions.LinkSource.
func (s *Set) Links(resourceType string) []any {
	return s.current.Load().byType[strings.ToLower(resourceType)]
}

// Len is how many rules there are.
func (s *Set) Len() int { return s.current.Load().count }

// Reload reads the files again. With a fault in them the rules stay as they are
// and the error tells the faults; changed says whether the rules are new.
func (s *Set) Reload() (changed bool, warnings Faults, err error) {
	made, warnings, err := s.read()
	if err != nil {
		return false, warnings, err
	}
	if made.digest == s.current.Load().digest {
		return false, nil, nil
	}
	s.current.Store(made)
	return true, warnings, nil
}

// Watch reloads every interval until ctx is done, and says in the log what came
// of it: the same fault once, not at every look.
func (s *Set) Watch(ctx context.Context, interval time.Duration, log *slog.Logger) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	said := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		said = s.look(ctx, log, said)
	}
}

// look is one reload of Watch.
func (s *Set) look(ctx context.Context, log *slog.Logger, said string) string {
	changed, warnings, err := s.Reload()
	switch {
	case err != nil && err.Error() != said:
		log.ErrorContext(ctx, "rules not reloaded: the old ones stay in force", "path", s.path, "rules", s.Len(), "faults", err.Error())
		return err.Error()
	case err != nil:
		return said
	case changed:
		Warn(ctx, log, warnings)
		log.InfoContext(ctx, "rules reloaded", "path", s.path, "rules", s.Len())
	case said != "":
		log.InfoContext(ctx, "rules are without faults again, and as they were", "path", s.path, "rules", s.Len())
	}
	return ""
}

// Warn logs warnings.
func Warn(ctx context.Context, log *slog.Logger, warnings Faults) {
	for _, warning := range warnings {
		log.WarnContext(ctx, warning.String())
	}
}

// read reads and compiles all files.
func (s *Set) read() (*compiled, Faults, error) {
	files, digest, err := readFiles(s.path)
	if err != nil {
		return nil, nil, err
	}
	rules, warnings, faults := compileFiles(files)
	if len(faults) > 0 {
		return nil, warnings, faults.sorted()
	}
	made := &compiled{byType: map[string][]any{}, count: len(rules), digest: digest}
	for _, r := range rules {
		key := strings.ToLower(r.resourceType)
		made.byType[key] = append(made.byType[key], r.link(s.now))
	}
	return made, warnings, nil
}

// compileFiles compiles the rules of all files; a name may stand once.
func compileFiles(files []*file) (rules []*rule, warnings, faults Faults) {
	names := map[string]*rule{}
	for _, f := range files {
		for _, s := range f.rules {
			name := s.fields["name"]
			if first, twice := names[name.text]; twice && name.node != nil {
				f.fault(name.node, "the rule %s stands twice: first in %s:%d", name.text, first.file, first.line)
			}
			made := f.compileRule(s)
			if made == nil {
				made = &rule{file: f.name, line: s.node.Line}
			} else {
				rules = append(rules, made)
			}
			if _, twice := names[name.text]; !twice {
				names[name.text] = made
			}
		}
	}
	for _, f := range files {
		for _, test := range f.tests {
			if names[test.Rule] == nil {
				f.fault(test.node, "the test %q is for a rule %q that does not exist", test.Name, test.Rule)
			}
		}
		warnings, faults = append(warnings, f.warnings...), append(faults, f.faults...)
	}
	return rules, warnings, faults
}

// readFiles reads a file or the rule files of a folder, and what stands for
// their contents.
func readFiles(path string) ([]*file, [sha256.Size]byte, error) {
	var none [sha256.Size]byte
	names := []string{path}
	info, err := os.Stat(path)
	if err != nil {
		return nil, none, fmt.Errorf("read rules: %w", err)
	}
	if info.IsDir() {
		if names, err = ruleFiles(path); err != nil {
			return nil, none, fmt.Errorf("read rules: %w", err)
		}
		if len(names) == 0 {
			return nil, none, fmt.Errorf("read rules: %s holds no *.yaml", path)
		}
	}
	sum := sha256.New()
	var files []*file
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, none, fmt.Errorf("read rules: %w", err)
		}
		fmt.Fprintf(sum, "%s %d\n", name, len(data))
		sum.Write(data)
		files = append(files, parse(name, data))
	}
	return files, [sha256.Size]byte(sum.Sum(nil)), nil
}

// ruleFiles are the rule files of a folder, not those of folders in it: a
// mounted ConfigMap has its older self in one.
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
	sort.Strings(names)
	return names, nil
}
