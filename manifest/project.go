package manifest

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/nearest"
	"github.com/armature-io/armature/resource"
)

// ProjectFile is the name of the file with parameters and environments. It is in the
// folder of the manifests.
const ProjectFile = "armature.yaml"

// The fields of a project and of its parts.
var (
	projectFields     = []string{"params", "environments"}
	paramFields       = []string{"kind", "one-of", "default", "required", "description"}
	environmentFields = []string{"params", "subscription", "resource-group", "credential", "labels", "patches"}
)

// project is a file with parameters and environments, and the choice of an environment.
type project struct {
	loader *loader
	file   string
	params []*param
	// environments are their names, in the order of the file; chosen is nil without one.
	environments []string
	chosen       *environment
	// patchFiles are the files of patches of all environments, which are no manifests, by
	// the name of the first environment that states them.
	patchFiles map[string]string
}

// environment is one chosen environment of a project.
type environment struct {
	name                                    string
	subscription, resourceGroup, credential *node
	labels                                  *node
	patches                                 []string
}

// at reports an issue in the project's file.
func (p *project) at(at position, path, format string, args ...any) {
	p.loader.report(Issue{File: p.file, Line: at.line, Column: at.column, Path: path, Message: fmt.Sprintf(format, args...)})
}

// readProject returns the project of the paths, nil if there is none: the file
// armature.yaml in a folder of paths, or beside a file. A file of that name that contains a
// manifest is no project.
func (l *loader) readProject(paths []string) *project {
	var found *project
	for _, file := range l.projectFiles(paths) {
		root := l.projectRoot(file)
		if root == nil {
			continue
		}
		p := &project{loader: l, file: file, patchFiles: map[string]string{}}
		if found != nil {
			p.at(root.position, "", "is a second project beside %s; load the folders one after the other", found.file)
			continue
		}
		p.read(root)
		found = p
	}
	if found == nil {
		l.withoutProject()
	}
	return found
}

