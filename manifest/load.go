package manifest

import (
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
)

// Options of Load; the zero value works for manifests that state all owners.
type Options struct {
	// ResourceGroup and Subscription (a GUID) locate a manifest without an owner.
	ResourceGroup string
	Subscription  string
	// Stdin is read for the path "-".
	Stdin io.Reader
	// Validate checks types, names, owners and bodies against the published types.
	Validate bool
	// Facts returns facts about a type that its published shape does not have; nil for none.
	Facts func(resourceType string) Facts
	// Validation overrides reconcile.validation of all manifests; "" leaves it.
	Validation Validation
	// Environment is the one of the project's environments to load, "" for none.
	Environment string
	// Params are values of the project's parameters, each as name=value.
	Params []string
	// Managed returns the managed resources with one of the names, whatever else it
	// returns. It is called at most once, with all names that no manifest defines, and not
	// at all where manifests define every name. Without it such a name is a fault.
	Managed func(names []string) ([]Managed, error)
	// Open is for Validate and Render: a name that no manifest defines is left open, with
	// a warning.
	Open bool
	// Targets are names of manifests: Load returns only these, and what they need.
	Targets []string
}

// Set is the result of Load.
type Set struct {
	// Resources are in dependency order: owners, references and dependsOn first.
	Resources []resource.Desired
	// Sources are the positions of the manifests, by ID.Key().
	Sources map[string]Source
	// Warnings are the issues that refuse nothing; none without Options.Validate.
	Warnings Issues
	// Found are the names that mean managed resources (Options.Managed), in the order of
	// reading.
	Found []Found
	// Along are the resources that Options.Targets do not name and that these need, and
	// LeftOut is the number of manifests that they need not.
	Along   []resource.ID
	LeftOut int
	// Environment is the name of the chosen environment, and Environments are those that
	// the project declares.
	Environment  string
	Environments []Environment
	// drafts are the documents of the manifests, by ID.Key().
	drafts map[string]*draft
}

// Report is the result of Validate.
type Report struct {
	// Files are the files that were read, in order.
	Files []string
	// Manifests is the number of manifests in them.
	Manifests int
	// Issues are the faults and warnings, by file and line.
	Issues Issues
}

// Source is the position of one manifest.
type Source struct {
	File string
	Line int
}

// String returns "file:line".
func (s Source) String() string { return fmt.Sprintf("%s:%d", text.Name(s.File), s.Line) }

// guid is the form of a subscription ID.
var guid = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// Load reads files, folders (recursively: *.yaml, *.yml, *.json) and "-" for stdin,
// checks everything that needs neither ARM nor a worker, and resolves every name to
// a resource ID. Its error is of type Issues and lists all issues of all files, of
// which at least one is a fault, or the error of Options.Managed.
func Load(options Options, paths ...string) (Set, error) {
	options.Open = false
	l, ordered := load(options, paths)
	set := Set{Sources: make(map[string]Source, len(ordered)), Found: l.found, drafts: make(map[string]*draft, len(ordered))}
	ordered = l.keepTargets(&set, ordered)
	set.Warnings = l.issues.sorted(l.order)
	switch {
	case len(set.Warnings.Of(SeverityFault)) > 0:
		return Set{}, set.Warnings
	case l.lookupErr != nil:
		return Set{}, l.lookupErr
	}
	set.Environment, set.Environments = l.options.Environment, l.environments
	for _, d := range ordered {
		set.Resources = append(set.Resources, d.desired)
		set.Sources[d.desired.ID.Key()] = d.source()
		set.drafts[d.desired.ID.Key()] = d
	}
	return set, nil
}

// Validate reads manifests like Load, checks them against the published types, and
// returns all issues.
func Validate(options Options, paths ...string) Report {
	options.Validate = true
	l, _ := load(options, paths)
	l.checkOwned()
	return Report{Files: l.order, Manifests: len(l.drafts), Issues: l.issues.sorted(l.order)}
}

