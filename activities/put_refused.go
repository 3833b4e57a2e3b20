package activities

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/resource"
)

// unstatedLeaves returns the values of a body that the manifest does not state. Values
// that Azure refused before, beside the same body of the manifest, are removed from the
// body where the service had set them; else they hold the PUT. A user's --force tries
// them again.
func (p *put) unstatedLeaves(body map[string]any) *resource.Verdict {
	p.unstated, p.stated = nil, nil
	if !p.request.Object.Exists() || !p.keepsOthers() {
		return nil
	}
	var held []drift.Leaf
	p.unstated, p.stated = drift.Leaves(body, p.request.Object.Desired, p.request.Comparison())
	p.rememberFailedOperation()
	p.unstated = slices.DeleteFunc(p.unstated, func(leaf drift.Leaf) bool {
		refused := leaf.Refused && (!p.in.Force || p.withoutRefused)
		if refused && leaf.Own {
			leaf.Path.Remove(body)
			return true
		}
		if refused {
			held = append(held, leaf)
		}
		return false
	})
	if len(held) == 0 {
		return nil
	}
	return p.holdRefused(held, "Azure refused them before")
}

// rememberRefusal returns whether a PUT is to be sent once more, without the values that the
// service had set by itself and that ARM refused. Where ARM names a value that another tool
// set, it returns the verdict that holds the PUT. What was refused becomes part of the
// memory, so that a later pass does not send it again.
func (p *put) rememberRefusal(err error, text string) (again bool, stop *resource.Verdict) {
	failure, refused := errors.AsType[*arm.Error](err)
	if !refused || !refusesContent(failure) {
		return false, nil
	}
	named := namedLeaves(failure, p.unstated, p.stated)
	if len(named) == 0 || p.withoutRefused {
		return false, nil
	}
	if !p.remember(p.request.Baseline.WithRefused(p.request.Object.Desired, named, p.request.Comparison())) {
		return false, nil
	}
	if others := slices.DeleteFunc(slices.Clone(named), func(leaf drift.Leaf) bool { return leaf.Own }); len(others) > 0 {
		return false, p.holdRefused(others, "Azure refuses them: "+text)
	}
	p.withoutRefused = true
	return true, nil
}

// remember makes a baseline the memory of this and of later passes. It returns false if it cannot
// be encoded.
func (p *put) remember(baseline drift.Baseline) bool {
	encoded, err := json.Marshal(baseline)
	if err == nil {
		p.request.Baseline, p.memory = baseline, encoded
	}
	return err == nil
}

// OperationRefusal is what ARM reported of the operation of a PUT that it had accepted and
// that failed because of what the body says.
type OperationRefusal struct {
	// Message has no secrets. Targets are the properties that ARM names.
	Message string   `json:"message"`
	Targets []string `json:"targets,omitempty"`
}

// operationRefusal returns the refusal in the error of an operation, nil where a later try
// may succeed with the same body. The message has no secrets.
func operationRefusal(failure *arm.Error, message string, scrub func(target string) string) *OperationRefusal {
	switch failure.Class {
	case arm.ClassConflict, arm.ClassThrottled, arm.ClassAbsent, arm.ClassFast:
		return nil
	}
	refusal := &OperationRefusal{Message: message}
	for _, detail := range append([]arm.Detail{{Target: failure.Target}}, failure.Details...) {
		if detail.Target != "" {
			refusal.Targets = append(refusal.Targets, scrub(detail.Target))
		}
	}
	return refusal
}

// rememberFailedOperation marks the values that the failed operation of the last PUT names as
// refused, and adds them to the memory.
func (p *put) rememberFailedOperation() {
	refusal := p.in.OperationRefusal
	if refusal == nil {
		return
	}
	failure := &arm.Error{Message: refusal.Message}
	for _, target := range refusal.Targets {
		failure.Details = append(failure.Details, arm.Detail{Target: target})
	}
	named := namedLeaves(failure, p.unstated, p.stated)
	if len(named) == 0 {
		return
	}
	p.remember(p.request.Baseline.WithRefused(p.request.Object.Desired, named, p.request.Comparison()))
	for i, leaf := range p.unstated {
		if slices.ContainsFunc(named, func(other drift.Leaf) bool { return other.Path.String() == leaf.Path.String() }) {
			p.unstated[i].Refused = true
		}
	}
}

// refusesContent reports whether a response refuses what a body says.
func refusesContent(failure *arm.Error) bool {
	switch failure.Status {
	case http.StatusBadRequest, http.StatusConflict, http.StatusUnprocessableEntity:
		return failure.Class != arm.ClassConflict && failure.Class != arm.ClassThrottled && failure.Class != arm.ClassAbsent
	}
	return false
}

