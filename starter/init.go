package starter

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/armature-io/armature/extensions/rules"
	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/starter/internal/author"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/spf13/cobra"
)

func (a *app) initCommand() *cobra.Command {
	var how initOptions
	c := &cobra.Command{
		Use:   "init [FOLDER]",
		Short: "Set up editors for a folder of manifests",
		Long: `init makes editors check and complete the manifests of a folder (default: the current
one). It writes the JSON Schema .armature/schema.json, maps it to the manifests in
.vscode/settings.json, and adds a comment with the schema to the YAML manifests that
have none, for other editors with the YAML language server. Other
settings stay as they are; settings with comments are not changed, and init prints
what to add. Repeat init after manifests use new types or api-versions.

Rule files get a schema of their own, .armature/rules.schema.json, with the paths of the
types that the rules name.

The schema is draft-07: the fields of manifests, and the bodies of the types and
api-versions that the folder uses. --all-types takes the newest api-version of every type
instead, without descriptions: 5 MB, which editors read slowly. --print writes the schema
to standard output and no file.`,
		Example: "  armature init my-stack --dry-run\n  armature init my-stack\n  armature init --print --all-types > manifests.schema.json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			folder := "."
			if len(args) > 0 {
				folder = args[0]
			}
			if how.print {
				return a.printSchema(folder, how)
			}
			return a.initFolder(folder, how)
		},
	}
	c.Flags().BoolVar(&how.dryRun, "dry-run", false, "list what would be written, and write nothing")
	c.Flags().BoolVar(&how.print, "print", false, "print the schema, and write nothing")
	c.Flags().BoolVar(&how.allTypes, "all-types", false, "the newest api-version of every type, without descriptions")
	return c
}

// initOptions are the flags of init.
type initOptions struct{ dryRun, print, allTypes bool }

// schema returns the schema of manifests that were read.
func (how initOptions) schema(documents []manifest.Document) (text []byte, types int, err error) {
	uses := author.UsesOf(documents)
	if how.allTypes {
		uses = author.AllUses()
	}
	text, err = author.WriteSchema(uses, !how.allTypes)
	return text, len(uses), err
}

// printSchema prints the schema of a folder.
func (a *app) printSchema(folder string, how initOptions) error {
	var documents []manifest.Document
	var err error
	if !how.allTypes {
		if documents, err = manifest.Documents(folder); err != nil {
			return cli.BadInput("%w", err)
		}
	}
	text, _, err := how.schema(documents)
	if err != nil {
		return err
	}
	a.printf("%s", cli.EscapeJSON(text))
	return nil
}

// initFolder writes the files for editors.
func (a *app) initFolder(folder string, how initOptions) error {
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return cli.BadInput("init needs a folder, and %s is none; name the folder of the manifests", folder)
	}
	documents, err := manifest.Documents(folder)
	if err != nil {
		return cli.BadInput("%w; `armature new TYPE > FILE.yaml` writes a manifest", err)
	}
	text, types, err := how.schema(documents)
	if err != nil {
		return cli.Failed("%w", err)
	}
	documents, err = relative(documents, folder)
	if err != nil {
		return cli.Failed("%w", err)
	}
	ruleFiles, err := rulesBelow(folder)
	if err != nil {
		return cli.Failed("%w", err)
	}
	hasManifests := slices.ContainsFunc(documents, func(d manifest.Document) bool { return d.Type != "" })
	if len(documents) == 0 && len(ruleFiles) == 0 {
		return cli.BadInput("%s contains no *.yaml, *.yml or *.json file; `armature new TYPE > FILE.yaml` writes a manifest", folder)
	}
	if !hasManifests && len(ruleFiles) == 0 {
		return cli.Failed("there is no manifest in %s; write one with `armature new TYPE > FILE.yaml`, then run init again", folder)
	}
	// A link in the folder must not lead to a file elsewhere.
	root, err := os.OpenRoot(folder)
	if err != nil {
		return cli.Failed("open %s: %w", folder, err)
	}
	defer root.Close()
	w := &folderSetup{root: root, dryRun: how.dryRun}
	var mappings []author.Mapping
	if hasManifests {
		w.write(author.File, text, cli.Count(types, "type"))
		mappings = append(mappings, author.Mapping{Schema: author.File, Globs: author.Globs(documents)})
	}
	if len(ruleFiles) > 0 {
		mapping, err := w.rules(ruleFiles)
		if err != nil {
			return cli.Failed("%w", err)
		}
		mappings = append(mappings, mapping)
	}
	w.settings(mappings)
	w.modelines(documents)
	a.printf("%s", columns(w.rows))
	a.printf("%s", w.advice)
	if w.err != nil {
		return cli.Failed("%w", w.err)
	}
	if how.dryRun {
		a.note("dry run: nothing was written")
	}
	return nil
}

