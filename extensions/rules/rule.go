package rules

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"go.yaml.in/yaml/v3"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/expression"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// point is the step of a pass at which a rule is evaluated.
type point string

const (
	atOwner   point = "owner"
	atPre     point = "pre"
	atPost    point = "post"
	atError   point = "error"
	atPayload point = "payload"
	// atFacts is the point of a rule with busy or stopped, which is never evaluated: the
	// default checks use its words.
	atFacts point = "facts"
)

// rule is a compiled rule.
type rule struct {
	name, resourceType string
	file               string
	line               int
	at                 point
	reads              []read
	// when is the condition; one without a program is true.
	when    expression.Expression
	message expression.Template
	options []extensions.Option
	// reason is the stated one, "" for none.
	reason resource.Reason
	// onlyBeforePut calls the rest of the chain first and blocks only a PUT.
	onlyBeforePut bool
	// failure is what an error has to be, and becomes, at error.
	failure failureRule
	// changes are what the rule does to the payload.
	changes []change
	// facts are those of a rule with busy or stopped.
	facts extensions.Facts
	// statePaths and stateWords are those of the facts, pathNode is that of a stated path.
	statePaths []string
	stateWords []field
	pathNode   *yaml.Node
	// operands are what the condition compares.
	operands expression.Operands
	// readsOwner is set if the state of the owner decides: in the condition, or in the ID of a
	// read.
	readsOwner bool
	// parts are all expressions with their positions, for the lint.
	parts []part
}

// part is an expression, or those of a template, at a node of the file.
type part struct {
	what        string
	node        *yaml.Node
	expressions []expression.Expression
	// decides is set for a condition and for the ID of a read.
	decides bool
}

// ExtensionName returns the name of the rule for messages.
func (r *rule) ExtensionName() string { return fmt.Sprintf("rule %s (%s:%d)", r.name, r.file, r.line) }