// holdRefused returns the verdict of a PUT with values that Azure refuses.
func (p *put) holdRefused(leaves []drift.Leaf, why string) *resource.Verdict {
	var paths []string
	for _, leaf := range leaves[:min(len(leaves), resource.MaxDifferences)] {
		paths = append(paths, leaf.Path.String())
	}
	verdict := resource.Block(resource.ReasonHeld, fmt.Sprintf(
		"the PUT keeps values that the manifest does not state: %s. %s. It is not sent again without them, because another tool may have set them. "+
			"State the values in the manifest, or set put: replace to let them go", strings.Join(paths, ", "), strings.TrimSuffix(why, ".")))
	verdict.Class, verdict.Actor = resource.RetryVerySlow, "the owner of the manifest"
	return &verdict
}

// nameForm matches what may be a property or its path in a message: properties.a.b,
// a/b, a[0].b, 'a'.
var nameForm = regexp.MustCompile(`[A-Za-z_$][\w$]*(?:(?:[./]|\[['"]?\w*['"]?\]\.?)+[A-Za-z_][\w$]*)*`)

// minNamedValue is the length of a value by which a message may name a property.
const minNamedValue = 5

// namedLeaves returns the values that a response names: in a target, or in a message by
// the path, by the name in quotation marks or in camel case, or by the value in quotation
// marks. What may also mean another value does not count.
func namedLeaves(failure *arm.Error, leaves []drift.Leaf, stated []resource.Path) []drift.Leaf {
	n := &refusalNames{leaves: leaves, found: make([]bool, len(leaves))}
	for _, leaf := range leaves {
		n.paths = append(n.paths, propertyNames(leaf.Path))
	}
	for _, path := range stated {
		n.paths = append(n.paths, propertyNames(path))
	}
	n.target(failure.Target)
	n.message(failure.Message)
	for _, detail := range failure.Details {
		n.target(detail.Target)
		n.message(detail.Message)
	}
	var named []drift.Leaf
	for i, leaf := range leaves {
		if n.found[i] {
			named = append(named, leaf)
		}
	}
	return named
}

// refusalNames collects the values that a response names. paths are the paths of the leaves,
// followed by those that the manifest states.
type refusalNames struct {
	leaves []drift.Leaf
	paths  [][]string
	found  []bool
}

func (n *refusalNames) target(text string) {
	if text != "" {
		n.name(nameSteps(text))
	}
}

func (n *refusalNames) message(text string) {
	for _, at := range nameForm.FindAllStringIndex(text, -1) {
		word := text[at[0]:at[1]]
		steps := nameSteps(word)
		if len(steps) > 1 || quoted(text, at[0], at[1]) || isCamelCase(word) {
			n.name(steps)
		}
	}
	for i, leaf := range n.leaves {
		value := leaf.Text()
		if at := strings.Index(text, value); len(value) >= minNamedValue && at >= 0 && quoted(text, at, at+len(value)) && n.onlyValue(i) {
			n.found[i] = true
		}
	}
}

// onlyValue reports whether no other leaf has the value of one.
func (n *refusalNames) onlyValue(i int) bool {
	return !slices.ContainsFunc(n.leaves, func(other drift.Leaf) bool {
		return other.Text() == n.leaves[i].Text() && other.Path.String() != n.leaves[i].Path.String()
	})
}

// name marks the leaf that a name means, if it means only one.
func (n *refusalNames) name(steps []string) {
	if len(steps) == 0 {
		return
	}
	match := -1
	for i, path := range n.paths {
		isLeaf := i < len(n.leaves)
		if !hasSuffix(path, steps) && (!isLeaf || !isBelow(steps, path)) {
			continue
		}
		if match >= 0 || !isLeaf {
			return
		}
		match = i
	}
	if match >= 0 {
		n.found[match] = true
	}
}

// propertyNames returns the names in a path, lower-cased, without "properties".
func propertyNames(path resource.Path) []string {
	var names []string
	for _, step := range path {
		if step.Name != "" {
			names = appendName(names, step.Name)
		}
	}
	return names
}

// nameSteps returns the names in a text, lower-cased, without "properties" and indexes.
func nameSteps(text string) []string {
	var names []string
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(`./[]'"$`, r) }) {
		if strings.Trim(part, "0123456789*") != "" && !strings.Contains(part, "=") {
			names = appendName(names, part)
		}
	}
	return names
}

func appendName(names []string, name string) []string {
	name = strings.ToLower(strings.ReplaceAll(name, "_", ""))
	if name == "properties" {
		return names
	}
	return append(names, name)
}

func hasSuffix(path, steps []string) bool {
	return len(steps) <= len(path) && slices.Equal(path[len(path)-len(steps):], steps)
}

// isBelow reports whether steps lead into the value at a path, for example into an item of
// a list.
func isBelow(steps, path []string) bool {
	return len(steps) > len(path) && len(path) > 1 && slices.Equal(steps[:len(path)], path)
}

// quoted reports whether a part of a text is in quotation marks.
func quoted(text string, from, to int) bool {
	return from > 0 && to < len(text) && strings.IndexByte("'\"`", text[from-1]) >= 0 && text[from-1] == text[to]
}

// isCamelCase reports whether a word is no ordinary one: it has a capital after a small
// letter.
func isCamelCase(word string) bool {
	small := false
	for _, r := range word {
		if small && unicode.IsUpper(r) {
			return true
		}
		small = unicode.IsLower(r)
	}
	return false
}
