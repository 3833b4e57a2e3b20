package rules

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/expression"
	"github.com/armature-io/armature/resource"
)

// failureRule is what a rule at error looks for in an error of ARM, and how soon a pass
// follows one that matches.
type failureRule struct {
	// codes and message are compared ignoring case; message is a part of the text.
	codes   []string
	message string
	class   resource.RetryClass
	// advice replaces the message.
	advice expression.Template
	told   bool
}

// failure compiles what a rule at error matches and returns.
func (f *file) failure(env *cel.Env, s *source, compiled *rule) {
	if node := s.parts["code"]; node != nil {
		for _, code := range f.texts("code", node) {
			compiled.failure.codes = append(compiled.failure.codes, code.text)
		}
	}
	compiled.failure.message = s.text("message")
	if !s.has("code") && !s.has("message") && !s.has("when") {
		f.report(s.node, "a rule at error matches nothing; add code, message or when")
	}
	if advice := s.fields["advice"]; advice.node != nil {
		compiled.failure.advice, compiled.failure.told = f.template(env, compiled, "the advice", advice, false), true
	}
	if !s.has("retry") && !s.has("reason") && !s.has("advice") {
		f.report(s.node, "a rule at error changes nothing; add retry, reason or advice")
	}
}

// matches reports whether an error has one of the codes, the text and the condition.
func (r *rule) matches(ctx context.Context, err *arm.Error, apiVersion string) (bool, map[string]any, error) {
	codes := err.Codes()
	vars := map[string]any{"apiVersion": apiVersion, "error": expression.Value(map[string]any{
		"code": err.Code, "codes": anyList(codes), "message": err.Message, "status": int64(err.Status), "target": err.Target,
	})}
	found := len(r.failure.codes) == 0 || slices.ContainsFunc(r.failure.codes, func(stated string) bool {
		return slices.ContainsFunc(codes, func(code string) bool { return strings.EqualFold(code, stated) })
	})
	if !found || !strings.Contains(strings.ToLower(err.Message), strings.ToLower(r.failure.message)) {
		return false, vars, nil
	}
	applies, failed := r.applies(ctx, vars)
	return applies, vars, failed
}

func anyList(texts []string) []any {
	list := make([]any, len(texts))
	for i, text := range texts {
		list[i] = text
	}
	return list
}

// ClassifyError changes the class, reason and message of an error that matches.
func (r errorRule) ClassifyError(
	ctx context.Context, err *arm.Error, obj *resource.Object, resolver extensions.Resolver, client extensions.ARMClient,
	log *slog.Logger, next extensions.ErrorClassifierFunc,
) (extensions.ErrorDetails, error) {
	details, failed := next(ctx, err, obj, resolver, client, log)
	if failed != nil {
		return details, failed
	}
	return r.classify(ctx, err, obj.APIVersion, details)
}

// classify returns the details of an error as the rule changes them.
func (r *rule) classify(ctx context.Context, err *arm.Error, apiVersion string, details extensions.ErrorDetails) (extensions.ErrorDetails, error) {
	applies, vars, failed := r.matches(ctx, err, apiVersion)
	if failed != nil || !applies {
		return details, failed
	}
	if r.failure.class != "" {
		details.Class = r.failure.class
	}
	if r.reason != "" {
		details.Code = string(r.reason)
	}
	if r.failure.told {
		advice, failed := r.failure.advice.Render(ctx, vars)
		if failed != nil {
			return details, fmt.Errorf("fill in the advice: %w", failed)
		}
		details.Message = strings.TrimRight(details.Message, ". ") + ". " + advice
	}
	return details, nil
}
