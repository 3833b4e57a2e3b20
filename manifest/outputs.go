package manifest

import (
	"fmt"
	"regexp"

	"github.com/armature-io/armature/resource"
)

// maxOutputs bounds the outputs of one manifest.
const maxOutputs = 100

// outputName is the form of the name of an output: a variable of every shell.
var outputName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// readOutputs sets Desired.Outputs.
func (l *loader) readOutputs(d *draft) {
	outputs := d.root.get("outputs")
	if outputs == nil {
		return
	}
	if outputs.kind != kindObject {
		l.at(d, outputs.position, "outputs", "%s; outputs are a mapping of paths, write them like {HOST: properties.defaultHostName}", outputs.found())
		return
	}
	if len(outputs.fields) > maxOutputs {
		l.at(d, outputs.position, "outputs", "has %d outputs; at most %d are allowed", len(outputs.fields), maxOutputs)
		return
	}
	for _, f := range outputs.fields {
		if message := outputIssue(f, l.options.facts(d.desired.ID.Type())); message != "" {
			l.at(d, f.position, "outputs."+f.name, "%s", message)
			continue
		}
		if d.desired.Outputs == nil {
			d.desired.Outputs = map[string]string{}
		}
		d.desired.Outputs[f.name] = f.value.text
	}
}

// outputIssue returns what is wrong with an output, "" for nothing.
func outputIssue(f field, facts Facts) string {
	switch {
	case !outputName.MatchString(f.name):
		return "the name of an output has letters, digits and _, so that it can be a variable"
	case f.value.kind != kindText:
		return fmt.Sprintf("%s; write a path like properties.x", f.value.found())
	}
	path, err := resource.ParsePath(f.value.text)
	if err != nil {
		return fmt.Sprintf("%v; write it like a.b, list[name=x].c or tags['a.b/c']", err)
	}
	for _, step := range path {
		if resource.SecretName(step.Name) && !facts.isPublic(path) {
			return f.value.text + " is a secret by its name, which is no output: outputs are shown; the worker masks it"
		}
	}
	return ""
}
