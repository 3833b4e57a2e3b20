package rules

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"go.yaml.in/yaml/v3"

	"github.com/armature-io/armature/expression"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/nearest"
	"github.com/armature-io/armature/resource"
)

// point is the step of a pass at which a rule is evaluated.
type point string

const (
	atOwner point = "owner"
	atPre   point = "pre"
	atPost  point = "post"
)

// rule is a compiled rule.
type rule struct {
	name, resourceType string
	file               string
	line               int
	at                 point
	when               expression.Expression
	message            expression.Template
	options            []extensions.Option
	// onlyBeforePut calls the rest of the chain first and blocks only a PUT.
	onlyBeforePut bool
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
	message := f.message(s, compiled)
	compiled.options = f.options(s)
	switch s.text("onlyBeforePut") {
	case "", "false":
	case "true":
		compiled.onlyBeforePut = true
		if compiled.at != atPre {
			f.report(s.fields["onlyBeforePut"].node, "onlyBeforePut is only valid at pre, where the PUT is decided")
		}
	default:
		f.report(s.fields["onlyBeforePut"].node, "onlyBeforePut must be true or false")
	}
	env, err := environment(compiled.at)
	if err != nil {
		f.report(s.node, "the rule cannot be compiled: %v", err)
		return nil
	}
	when, set := s.fields["when"]
	if !set {
		f.report(s.node, "the rule has no condition; add when (true applies always)")
	} else {
		var problems []expression.Problem
		compiled.when, problems = expression.Compile(env, when.text, cel.BoolType)
		f.reportProblems("when", when.node, problems)
	}
	if message.node != nil {
		var problems []expression.Problem
		compiled.message, problems = expression.NewTemplate(env, message.text)
		f.reportProblems("the message", message.node, problems)
	}
	if len(f.issues) > before {
		return nil
	}
	return compiled
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
	case !knownType(typ.text):
		f.warnings = append(f.warnings, Issue{File: f.name, Line: typ.node.Line, Column: typ.node.Column,
			Message: fmt.Sprintf("warning: unknown type %s%s; the rule is loaded anyway", typ.text, nearest.Suggest(typ.text, knownTypes()))})
	}
}

// message returns the field with the rule's message and sets the rule's point.
func (f *file) message(s *source, compiled *rule) field {
	block, fail := s.fields["block"], s.fields["fail"]
	at := s.fields["at"]
	compiled.at = point(at.text)
	if !slices.Contains([]point{"", atOwner, atPre, atPost}, compiled.at) {
		f.report(at.node, "at must be owner, pre or post, not %q", at.text)
		compiled.at = ""
	}
	switch {
	case block.node != nil && fail.node != nil:
		f.report(fail.node, "a rule has either block or fail, not both")
	case block.node == nil && fail.node == nil:
		f.report(s.node, "the rule has no message; add block (not now) or fail (not ready yet)")
	case block.node != nil && compiled.at == atPost:
		f.report(block.node, "a rule at post needs fail, not block: the PUT is done")
	case fail.node != nil && (compiled.at == atOwner || compiled.at == atPre):
		f.report(fail.node, "a rule at %s needs block: fail is for rules at post", compiled.at)
	}
	message := block
	if block.node == nil {
		message = fail
	}
	switch {
	case compiled.at == "" && block.node == nil && fail.node != nil:
		compiled.at = atPost
	case compiled.at == "":
		compiled.at = atPre
	}
	if message.node != nil && strings.TrimSpace(message.text) == "" {
		f.report(message.node, "the message is empty; explain what the resource waits for")
	}
	return message
}

// options returns the severity, reason and retry class.
func (f *file) options(s *source) []extensions.Option {
	var options []extensions.Option
	if severity := s.fields["severity"]; severity.node != nil {
		switch resource.Severity(severity.text) {
		case resource.SeverityInfo, resource.SeverityWarning, resource.SeverityError:
			options = append(options, extensions.WithSeverity(resource.Severity(severity.text)))
		default:
			f.report(severity.node, "severity must be Info, Warning or Error, not %q", severity.text)
		}
	}
	if reason := s.fields["reason"]; reason.node != nil {
		if !reasonPattern.MatchString(reason.text) {
			f.report(reason.node, "reason must be one word such as ChangeFreeze, not %q", reason.text)
		}
		options = append(options, extensions.WithReason(resource.Reason(reason.text)))
	}
	if retry := s.fields["retry"]; retry.node != nil {
		switch resource.RetryClass(retry.text) {
		case resource.RetryFast, resource.RetrySlow, resource.RetryVerySlow, resource.RetryNone:
			options = append(options, extensions.WithRetry(resource.RetryClass(retry.text)))
		default:
			f.report(retry.node, "retry must be Fast, Slow, VerySlow or None, not %q", retry.text)
		}
	}
	return options
}

// environment returns the variables of expressions at a point.
func environment(at point) (*cel.Env, error) {
	variables := []cel.EnvOption{
		cel.Variable("owner", cel.DynType), cel.Variable("ownerID", cel.StringType), cel.Variable("ownerName", cel.StringType),
		cel.Variable("now", cel.TimestampType), cel.Variable("forced", cel.BoolType),
	}
	if at != atOwner {
		variables = append(variables,
			cel.Variable("desired", cel.DynType), cel.Variable("observed", cel.DynType),
			cel.Variable("id", cel.StringType), cel.Variable("name", cel.StringType))
	}
	return expression.NewEnv(variables...)
}

// input is what a rule is evaluated for.
type input struct {
	obj, owner *resource.Object
	forced     bool
	now        time.Time
}

// vars returns the variables of the rule's expressions.
func (r *rule) vars(in input) map[string]any {
	body := func(object *resource.Object, desired bool) any {
		switch {
		case object == nil:
			return types.NullValue
		case desired:
			return expression.Value(object.Desired)
		}
		return expression.Value(object.Observed)
	}
	vars := map[string]any{"owner": body(in.owner, false), "ownerID": "", "ownerName": "", "now": in.now, "forced": in.forced}
	if in.owner != nil {
		vars["ownerID"], vars["ownerName"] = in.owner.ID.String(), in.owner.ID.Name()
	}
	if r.at != atOwner {
		vars["desired"], vars["observed"] = body(in.obj, true), body(in.obj, false)
		vars["id"], vars["name"] = in.obj.ID.String(), in.obj.ID.Name()
	}
	return vars
}

// evaluate reports whether the condition of the rule is true, and returns the
// message if it is.
func (r *rule) evaluate(ctx context.Context, in input) (applies bool, message string, err error) {
	vars := r.vars(in)
	value, err := r.when.Eval(ctx, vars)
	if err != nil {
		return false, "", fmt.Errorf("evaluate the condition: %w", err)
	}
	result, ok := value.(types.Bool)
	if !ok {
		return false, "", fmt.Errorf("the condition evaluates to %s, not to true or false", expression.Text(value))
	}
	if result != types.True {
		return false, "", nil
	}
	if message, err = r.message.Render(ctx, vars); err != nil {
		return false, "", fmt.Errorf("fill in the message: %w", err)
	}
	return true, message, nil
}
