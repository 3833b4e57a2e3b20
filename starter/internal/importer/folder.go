package importer

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/convert"
)

// Manifests returns the manifests of what was read, sorted by ID. Its error is why they have
// IDs in place of names.
func Manifests(found []activities.ImportResourceResult, how Reconcile) ([]convert.Manifest, error) {
	read := make([]convert.Observed, len(found))
	for i, result := range found {
		o := convert.Observed{ID: result.ID, APIVersion: result.APIVersion, OwnerAPIVersion: result.OwnerAPIVersion, Body: result.Body}
		for _, path := range result.Secrets {
			o.Comments = append(o.Comments, "Secret omitted: "+path+"; set it with {$secret: env:NAME}.")
		}
		for _, path := range result.Unshown {
			o.Comments = append(o.Comments, "Not shown by Azure: "+path+"; state it if the resource is to be created from this manifest.")
		}
		for _, owned := range result.Owned {
			o.Comments = append(o.Comments, "Not stated: "+owned+".")
		}
		for _, unread := range result.Unread {
			o.Comments = append(o.Comments, "Not read: "+unread+".")
		}
		read[i] = o
	}
	return convert.FromObserved(convert.Options{Adopt: how.Adopt, Policy: how.Policy, Credential: how.Credential}, read)
}

// Folder is where manifests are written.
type Folder struct {
	Path string
	// Overwrite replaces files whose resource differs in Azure now.
	Overwrite bool
	// Note prints a sentence.
	Note func(format string, args ...any)

	// existing are the manifests in the folder, by the key of their ID.
	existing map[string]existingManifest
	used     map[string]bool
}

// existingManifest is an existing manifest.
type existingManifest struct {
	file string
	// alone is set where the file has no other manifest.
	alone bool
	spec  resource.Desired
}

// Write writes one file for each manifest, unless the folder has the resource already: a
// file that states the same stays, and one that states something else is replaced only with
// Overwrite. It follows no link. done is called with each new or replaced file.
func (f Folder) Write(manifests []convert.Manifest, done func(name, path string)) ([]Outcome, error) {
	f.used = map[string]bool{}
	f.read()
	now, err := loadSpecs(strings.NewReader(manifestStream(manifests)))
	if err != nil {
		f.Note("the manifests do not load together; a plan names what to change: %s", cli.OneLine(err.Error()))
	}
	err = nil
	var outcomes []Outcome
	for _, m := range manifests {
		outcome := Outcome{ID: m.ID, Type: m.ID.Type(), Status: Imported}
		at, exists := f.existing[m.ID.Key()]
		switch {
		case m.Err != nil:
			continue
		case !exists:
			if outcome.File = f.newFile(m.ID); isThere(outcome.File) {
				outcome.Status, outcome.Why = Differs, outcome.File+" exists and is not a manifest of it; it was kept"
			} else {
				err = convert.WriteNew(f.Path, outcome.File, m.Text)
			}
		case sameSpec(at.spec, now[m.ID.Key()]):
			outcome.Status, outcome.File = Unchanged, at.file
		case f.Overwrite && at.alone:
			outcome.File = at.file
			if err = os.Remove(at.file); err == nil {
				err = convert.WriteNew(f.Path, at.file, m.Text)
			}
		default:
			outcome.Status, outcome.File, outcome.Why = Differs, at.file, at.file+" states something else; it was kept"
		}
		if err != nil {
			return nil, err
		}
		if outcome.Status == Imported {
			done(cli.KindAndName(m.ID), outcome.File)
		}
		outcomes = append(outcomes, outcome)
	}
	return outcomes, nil
}

// isThere reports whether a path exists, also as a link to nothing.
func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// WriteOrPrint writes into the folder as Write does, or prints all manifests where the folder
// is "-".
func (f Folder) WriteOrPrint(manifests []convert.Manifest, printed func(text string), done func(name, path string)) ([]Outcome, error) {
	var outcomes []Outcome
	for _, m := range manifests {
		outcome := Outcome{ID: m.ID, Type: m.ID.Type(), Status: Imported}
		if m.Err != nil {
			outcome.Status, outcome.Why = NotRead, cli.OneLine(m.Err.Error())
		}
		if m.Err != nil || f.Path == "-" {
			outcomes = append(outcomes, outcome)
		}
	}
	if f.Path == "-" {
		printed(manifestStream(manifests))
		return outcomes, nil
	}
	written, err := f.Write(manifests, done)
	return append(outcomes, written...), err
}

