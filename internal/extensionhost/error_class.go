package extensionhost

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

// errorClass is a compiled ErrorClass.
type errorClass struct {
	extensions.ErrorClass
	pattern *regexp.Regexp
}

func compile(c extensions.ErrorClass) (errorClass, error) {
	if len(c.Codes) == 0 {
		return errorClass{}, fmt.Errorf("an error class has no codes")
	}
	pattern, err := regexp.Compile("(?is)" + c.Pattern)
	if err != nil {
		return errorClass{}, fmt.Errorf("pattern of an error class: %w", err)
	}
	return errorClass{ErrorClass: c, pattern: pattern}, nil
}

// matches reports whether the class is for an error.
func (c errorClass) matches(err *arm.Error) bool {
	has := func(code string) bool {
		return code != "" && slices.ContainsFunc(c.Codes, func(other string) bool { return strings.EqualFold(other, code) })
	}
	known := slices.Contains(c.Codes, "") || has(err.Code)
	for _, detail := range err.Details {
		known = known || has(detail.Code)
	}
	return known && c.pattern.MatchString(err.Message)
}

var _ extensions.ErrorClassifier = errorClasses{}

// errorClasses is the link of the classes of a type.
type errorClasses []errorClass

// ClassifyError calls next, which reads the error table, and applies the first class that
// matches.
func (c errorClasses) ClassifyError(
	ctx context.Context,
	err *arm.Error,
	obj *resource.Object,
	resolver extensions.Resolver,
	client extensions.ARMClient,
	log *slog.Logger,
	next extensions.ErrorClassifierFunc,
) (extensions.ErrorDetails, error) {
	details, failed := next(ctx, err, obj, resolver, client, log)
	at := slices.IndexFunc(c, func(class errorClass) bool { return class.matches(err) })
	if failed != nil || at < 0 {
		return details, failed
	}
	if class := c[at]; class.Class != "" {
		details.Class = class.Class
	}
	if advice := c[at].Advice; advice != "" {
		details.Message = strings.TrimRight(details.Message, ". ") + ". " + advice
	}
	return details, nil
}
