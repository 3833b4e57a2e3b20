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

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/nearest"
	"github.com/armature-io/armature/resource"
)

// point is where in a pass a rule stands.
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
	when               expression
	message            template
	options            []extensions.Option
	// onlyBeforePut asks the rest of the chain first and stops only a PUT.
	onlyBeforePut bool
}

// ExtensionName is how messages call the rule.
func (r *rule) ExtensionName() string { return fmt.Sprintf("rule %s (%s:%d)", r.name, r.file, r.line) }

var (
	ruleName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)
	armType  = regexp.MustCompile(`^[A-Za-z0-9]+(\.[A-Za-z0-9]+)+(/[A-Za-z0-9._-]+)+$`)
	reason   = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{0,99}$`)
)

// compileRule checks one rule; the answer is nil when it has a fault.
func (f *file) compileRule(s *source) *rule {
	before := len(f.faults)
	made := &rule{name: s.text("name"), resourceType: s.text("type"), file: f.name, line: s.node.Line}
	f.identity(s)
	message := f.answer(s, made)
	made.options = f.options(s)
	switch s.text("onlyBeforePut") {
	case "", "false":
	case "true":
		made.onlyBeforePut = true
		if made.at != atPre {
			f.fault(s.fields["onlyBeforePut"].node, "onlyBeforePut is for rules at pre: only there a PUT is decided")
		}
	default:
		f.fault(s.fields["onlyBeforePut"].node, "onlyBeforePut is true or false")
	}
	env, err := environment(made.at)
	if err != nil {
		f.fault(s.node, "the rule cannot be compiled: %v", err)
		return nil
	}
	when, set := s.fields["when"]
	if !set {
		f.fault(s.node, "the rule has no condition: write it under when, true for always")
	} else {
		var problems []problem
		made.when, problems = compile(env, when.text, cel.BoolType)
		f.problems("when", when.node, problems)
	}
	if message.node != nil {
		var problems []problem
		made.message, problems = newTemplate(env, message.text)
		f.problems("the message", message.node, problems)
	}
	if len(f.faults) > before {
		return nil
	}
	return made
}

// problems puts what is wrong in an expression at its place in the file.
func (f *file) problems(what string, node *yaml.Node, problems []problem) {
	for _, p := range problems {
		line, column := f.at(node, p.line, p.column)
		f.faults = append(f.faults, Fault{File: f.name, Line: line, Column: column, Message: what + ": " + p.message})
	}
}

// identity checks name and type.
func (f *file) identity(s *source) {
	if name := s.fields["name"]; name.node == nil {
		f.fault(s.node, "the rule has no name")
	} else if !ruleName.MatchString(name.text) {
		f.fault(name.node, "a name holds letters, digits, points, dashes and underscores, not %q", name.text)
	}
	typ := s.fields["type"]
	switch {
	case typ.node == nil:
		f.fault(s.node, "the rule has no type, for example Microsoft.Kusto/clusters")
	case !armType.MatchString(typ.text):
		f.fault(typ.node, "%q is no resource type such as Microsoft.Kusto/clusters", typ.text)
	case !knownType(typ.text):
		f.warnings = append(f.warnings, Fault{File: f.name, Line: typ.node.Line, Column: typ.node.Column,
			Message: fmt.Sprintf("warning: Armature knows no type %s%s; the rule is taken all the same", typ.text, nearest.Suggest(typ.text, knownTypes()))})
	}
}

// answer checks where the rule stands and what it answers.
func (f *file) answer(s *source, made *rule) field {
	block, fail := s.fields["block"], s.fields["fail"]
	at := s.fields["at"]
	made.at = point(at.text)
	if !slices.Contains([]point{"", atOwner, atPre, atPost}, made.at) {
		f.fault(at.node, "at is owner, pre or post, not %q", at.text)
		made.at = ""
	}
	switch {
	case block.node != nil && fail.node != nil:
		f.fault(fail.node, "a rule has block or fail, not both")
	case block.node == nil && fail.node == nil:
		f.fault(s.node, "the rule has no message: write it under block (not now) or fail (not ready yet)")
	case block.node != nil && made.at == atPost:
		f.fault(block.node, "a rule at post has fail: the PUT is over, there is nothing to block")
	case fail.node != nil && (made.at == atOwner || made.at == atPre):
		f.fault(fail.node, "a rule at %s has block: fail is for rules at post", made.at)
	}
	answer := block
	if block.node == nil {
		answer = fail
	}
	switch {
	case made.at == "" && block.node == nil && fail.node != nil:
		made.at = atPost
	case made.at == "":
		made.at = atPre
	}
	if answer.node != nil && strings.TrimSpace(answer.text) == "" {
		f.fault(answer.node, "the message is empty: say in words a user understands what is waited for")
	}
	return answer
}

// options are severity, reason and retry class.
func (f *file) options(s *source) []extensions.Option {
	var options []extensions.Option
	if severity := s.fields["severity"]; severity.node != nil {
		switch resource.Severity(severity.text) {
		case resource.SeverityInfo, resource.SeverityWarning, resource.SeverityError:
			options = append(options, extensions.WithSeverity(resource.Severity(severity.text)))
		default:
			f.fault(severity.node, "severity is Info, Warning or Error, not %q", severity.text)
		}
	}
	if why := s.fields["reason"]; why.node != nil {
		if !reason.MatchString(why.text) {
			f.fault(why.node, "a reason is one word such as ChangeFreeze, not %q", why.text)
		}
		options = append(options, extensions.WithReason(resource.Reason(why.text)))
	}
	if retry := s.fields["retry"]; retry.node != nil {
		switch resource.RetryClass(retry.text) {
		case resource.RetryFast, resource.RetrySlow, resource.RetryVerySlow, resource.RetryNone:
			options = append(options, extensions.WithRetry(resource.RetryClass(retry.text)))
		default:
			f.fault(retry.node, "retry is Fast, Slow, VerySlow or None, not %q", retry.text)
		}
	}
	return options
}

// input is what a rule judges.
type input struct {
	obj, owner *resource.Object
	forced     bool
	now        time.Time
}

func (r *rule) vars(in input) map[string]any {
	body := func(object *resource.Object, desired bool) any {
		switch {
		case object == nil:
			return types.NullValue
		case desired:
			return adapter{}.NativeToValue(object.Desired)
		}
		return adapter{}.NativeToValue(object.Observed)
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

// judge reports whether the rule speaks, and what it says.
func (r *rule) judge(ctx context.Context, in input) (speaks bool, message string, err error) {
	vars := r.vars(in)
	value, _, err := r.when.program.ContextEval(ctx, vars)
	if err != nil {
		return false, "", fmt.Errorf("its condition cannot be evaluated: %w", err)
	}
	holds, ok := value.(types.Bool)
	if !ok {
		return false, "", fmt.Errorf("its condition is %s, neither true nor false", shown(value))
	}
	if holds != types.True {
		return false, "", nil
	}
	if message, err = r.message.render(ctx, vars); err != nil {
		return false, "", fmt.Errorf("its message cannot be filled: %w", err)
	}
	return true, message, nil
}