var (
	namePattern   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)
	typePattern   = regexp.MustCompile(`^[A-Za-z0-9]+(\.[A-Za-z0-9]+)+(/[A-Za-z0-9._-]+)+$`)
	reasonPattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{0,99}$`)
)

// compileRule compiles one rule and reports its issues. It returns nil if there
// are any.
func (f *file) compileRule(s *source) *rule {
	before := len(f.issues)
	compiled := &rule{name: s.text("name"), resourceType: s.text("type"), file: f.name, line: s.node.Line}
	f.checkIdentity(s)
	f.setPoint(s, compiled)
	f.checkFields(s, compiled.at)
	f.setOptions(s, compiled)
	if compiled.at == atFacts {
		f.facts(s, compiled)
	} else {
		f.expressions(s, compiled)
	}
	if len(f.issues) > before {
		return nil
	}
	return compiled
}

// expressions compiles the reads, the condition and what follows from it.
func (f *file) expressions(s *source, compiled *rule) {
	f.reads(s, compiled)
	env, err := environment(compiled.at, compiled.reads)
	if err != nil {
		f.report(s.node, "the rule cannot be compiled: %v", err)
		return
	}
	when, stated := s.fields["when"]
	switch {
	case stated:
		compiled.when = f.condition(env, compiled, when)
	case len(compiled.reads) == 0 && !slices.Contains([]point{atError, atPayload}, compiled.at):
		f.report(s.node, "the rule has no condition; add when (true applies always)")
	}
	switch compiled.at {
	case atError:
		f.failure(env, s, compiled)
	case atPayload:
		f.changes(env, s, compiled)
	default:
		if message := f.message(s, compiled.at, stated); message.node != nil {
			compiled.message = f.template(env, compiled, "the message", message, false)
			if !stated && len(compiled.reads) > 0 {
				f.report(message.node, "the message belongs to a condition; add when, or leave it out: what is read has messages of its own")
			}
		}
	}
	compiled.readsOwner = compiled.at == atOwner || slices.ContainsFunc(compiled.reads, func(o read) bool { return o.each.variable == "owner" }) || slices.ContainsFunc(compiled.parts, func(p part) bool {
		return p.decides && slices.ContainsFunc(p.expressions, func(e expression.Expression) bool { return !e.IsZero() && e.Uses("owner") })
	})
}

// condition compiles the condition of a rule.
func (f *file) condition(env *cel.Env, compiled *rule, when field) expression.Expression {
	made, problems := expression.Compile(env, when.text, cel.BoolType)
	f.reportProblems("when", when.node, problems)
	compiled.parts = append(compiled.parts, part{"when", when.node, []expression.Expression{made}, true})
	if len(problems) == 0 {
		compiled.operands = made.Operands()
	}
	return made
}

// template compiles a text with expressions.
func (f *file) template(env *cel.Env, compiled *rule, what string, text field, decides bool) expression.Template {
	made, problems := expression.NewTemplate(env, text.text)
	f.reportProblems(what, text.node, problems)
	compiled.parts = append(compiled.parts, part{what, text.node, made.Expressions(), decides})
	return made
}

// reportProblems adds the problems of an expression at their positions in the file.
func (f *file) reportProblems(what string, node *yaml.Node, problems []expression.Problem) {
	for _, p := range problems {
		line, column := f.position(node, p.Line, p.Column)
		f.issues = append(f.issues, Issue{File: f.name, Line: line, Column: column, Message: what + ": " + p.Message})
	}
}

// checkIdentity reports issues of name and type.
func (f *file) checkIdentity(s *source) {
	if name := s.fields["name"]; name.node == nil {
		f.report(s.node, "the rule has no name")
	} else if !namePattern.MatchString(name.text) {
		f.report(name.node, "invalid name %q: use letters, digits, dots, dashes and underscores", name.text)
	}
	typ := s.fields["type"]
	switch {
	case typ.node == nil:
		f.report(s.node, "the rule has no type; add one such as Microsoft.Kusto/clusters")
	case !typePattern.MatchString(typ.text):
		f.report(typ.node, "%q is not a resource type such as Microsoft.Kusto/clusters", typ.text)
	default:
		if !knownType(typ.text) {
			f.warn(typ.node, "unknown type %s%s; the rule is loaded anyway", typ.text, didYouMean(types.Nearest(typ.text)))
		}
	}
}

// warn adds a warning at a node.
func (f *file) warn(node *yaml.Node, format string, args ...any) {
	f.warnings = append(f.warnings, Issue{File: f.name, Line: node.Line, Column: node.Column, Message: "warning: " + fmt.Sprintf(format, args...)})
}

// didYouMean returns a suggestion, "" for none.
func didYouMean(name string) string {
	if name == "" {
		return ""
	}
	return " (did you mean " + name + "?)"
}

// setPoint sets the rule's point from at, or from the fields that only one point has.
func (f *file) setPoint(s *source, compiled *rule) {
	at := s.fields["at"]
	compiled.at = point(at.text)
	if !slices.Contains([]point{"", atOwner, atPre, atPost, atError, atPayload}, compiled.at) {
		f.report(at.node, "at must be owner, pre, post, error or payload, not %q", at.text)
		compiled.at = ""
	}
	has := func(names ...string) bool { return slices.ContainsFunc(names, s.has) }
	switch {
	case compiled.at != "":
	case has("busy", "stopped"):
		compiled.at = atFacts
	case has("set", "remove"):
		compiled.at = atPayload
	case has("code", "advice"):
		compiled.at = atError
	case has("fail") && !has("block"):
		compiled.at = atPost
	default:
		compiled.at = atPre
	}
}

// pointFields returns the fields that are valid only at some points, and where.
func pointFields() map[string][]point {
	checks := []point{atOwner, atPre, atPost}
	return map[string][]point{
		"read": {atOwner, atPre, atPost, atPayload}, "when": {atOwner, atPre, atPost, atError, atPayload},
		"block": checks, "fail": checks, "severity": {atOwner, atPre, atPost, atPayload}, "reason": {atOwner, atPre, atPost, atError, atPayload},
		"retry": {atOwner, atPre, atPost, atError, atPayload}, "onlyBeforePut": checks,
		"busy": {atFacts}, "stopped": {atFacts}, "path": {atFacts}, "start": {atFacts}, "at": {atOwner, atPre, atPost, atError, atPayload},
		"code": {atError}, "message": {atError}, "advice": {atError}, "set": {atPayload}, "remove": {atPayload},
	}
}

// checkFields reports fields that have no effect at the rule's point.
func (f *file) checkFields(s *source, at point) {
	valid := pointFields()
	for _, name := range ruleFields() {
		points, limited := valid[name]
		if node := s.fieldNode(name); node == nil || !limited || slices.Contains(points, at) {
			continue
		}
		if at == atFacts {
			f.report(s.fieldNode(name), "%s is not valid beside busy or stopped, which state facts; write a rule of its own", name)
			continue
		}
		texts := make([]string, len(points))
		for i, p := range points {
			texts[i] = string(p)
		}
		where := "at " + strings.Join(texts, ", ")
		if points[0] == atFacts {
			where = "in a rule with busy or stopped and without at"
		}
		f.report(s.fieldNode(name), "%s is not valid in a rule at %s; it is valid %s", name, at, where)
	}
}