// rulesBelow returns the rule files of a folder and its subfolders, without hidden ones. Their
// names are relative to the folder, with slashes.
func rulesBelow(folder string) ([]rules.Source, error) {
	var found []rules.Source
	err := filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path != folder && strings.HasPrefix(entry.Name(), "."):
			if entry.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case entry.IsDir() || !author.IsYAML(entry.Name()) || !entry.Type().IsRegular():
			return nil
		}
		sources, err := rules.Read(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err == nil && author.HasRules(sources[0].Text) {
			found = append(found, rules.Source{Name: filepath.ToSlash(name), Text: sources[0].Text})
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find rule files: %w", err)
	}
	return found, nil
}

// relative returns documents with the paths of their files below the folder, with
// slashes.
func relative(documents []manifest.Document, folder string) ([]manifest.Document, error) {
	documents = slices.Clone(documents)
	for i, d := range documents {
		path, err := filepath.Rel(folder, d.File)
		if err != nil {
			return nil, fmt.Errorf("find %s below %s: %w", d.File, folder, err)
		}
		documents[i].File = filepath.ToSlash(path)
	}
	return documents, nil
}

// unchanged is what happens to a file that is right already.
const unchanged = "unchanged"

// settingsText describes the change of the settings.
const settingsText = "maps the schema to the manifests"

// folderSetup writes files below a folder and lists them. After the first error it does
// nothing.
type folderSetup struct {
	root   *os.Root
	dryRun bool
	rows   [][]string
	// advice is what the user has to do by hand.
	advice string
	err    error
}

// read returns a file, nil if there is none.
func (s *folderSetup) read(name string) []byte {
	text, err := s.root.ReadFile(filepath.FromSlash(name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) && s.err == nil {
		s.err = fmt.Errorf("read %s: %w", name, err)
	}
	return text
}

// write writes a file if its text differs, and lists what happened.
func (s *folderSetup) write(name string, text []byte, what string) {
	before := s.read(name)
	if s.err != nil {
		return
	}
	verb := "updated"
	switch {
	case before == nil:
		verb = "created"
	case bytes.Equal(before, text):
		verb = unchanged
	}
	if s.dryRun && verb != unchanged {
		verb = "to be " + verb
	}
	s.rows = append(s.rows, []string{name, verb, what})
	if s.dryRun || verb == unchanged {
		return
	}
	path := filepath.FromSlash(name)
	mode := fs.FileMode(0o644)
	if info, err := s.root.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	if s.err = s.root.MkdirAll(filepath.Dir(path), 0o755); s.err == nil {
		s.err = s.root.WriteFile(path, text, mode)
	}
}

// rules writes the schema of rule files, and the comment with it into each.
func (s *folderSetup) rules(files []rules.Source) (author.Mapping, error) {
	named := rules.TypesOf(files)
	text, err := rules.Schema(named)
	if err != nil {
		return author.Mapping{}, err
	}
	s.write(author.RulesFile, text, cli.Count(len(files), "rule file")+", "+cli.Count(len(named), "type"))
	mapping := author.Mapping{Schema: author.RulesFile}
	for _, file := range files {
		mapping.Globs = append(mapping.Globs, file.Name)
		if text, added := author.AddModelines(file.Text, file.Name, author.RulesFile); added > 0 {
			s.write(file.Name, text, cli.Count(added, "comment")+" with the schema")
		}
	}
	return mapping, nil
}

// settings maps the schemas to their files in the editor's settings.
func (s *folderSetup) settings(mappings []author.Mapping) {
	mappings = slices.DeleteFunc(mappings, func(m author.Mapping) bool { return len(m.Globs) == 0 })
	if len(mappings) == 0 || s.err != nil {
		return
	}
	merged, err := author.MergeSettings(s.read(author.Settings), mappings)
	if err != nil {
		s.rows = append(s.rows, []string{author.Settings, unchanged, err.Error()})
		s.advice = fmt.Sprintf("\nadd this to %s:\n%s\n", author.Settings, author.SettingsSnippet(mappings))
		return
	}
	s.write(author.Settings, merged, settingsText)
}

// modelines adds the comment with the schema to YAML manifests.
func (s *folderSetup) modelines(documents []manifest.Document) {
	seen := map[string]bool{}
	for _, d := range documents {
		if d.Type == "" || !author.IsYAML(d.File) || seen[d.File] || s.err != nil {
			continue
		}
		seen[d.File] = true
		if text, added := author.AddModelines(s.read(d.File), d.File, author.File); added > 0 {
			s.write(d.File, text, cli.Count(added, "comment")+" with the schema")
		}
	}
}
