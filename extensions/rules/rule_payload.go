package rules

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"go.yaml.in/yaml/v3"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/expression"
	"github.com/armature-io/armature/internal/extensionshare"
	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
)

// change sets a value of the payload, or removes one.
type change struct {
	path   resource.Path
	value  expression.Expression
	remove bool
	node   *yaml.Node
}

// fixed returns the properties of a payload that identify the resource or that Azure
// alone sets.
func fixed() []string { return []string{"id", "name", "type", "apiVersion", "systemData", "etag"} }

// changes compiles set and remove.
func (f *file) changes(env *cel.Env, s *source, compiled *rule) {
	if !s.has("set") && !s.has("remove") {
		f.report(s.node, "a rule at payload changes nothing; add set (path: expression) or remove (list of paths)")
	}
	if node := s.parts["set"]; node != nil {
		f.entries("set", node, func(key, value *yaml.Node) {
			if value.Kind != yaml.ScalarNode {
				f.report(value, "set needs an expression for %s, such as '\"text\"', 3, true or desired.location", key.Value)
				return
			}
			made, problems := expression.Compile(env, value.Value, nil)
			for i := range problems {
				if strings.HasPrefix(problems[i].Message, "undeclared reference") {
					problems[i].Message += `; a text needs quotes inside the quotes: '"text"'`
				}
			}
			f.reportProblems("set "+key.Value, value, problems)
			compiled.parts = append(compiled.parts, part{"set " + key.Value, value, []expression.Expression{made}, false})
			compiled.changes = append(compiled.changes, change{path: f.payloadPath(key), value: made, node: key})
		})
	}
	if node := s.parts["remove"]; node != nil {
		for _, path := range f.texts("remove", node) {
			compiled.changes = append(compiled.changes, change{path: f.payloadPath(path.node), remove: true, node: path.node})
		}
	}
}

// payloadPath returns a path that a rule may change.
func (f *file) payloadPath(node *yaml.Node) resource.Path {
	path, err := resource.ParsePath(node.Value)
	if err != nil {
		f.report(node, "%v", err)
		return nil
	}
	if slices.ContainsFunc(fixed(), func(name string) bool { return strings.EqualFold(name, path[0].Name) }) {
		f.report(node, "%s is not part of what a PUT changes", path[0].Name)
	}
	return path
}

// errPayload replaces an error of an expression: the payload has resolved secrets, and
// the error may quote one.
var errPayload = errors.New("an expression cannot be evaluated for this payload; the details may contain a secret, so try the rule with armature rules test")

// ModifyARMResource changes the payload if the condition is true, before the links
// that follow.
func (r payloadRule) ModifyARMResource(
	ctx context.Context, payload map[string]any, obj, owner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger,
	next extensions.ARMResourceModifierFunc,
) (map[string]any, error) {
	vars := r.vars(input{obj: obj, owner: owner, labels: labelsOf(obj), payload: payload, forced: extensions.Forced(ctx), now: extensionshare.Now(ctx)})
	read, err := r.readAll(ctx, vars, resolver)
	if err != nil {
		return nil, err
	}
	if read.message != "" {
		return nil, extensions.NotYet(read.message, read.options([]extensions.Option{extensions.WithReason(read.reason)}, r.waitsForOwner(owner)...)...)
	}
	r.noteValues(ctx, vars)
	if err := r.modify(ctx, payload, vars); err != nil {
		return nil, errPayload
	}
	return next(ctx, payload, obj, owner, resolver, client, log)
}

// modify applies the changes of the rule to a payload if its condition is true.
func (r *rule) modify(ctx context.Context, payload map[string]any, vars map[string]any) error {
	applies, err := r.applies(ctx, vars)
	if err != nil || !applies {
		return err
	}
	// All values are from before the first change.
	values := make([]any, len(r.changes))
	for i, change := range r.changes {
		if change.remove {
			continue
		}
		got, err := change.value.Eval(ctx, vars)
		if err != nil {
			return fmt.Errorf("set %s: %w", change.path, err)
		}
		value, err := expression.Native(got)
		if err != nil {
			return fmt.Errorf("set %s: %w", change.path, err)
		}
		values[i] = jsontree.Clone(value) // a part of a reading that others share
	}
	for i, change := range r.changes {
		if change.remove {
			removeAt(payload, change.path)
		} else if !setAt(payload, change.path, values[i]) {
			return fmt.Errorf("set %s: the payload has no such element", change.path)
		}
	}
	return nil
}

// setAt sets a value at a path and makes the objects on the way. It reports whether the
// elements of lists that the path names exist.
func setAt(body map[string]any, path resource.Path, value any) bool {
	done := true
	visit(body, path, func(parent map[string]any, name string) { parent[name] = value }, func() { done = false })
	return done
}

// removeAt removes what is at a path.
func removeAt(body map[string]any, path resource.Path) {
	if _, found := path.Get(body); found {
		visit(body, path, func(parent map[string]any, name string) { delete(parent, name) }, func() {})
	}
}

// visit calls do for each member of an object that a path leads to, in the body's own
// letters, and none where a list on the way lacks the element.
func visit(at any, path resource.Path, do func(parent map[string]any, name string), none func()) {
	step := path[0]
	switch at := at.(type) {
	case map[string]any:
		if step.Name == "" {
			none()
			return
		}
		name, _, present := jsontree.Member(at, step.Name)
		if !present {
			name = step.Name
		}
		if len(path) == 1 {
			do(at, name)
			return
		}
		if at[name] == nil {
			at[name] = map[string]any{}
		}
		visit(at[name], path[1:], do, none)
	case []any:
		found := false
		for i, item := range at {
			if step.MatchesElement(i, item) && len(path) > 1 {
				found = true
				visit(item, path[1:], do, none)
			}
		}
		if !found {
			none()
		}
	default:
		none()
	}
}
