package manifest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/nearest"
)

// ParamKind is the kind of a parameter's value.
type ParamKind string

// The kinds of parameters. The value of a secret is {$secret: ...}.
const (
	ParamText    ParamKind = "text"
	ParamNumber  ParamKind = "number"
	ParamBoolean ParamKind = "boolean"
	ParamList    ParamKind = "list"
	ParamMapping ParamKind = "mapping"
	ParamSecret  ParamKind = "secret"
)

// ParamKinds returns all kinds of parameters.
func ParamKinds() []ParamKind {
	return []ParamKind{ParamText, ParamNumber, ParamBoolean, ParamList, ParamMapping, ParamSecret}
}

// paramName is the form of a parameter's name: a field in an expression.
var paramName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// param is a declared parameter and its value.
type param struct {
	name string
	at   position
	kind ParamKind
	// oneOf are the allowed values, nil for any.
	oneOf []*node
	// value is nil if there is none.
	value    *node
	optional bool
	// reported is set once an issue states that it has no value.
	reported bool
}

// readParams reads the declarations and their defaults.
func (p *project) readParams(section *node) {
	if section == nil {
		return
	}
	if section.kind != kindObject {
		p.at(section.position, "params", "%s; params are a mapping, write them like {sku: {kind: text, default: S1}}", section.found())
		return
	}
	for _, f := range section.fields {
		path := "params." + f.name
		declared := &param{name: f.name, at: f.position}
		switch {
		case !paramName.MatchString(f.name):
			p.at(f.position, path, "%q is not a name of a parameter: use letters, digits and _, so that ${params.NAME} reads it", f.name)
			continue
		case f.value.kind != kindObject:
			p.at(f.value.position, path, "%s; a parameter is declared by a mapping, write it like {kind: text, default: x}", f.value.found())
			continue
		}
		p.params = append(p.params, declared)
		p.checkFields(f.value, path+".", paramFields)
		if p.readKind(declared, f.value, path) {
			p.readOneOf(declared, f.value.get("one-of"), path+".one-of")
			p.readDefault(declared, f.value, path)
		}
	}
}

// readKind reports whether the kind of a parameter is known.
func (p *project) readKind(declared *param, section *node, path string) bool {
	words := texts(ParamKinds()...)
	kind := section.get("kind")
	switch {
	case kind == nil:
		p.at(declared.at, path+".kind", "is missing; write one of %s", strings.Join(words, ", "))
		return false
	case kind.kind != kindText || !slices.Contains(words, kind.text):
		p.at(kind.position, path+".kind", "%q is not a kind%s; allowed: %s", kind.text, nearest.Suggest(kind.text, words), strings.Join(words, ", "))
		return false
	}
	declared.kind = ParamKind(kind.text)
	return true
}

func (p *project) readOneOf(declared *param, list *node, path string) {
	if list == nil {
		return
	}
	if list.kind != kindList || len(list.items) == 0 {
		p.at(list.position, path, "%s; write the list of allowed values", list.found())
		return
	}
	for i, item := range list.items {
		if message := declared.mismatch(item); message != "" {
			p.at(item.position, fmt.Sprintf("%s[%d]", path, i), "%s", message)
			return
		}
	}
	declared.oneOf = list.items
}

func (p *project) readDefault(declared *param, section *node, path string) {
	value, required := section.get("default"), section.get("required")
	if required != nil && required.kind != kindBoolean {
		p.at(required.position, path+".required", "%s; write true or false", required.found())
		required = nil
	}
	switch {
	case value != nil && required != nil && required.text == "true":
		p.at(required.position, path+".required", "is true beside a default, which would never be used; remove one of them")
	case value != nil:
		p.set(declared, value, path+".default")
	case required != nil && required.text == "false":
		declared.optional = true
	}
}

// set gives a parameter a value from the project's file.
func (p *project) set(declared *param, value *node, path string) {
	if message := declared.refusal(value); message != "" {
		p.at(value.position, path, "%s", message)
		return
	}
	declared.value = value
}

// checkParams reports values of an environment that its declarations do not allow.
func (p *project) checkParams(section *node, path string) {
	if section.kind != kindObject {
		p.at(section.position, path, "%s; write a mapping of values, like {sku: P1}", section.found())
		return
	}
	for _, f := range section.fields {
		declared := p.param(f.name)
		if declared == nil {
			p.at(f.position, path+"."+f.name, "%s", p.undeclared(f.name))
		} else if message := declared.refusal(f.value); message != "" && declared.kind != "" {
			p.at(f.value.position, path+"."+f.name, "%s", message)
		}
	}
}

// setParams gives parameters the values of the chosen environment, which checkParams
// has checked.
func (p *project) setParams(section *node) {
	if section == nil {
		return
	}
	for _, f := range section.fields {
		if declared := p.param(f.name); declared != nil && declared.refusal(f.value) == "" {
			declared.value = f.value
		}
	}
}

// setOptions gives parameters the values of Options.Params, "name=value".
func (p *project) setOptions(options []string) {
	for _, option := range options {
		name, text, found := strings.Cut(option, "=")
		declared := p.param(name)
		fault := func(message string) { p.loader.report(Issue{Path: "--param", Message: message}) }
		switch {
		case !found:
			fault(fmt.Sprintf("%q is not name=value; write it like sku=P1", option))
		case declared == nil:
			fault(p.undeclared(name))
		case declared.kind == "":
		default:
			value, message := declared.parse(text)
			if message == "" {
				message = declared.refusal(value)
			}
			if message != "" {
				fault(name + ": " + message)
				continue
			}
			declared.value = value
		}
	}
}

// param returns a declared parameter, nil if there is none.
func (p *project) param(name string) *param {
	if p == nil {
		return nil
	}
	for _, declared := range p.params {
		if declared.name == name {
			return declared
		}
	}
	return nil
}

// undeclared returns the message about a parameter that is not declared.
func (p *project) undeclared(name string) string {
	if p == nil {
		return fmt.Sprintf("the parameter %q is not declared: there is no %s beside the manifests; add one with params: {%s: {kind: text}}", name, ProjectFile, name)
	}
	var names []string
	for _, declared := range p.params {
		names = append(names, declared.name)
	}
	return fmt.Sprintf("the parameter %q is not declared%s; add params: {%s: {kind: text}} to %s", name, nearest.Suggest(name, names), name, p.file)
}