// projectFiles returns the files that may be projects, each once.
func (l *loader) projectFiles(paths []string) []string {
	var files []string
	for _, path := range paths {
		if path == stdinName || path == "" {
			continue
		}
		folder := filepath.Clean(path)
		if !isFolder(folder) {
			folder = filepath.Dir(folder)
		}
		if file := filepath.Join(folder, ProjectFile); exists(file) && !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	return files
}

// projectRoot returns the content of a file of a project, nil if it is none or has no
// content.
func (l *loader) projectRoot(file string) *node {
	data, ok := l.content(file)
	if !ok {
		return nil
	}
	documents := l.quietly(func() []*node { return l.readYAML(file, data) })
	switch {
	case len(documents) > 0 && isManifest(documents[0]):
		return nil
	case len(documents) == 0:
		return nil
	}
	root := documents[0]
	if len(documents) > 1 {
		l.report(Issue{File: file, Line: documents[1].line, Message: "a project is one document; remove the others"})
	}
	if root.kind != kindObject {
		l.report(Issue{File: file, Line: root.line, Column: root.column, Message: fmt.Sprintf(
			"a project is a mapping of %s; %s", strings.Join(projectFields, " and "), root.found())})
		return nil
	}
	root.setFile(file)
	return root
}

// quietly reads documents that are no manifests.
func (l *loader) quietly(read func() []*node) []*node {
	before := l.keepForeign
	l.keepForeign = true
	defer func() { l.keepForeign = before }()
	return read()
}

// setFile states the file of all positions in a value.
func (n *node) setFile(file string) {
	n.file = file
	for i := range n.fields {
		n.fields[i].file = file
		n.fields[i].value.setFile(file)
	}
	for _, item := range n.items {
		item.setFile(file)
	}
}

// withoutProject reports options that need a project.
func (l *loader) withoutProject() {
	if l.options.Environment != "" {
		l.report(Issue{Path: "--env", Message: fmt.Sprintf("there is no %s beside the manifests, which would declare the environment %q; name the folder that contains it, or omit --env", ProjectFile, l.options.Environment)})
	}
	if len(l.options.Params) > 0 {
		l.report(Issue{Path: "--param", Message: fmt.Sprintf("there is no %s beside the manifests, which would declare parameters; name the folder that contains it, or omit --param", ProjectFile)})
	}
}

// read reads the parameters, the chosen environment and the options.
func (p *project) read(root *node) {
	p.checkFields(root, "", projectFields)
	p.readParams(root.get("params"))
	environments := root.get("environments")
	if environments != nil && environments.kind != kindObject {
		p.at(environments.position, "environments", "%s; environments are a mapping, write them like {prod: {params: {sku: P1}}}", environments.found())
		environments = nil
	}
	var chosen *node
	if environments != nil {
		for _, f := range environments.fields {
			p.environments = append(p.environments, f.name)
			read := p.readEnvironment(f)
			p.loader.environments = append(p.loader.environments, read.public())
			if f.name == p.loader.options.Environment {
				p.chosen, chosen = read, f.value
			}
		}
	}
	p.checkChoice()
	if p.chosen != nil {
		p.setParams(chosen.get("params"))
		p.useLocation()
	}
	p.setOptions(p.loader.options.Params)
}

// checkFields reports unknown fields of a part of the project.
func (p *project) checkFields(section *node, prefix string, known []string) {
	for _, f := range section.fields {
		if !slices.Contains(known, f.name) {
			p.at(f.position, prefix+f.name, "unknown field%s; allowed: %s", nearest.Suggest(f.name, known), strings.Join(known, ", "))
		}
	}
}

// checkChoice reports a choice of an environment that does not exist, and the lack of one.
func (p *project) checkChoice() {
	name := p.loader.options.Environment
	known := strings.Join(p.environments, ", ")
	switch {
	case p.chosen != nil:
	case name == "" && len(p.environments) > 0:
		p.loader.report(Issue{Path: "--env", Message: fmt.Sprintf("is missing: %s declares the environments %s; name one of them", p.file, known)})
	case name != "" && len(p.environments) == 0:
		p.loader.report(Issue{Path: "--env", Message: fmt.Sprintf("%s declares no environments; add environments: {%s: {}}, or omit --env", p.file, name)})
	case name != "":
		p.loader.report(Issue{Path: "--env", Message: fmt.Sprintf("%q is not an environment of %s%s; there are %s", name, p.file, nearest.Suggest(name, p.environments), known)})
	}
}

// readEnvironment checks one environment, chosen or not.
func (p *project) readEnvironment(f field) *environment {
	path, section := "environments."+f.name, f.value
	env := &environment{name: f.name}
	if section.kind == kindNull {
		return env
	}
	if section.kind != kindObject {
		p.at(section.position, path, "%s; an environment is a mapping of %s", section.found(), strings.Join(environmentFields, ", "))
		return env
	}
	p.checkFields(section, path+".", environmentFields)
	if params := section.get("params"); params != nil {
		p.checkParams(params, path+".params")
	}
	text := func(name string) *node {
		value := section.get(name)
		if value != nil && (value.kind != kindText || value.text == "") {
			p.at(value.position, path+"."+name, "%s; write a text", value.found())
			return nil
		}
		return value
	}
	env.subscription, env.resourceGroup, env.credential = text("subscription"), text("resource-group"), text("credential")
	if s := env.subscription; s != nil && !guid.MatchString(s.text) {
		p.at(s.position, path+".subscription", "%s", notGUID(s.text))
	}
	if labels := section.get("labels"); labels != nil {
		if labels.kind != kindObject {
			p.at(labels.position, path+".labels", "%s; labels are a mapping of texts, write them like {env: prod}", labels.found())
		} else {
			env.labels = labels
		}
	}
	p.readPatches(env, section.get("patches"), path+".patches")
	return env
}

// useLocation makes subscription and resource group of the environment the options of
// the load. An option that states another one is an issue: two places that disagree about
// where resources are created are a mistake.
func (p *project) useLocation() {
	use := func(stated *node, option *string, name string) {
		switch {
		case stated == nil:
		case *option != "" && !strings.EqualFold(*option, stated.text):
			p.at(stated.position, "environments."+p.chosen.name+"."+name, "is %s, but --%s is %s; omit the flag", stated.text, name, *option)
		default:
			*option = stated.text
		}
	}
	use(p.chosen.subscription, &p.loader.options.Subscription, "subscription")
	use(p.chosen.resourceGroup, &p.loader.options.ResourceGroup, "resource-group")
	if group := p.chosen.resourceGroup; group != nil {
		if err := resource.CheckSegment(group.text); err != nil {
			p.at(group.position, "environments."+p.chosen.name+".resource-group", "%v", err)
		}
	}
}
