package manifest

import (
	"slices"
	"strings"

	"cel.dev/cel-go/cel"

	"github.com/armature-io/armature/internal/expression"
	"github.com/armature-io/armature/resource"
)

// namesUsed returns the names that manifests use and that may be those of no manifest,
// sorted: all that one lookup needs to find.
func (l *loader) namesUsed() []string {
	used := map[string]bool{}
	add := func(name string) {
		if name != "" && !strings.HasPrefix(name, "/") && !l.isDefined(name) {
			used[name] = true
		}
	}
	env, _ := expression.NewEnv(cel.Variable(refVariable, cel.DynType))
	for _, d := range l.drafts {
		add(d.owner)
		if n := len(d.segments); d.owner == "" && n > 1 {
			add(strings.Join(d.segments[:n-1], "/"))
		}
		if list := d.root.get("reconcile").get("dependsOn"); list != nil {
			for _, item := range list.items {
				add(item.text)
			}
		}
		d.root.eachMarker(func(marker string, value *node) {
			switch marker {
			case resource.RefMarker:
				add(value.text)
			case resource.TextMarker:
				for _, name := range namesInText(env, value.text) {
					add(name)
				}
			}
		})
	}
	names := make([]string, 0, len(used))
	for name := range used {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// isDefined reports whether a manifest surely has a name. A name with slashes may be the
// chain of names of one, which is known later.
func (l *loader) isDefined(name string) bool {
	return slices.ContainsFunc(l.byName[lastName(name)], func(d *draft) bool {
		return strings.EqualFold(d.name, name) || strings.EqualFold(d.alias, name)
	})
}

// namesInText returns the names of resources that a $text reads.
func namesInText(env *cel.Env, text string) []string {
	template, problems := expression.NewTemplate(env, text)
	if len(problems) > 0 {
		return nil
	}
	var names []string
	for _, part := range template.Expressions() {
		fields, _ := part.Fields(refVariable)
		names = append(names, fields...)
	}
	return names
}

// eachMarker calls visit with each marker in a value that names other resources.
func (n *node) eachMarker(visit func(marker string, value *node)) {
	for _, f := range n.fields {
		if f.value.kind == kindText && (f.name == resource.RefMarker || f.name == resource.TextMarker) {
			visit(f.name, f.value)
		}
		f.value.eachMarker(visit)
	}
	for _, item := range n.items {
		item.eachMarker(visit)
	}
}
