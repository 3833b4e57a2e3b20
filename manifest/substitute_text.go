package manifest

import (
	"context"
	"errors"
	"strings"

	"github.com/google/uuid"

	"github.com/armature-io/armature/internal/expression"
	"github.com/armature-io/armature/resource"
)

// text returns a text with its expressions filled in. Expressions that read observed
// values of other resources stay, in a marker.
func (r *renderer) text(n *node, path resource.Path) *node {
	if !r.alone(n, resource.TextMarker, path) {
		return nil
	}
	text := n.get(resource.TextMarker)
	if text.kind != kindText {
		r.fault(text.position, path, "$text: %s; write a text with expressions in ${}", text.found())
		return nil
	}
	template, problems := expression.NewTemplate(r.env, text.text)
	for _, p := range problems {
		r.fault(text.position, path, "$text: line %d, column %d of the text: %s", p.Line, p.Column, p.Message)
	}
	if len(problems) > 0 || !r.checkExpressions(template, text, path) {
		return nil
	}
	filled, left, err := template.Fill(context.Background(), map[string]any{paramsVariable: r.values, refVariable: nil}, refVariable)
	if absent, ok := errors.AsType[*expression.AbsentError](err); ok {
		r.fault(text.position, path, "$text: ${%s} has no value", absent.Expression.Text())
		return nil
	}
	if err != nil {
		r.fault(text.position, path, "$text: %v", err)
		return nil
	}
	if left && (len(path) == 0 || path[0].Name != "body") {
		r.fault(text.position, path, "$text: values of other resources are known in a body only; remove ${ref...}")
		return nil
	}
	result := &node{position: n.position, kind: kindText, text: filled}
	if !r.spend(n.position, path, result) {
		return nil
	}
	if left {
		return &node{position: n.position, kind: kindObject, fields: []field{{name: resource.TextMarker, position: text.position, value: result}}}
	}
	return result
}

// checkExpressions reports parameters that are not declared, have no value or are
// secrets, and expressions that need both parameters and other resources.
func (r *renderer) checkExpressions(template expression.Template, text *node, path resource.Path) bool {
	before, complete := len(r.loader.issues), true
	for _, part := range template.Expressions() {
		names, err := part.Fields(paramsVariable)
		if err != nil {
			r.fault(text.position, path, "$text: ${%s}: %v", part.Text(), err)
			continue
		}
		if len(names) > 0 && part.Uses(refVariable) {
			r.fault(text.position, path, "$text: ${%s} reads both params and ref; write one ${} for each", part.Text())
			continue
		}
		for _, name := range names {
			switch declared := r.project.param(name); {
			case declared == nil:
				r.fault(text.position, path, "$text: %s", r.project.undeclared(name))
			case declared.kind == ParamSecret:
				r.fault(text.position, path, "$text: the parameter %q is a secret, which a text cannot contain; use {$param: %s} as a whole value", name, name)
			case declared.value == nil:
				r.noValue(text.position, path, declared)
				complete = false
			}
		}
	}
	return complete && len(r.loader.issues) == before
}

// guidNamespace is the namespace of the function guid in ARM templates and Bicep, so that
// both give the same GUID for the same texts.
var guidNamespace = uuid.MustParse("11fb06fb-712d-4ddd-98c7-e71bbd588830")

// guid returns the GUID of a list of texts, the marker if they contain references to
// manifests, which have no ID yet.
func (r *renderer) guid(n *node, path resource.Path) *node {
	list := n.get(resource.GUIDMarker)
	if !r.alone(n, resource.GUIDMarker, path) {
		return nil
	}
	before := len(r.loader.issues)
	rendered := r.value(list, append(path, resource.Step{Name: resource.GUIDMarker}))
	if len(r.loader.issues) > before || rendered == nil {
		return nil
	}
	if rendered.kind != kindList || len(rendered.items) == 0 {
		r.fault(list.position, path, "$guid: %s; write a list of texts and {$ref: NAME}", list.found())
		return nil
	}
	var parts []string
	for _, item := range rendered.items {
		switch {
		case item.kind == kindText || item.kind == kindNumber || item.kind == kindBoolean:
			parts = append(parts, item.text)
		case markerOf(item) == resource.RefMarker && len(item.fields) == 1:
		default:
			r.fault(item.position, path, "$guid: %s; write texts, numbers and {$ref: NAME} without a path: a GUID is known before anything is created", item.found())
			return nil
		}
	}
	if len(parts) < len(rendered.items) {
		return &node{position: n.position, kind: kindObject, fields: []field{{name: resource.GUIDMarker, position: list.position, value: rendered}}}
	}
	return &node{position: n.position, kind: kindText, text: guidOf(parts)}
}

// guidOf returns the GUID of texts.
func guidOf(parts []string) string {
	return uuid.NewSHA1(guidNamespace, []byte(strings.Join(parts, "-"))).String()
}