// load reads everything, and returns the manifests in dependency order.
func load(options Options, paths []string) (*loader, []*draft) {
	l := &loader{options: options, byID: map[string]*draft{}, byName: map[string][]*draft{}, typeChecks: map[string]typeCheck{}, suggested: map[string]string{}}
	for _, d := range l.documents(paths) {
		l.readManifest(d.file, d.root)
	}
	for _, d := range l.drafts {
		l.locate(d)
	}
	l.register()
	for _, d := range l.drafts {
		l.readBody(d)
		l.readDependsOn(d)
		l.checkNeeds(d)
		l.validate(d)
	}
	l.checkInline()
	ordered := l.leaveOutNeighbours(l.sorted())
	if len(l.drafts) == 0 && len(l.issues) == 0 {
		l.report(Issue{File: strings.Join(paths, ", "), Message: "no manifest found; write one with type, name and body, or name another file"})
	}
	return l, ordered
}

// loader is the state of one Load.
type loader struct {
	options Options
	issues  Issues
	order   []string
	drafts  []*draft
	byID    map[string]*draft
	// byName maps the last segment of a name, lower-cased, to the drafts.
	byName map[string][]*draft
	// typeChecks are by type@version.
	typeChecks map[string]typeCheck
	// values counts the values of all files.
	values int
	// keepForeign keeps documents that are no manifests.
	keepForeign bool
	// locating is the chain of owners being located, for cycles.
	locating []*draft
	// managed are the managed resources with the names that no manifest defines, once
	// isLookedUp; found are those that names mean.
	managed    []Managed
	isLookedUp bool
	lookupErr  error
	found      []Found
	// suggested are the most similar names to names that are left open.
	suggested map[string]string
	// neighbours are the files of the project that no path names: they have names and aliases
	// for the others.
	neighbours map[string]bool
	// environments are those of the project.
	environments []Environment
}

// report records an issue that needs no published types.
func (l *loader) report(issue Issue) {
	issue.Severity, issue.Rule = SeverityFault, InvalidManifest
	l.issues = append(l.issues, issue)
}

func (l *loader) checkOptions() {
	if s := l.options.Subscription; s != "" && !guid.MatchString(s) {
		l.report(Issue{Path: "--subscription", Message: notGUID(s)})
	}
	if group := l.options.ResourceGroup; group != "" {
		if err := resource.CheckSegment(group); err != nil {
			l.report(Issue{Path: "--resource-group", Message: err.Error()})
		}
	}
}

func notGUID(s string) string {
	return fmt.Sprintf("the subscription %q is not a GUID; write its ID, like 11111111-2222-3333-4444-555555555555", s)
}

// documents reads the documents of all paths, with parameters, texts and patches in
// place.
func (l *loader) documents(paths []string) []document {
	p := l.readProject(paths)
	l.checkOptions()
	if len(paths) == 0 {
		l.report(Issue{Message: `no manifest given; name files, folders or "-" for stdin`})
	}
	if p != nil && len(l.issues) > 0 {
		return nil // most values in the manifests would be wrong
	}
	r := newRenderer(l, p)
	var documents []document
	files := l.files(paths)
	for _, file := range append(files, l.readNeighbours(p, files)...) {
		if l.isPart(p, file, paths) {
			continue
		}
		if !l.neighbours[file] {
			l.order = append(l.order, file)
		}
		data, ok := l.content(file)
		if !ok {
			continue
		}
		roots := l.decode(file, data)
		if l.values > maxValues {
			return nil
		}
		for _, root := range roots {
			if rendered := r.document(document{file: file, root: root}); rendered != nil {
				documents = append(documents, document{file: file, root: rendered})
			}
		}
	}
	r.applyPatches(documents)
	r.addDefaults(documents)
	return documents
}

// isPart reports whether a file is a part of the project, and no manifest. A path that
// names one is an issue.
func (l *loader) isPart(p *project, file string, paths []string) bool {
	if p == nil {
		return false
	}
	env, isPatch := p.patchFiles[file]
	if file != p.file && !isPatch {
		return false
	}
	if slices.ContainsFunc(paths, func(path string) bool { return filepath.Clean(path) == file }) {
		what := "is the project's file"
		if isPatch {
			what = "is a patch of the environment " + env
		}
		l.report(Issue{File: file, Message: what + " and no manifest; name the folder of the manifests"})
	}
	return true
}

// decode reads the documents of one file.
func (l *loader) decode(file string, data []byte) []*node {
	if strings.EqualFold(filepath.Ext(file), ".json") || file == stdinName && isJSON(data) {
		return l.readJSON(file, data)
	}
	return l.readYAML(file, data)
}