// Conclude prints the closing table and writes the report, "" for none. Its error is that
// something is not in the manifests although Azure has it.
func Conclude(outcomes []Outcome, report string, note func(format string, args ...any)) error {
	SortOutcomes(outcomes)
	for _, line := range Table(outcomes) {
		note("%s", line)
	}
	note("%s", Summary(outcomes))
	if report != "" {
		if err := writeReport(report, outcomes); err != nil {
			return err
		}
	}
	missing, differ := 0, 0
	for _, o := range outcomes {
		switch o.Status {
		case NotRead:
			missing++
		case Differs:
			differ++
		}
	}
	switch {
	case missing > 0:
		return cli.Failed("%s could not be imported, see above", cli.Count(missing, "resource or list"))
	case differ > 0:
		return cli.Failed("%s from Azure; existing files are not overwritten, except with --overwrite", cli.CountOf(differ, "file differs", "files differ"))
	}
	return nil
}

// manifestStream returns the manifests as one text.
func manifestStream(manifests []convert.Manifest) string {
	var texts []string
	for _, m := range manifests {
		if m.Err == nil {
			texts = append(texts, m.Text)
		}
	}
	return strings.Join(texts, "---\n")
}

// loadSpecs returns the specs of a text, by the key of their ID.
func loadSpecs(text *strings.Reader) (map[string]resource.Desired, error) {
	specs := map[string]resource.Desired{}
	if text.Len() == 0 {
		return specs, nil
	}
	set, err := manifest.Load(manifest.Options{Stdin: text}, "-")
	for _, spec := range set.Resources {
		specs[spec.ID.Key()] = spec
	}
	return specs, err
}

// read reads the manifests that the folder has.
func (f *Folder) read() {
	f.existing = map[string]existingManifest{}
	info, err := os.Stat(f.Path)
	if err != nil || !info.IsDir() {
		return
	}
	set, err := manifest.Load(manifest.Options{}, f.Path)
	if err != nil {
		if issues, ok := errors.AsType[manifest.Issues](err); ok && len(issues) > 0 {
			f.Note("the manifests in %s do not load, so that the import does not know which resources they have: %s", f.Path, cli.OneLine(issues[0].String()))
		}
		return
	}
	counts := map[string]int{}
	for _, source := range set.Sources {
		counts[source.File]++
	}
	for _, spec := range set.Resources {
		file := set.Sources[spec.ID.Key()].File
		f.existing[spec.ID.Key()] = existingManifest{file: file, alone: counts[file] == 1, spec: spec}
	}
}

// newFile returns a path that no file has: kind and name, and where another resource has that
// file, a part of the hash of the ID. So it stays the same in the next import.
func (f *Folder) newFile(id resource.ID) string {
	name := convert.FileName(id)
	path := filepath.Join(f.Path, name+".yaml")
	if f.used[path] || f.has(path) {
		sum := sha256.Sum256([]byte(id.Key()))
		path = filepath.Join(f.Path, name+"-"+hex.EncodeToString(sum[:4])+".yaml")
	}
	f.used[path] = true
	return path
}

// has reports whether a file has another resource of the folder.
func (f *Folder) has(path string) bool {
	for _, at := range f.existing {
		if filepath.Clean(at.file) == filepath.Clean(path) {
			return true
		}
	}
	return false
}

// sameSpec reports whether two manifests of a resource state the same of it in Azure.
// Labels, policies and other settings of Armature are the user's.
func sameSpec(a, b resource.Desired) bool {
	return strings.EqualFold(a.APIVersion, b.APIVersion) && bytes.Equal(canonical(a.Body), canonical(b.Body))
}

// canonical returns JSON with its members in order.
func canonical(raw json.RawMessage) []byte {
	body, err := resource.DecodeBody(raw)
	if err != nil {
		return raw
	}
	text, err := json.Marshal(body)
	if err != nil {
		return raw
	}
	return text
}

// writeReport writes every outcome as JSON into a new file.
func writeReport(path string, outcomes []Outcome) error {
	text, err := json.MarshalIndent(outcomes, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the report: %w", err)
	}
	return convert.WriteNew(filepath.Dir(path), path, string(text)+"\n")
}
