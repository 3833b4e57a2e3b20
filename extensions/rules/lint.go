package rules

import (
	"strings"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
	"go.yaml.in/yaml/v3"

	"github.com/armature-io/armature/internal/expression"
	"github.com/armature-io/armature/internal/extensionhost"
)

// Check returns the number of rules of a file or folder, and warnings about what a worker
// would load and its author probably did not mean. The error is of type Issues if a
// worker would not load the rules.
func Check(path string) (count int, warnings Issues, err error) {
	files, _, err := readFiles(path)
	if err != nil {
		return 0, nil, err
	}
	rules, warnings, issues := compileFiles(files)
	if len(issues) > 0 {
		return 0, warnings, issues.sorted()
	}
	b, err := newBench(rules)
	if err != nil {
		return 0, warnings, err
	}
	l := lint{files: map[string]*file{}, cases: map[string][]*Case{}, view: b.view, conditions: map[string]*rule{}}
	for _, f := range files {
		f.warnings = nil
		l.files[f.name] = f
		for _, c := range f.tests {
			l.cases[c.Rule] = append(l.cases[c.Rule], c)
		}
	}
	for _, r := range rules {
		l.file = l.files[r.file]
		l.rule(r)
	}
	l.tests(files, rules)
	for _, f := range files {
		warnings = append(warnings, f.warnings...)
	}
	return len(rules), warnings.sorted(), nil
}

// lint collects the warnings.
type lint struct {
	files map[string]*file
	file  *file
	// cases are the tests by rule. They show of which types the resources are that a rule reads.
	cases map[string][]*Case
	view  extensionhost.View
	// conditions are the first rules with a condition, by type, point and condition.
	conditions map[string]*rule
}

// warnAt adds a warning at a node of an expression.
func (l *lint) warnAt(p part, e expression.Expression, node ast.Expr, format string, args ...any) {
	line, column := e.Position(node)
	line, column = l.file.position(p.node, line, column)
	l.file.warn(&yaml.Node{Line: line, Column: column}, p.what+": "+format, args...)
}

func (l *lint) rule(r *rule) {
	shapes, lists := r.shapes(l.cases[r.name])
	for _, p := range r.parts {
		for _, e := range p.expressions {
			inside := withElements(e, shapes, lists)
			l.paths(p, e, inside)
			l.comparisons(p, e, inside)
			l.masked(r, p, e, inside)
			l.texts(p, e, inside)
			l.wholeLists(p, e, lists)
		}
	}
	l.eachPaths(r, shapes)
	l.states(r)
	l.itself(r, l.cases[r.name])
	for _, c := range r.changes {
		l.changedPath(r, c, shapes)
	}
	if r.when.IsZero() {
		return
	}
	when := r.parts[partIndex(r, "when")]
	if value, constant := r.when.Constant(); constant {
		text := "the condition is always true: the rule applies to every resource of the type"
		if value != types.True {
			text = "the condition is always false: the rule never applies"
		}
		l.file.warn(when.node, "%s", text)
	} else {
		l.creation(r)
	}
	key := strings.ToLower(r.resourceType) + "\n" + string(r.at) + "\n" + r.when.Spelled(r.when.Tree().Expr())
	for _, other := range r.reads {
		key += "\n" + other.name
	}
	for _, code := range r.failure.codes {
		key += "\n" + strings.ToLower(code)
	}
	key += "\n" + r.failure.message
	if first := l.conditions[key]; first != nil && r.at != atPayload {
		l.file.warn(when.node, "rule %s has the same condition as rule %s (%s:%d)", r.name, first.name, first.file, first.line)
		return
	}
	l.conditions[key] = r
}

func partIndex(r *rule, what string) int {
	for i, p := range r.parts {
		if p.what == what {
			return i
		}
	}
	return 0
}

// tests warns of rules without a test, and of those whose tests never let them apply.
func (l *lint) tests(files []*file, rules []*rule) {
	tested, fires := map[string]bool{}, map[string]bool{}
	for _, f := range files {
		for _, c := range f.tests {
			tested[c.Rule] = true
			fires[c.Rule] = fires[c.Rule] || c.Want != "pass"
		}
	}
	for _, r := range rules {
		node := &yaml.Node{Line: r.line, Column: 1}
		switch {
		case !tested[r.name]:
			l.files[r.file].warn(node, "rule %s has no test; add one under tests in which it applies, and one in which it does not", r.name)
		case !fires[r.name]:
			l.files[r.file].warn(node, "rule %s applies in none of its tests; add one with want: %s", r.name, r.wants()[0])
		}
	}
}
