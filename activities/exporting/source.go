package exporting

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/internal/expression"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// source reads the values of one resource. It sends each request once, and once more
// to confirm a value before it is written.
type source struct {
	client   *arm.Client
	registry *extensionhost.Registry
	desired  resource.Desired
	// body is the observed body, unmasked, nil before it was read; answers are those of the
	// actions, confirmed those of the second requests.
	body               map[string]any
	answers, confirmed map[string]map[string]any
}

func newSource(client *arm.Client, registry *extensionhost.Registry, desired resource.Desired) *source {
	return &source{client: client, registry: registry, desired: desired, answers: map[string]map[string]any{}, confirmed: map[string]map[string]any{}}
}

// value returns the value of a source. The verdict states why there is none; neither it nor
// the error contains a value.
func (s *source) value(ctx context.Context, e *Exporter, from resource.ExportSource, again bool) (string, *resource.Verdict, error) {
	answer, stop, err := s.answer(ctx, e, from.Action, again)
	if stop != nil || err != nil {
		return "", stop, err
	}
	template, problems := expression.Template{}, []expression.Problem(nil)
	if from.Text != "" {
		if template, problems = expression.NewExportText(from.Text); len(problems) > 0 {
			return "", noValue("the text of the export is no valid one: " + problems[0].Message), nil
		}
	}
	if needsBody(from, template) && s.body == nil {
		if s.body, stop, err = s.read(ctx, e); stop != nil || err != nil {
			return "", stop, err
		}
	}
	if from.Text != "" {
		return fill(ctx, template, s.body, answer)
	}
	return valueAtPath(from, s.body, answer)
}

// needsBody reports whether a source reads the observed body.
func needsBody(from resource.ExportSource, template expression.Template) bool {
	if from.Text == "" {
		return from.Action == ""
	}
	for _, part := range template.Expressions() {
		if part.UsesOther(expression.ActionVariable) {
			return true
		}
	}
	return false
}

// fill returns a text with its values.
func fill(ctx context.Context, template expression.Template, body, answer map[string]any) (text string, stop *resource.Verdict, err error) {
	// Whatever a panic of the evaluation would show may be a value.
	defer func() {
		if recover() != nil {
			text, stop, err = "", noValue("the text of the export cannot be filled in"), nil
		}
	}()
	filled, failed := template.FillExport(ctx, body, answer)
	if failed != nil {
		return "", noValue(failed.Error()), nil
	}
	return checkValue(filled)
}

// valueAtPath returns the value at the path of a source.
func valueAtPath(from resource.ExportSource, body, answer map[string]any) (string, *resource.Verdict, error) {
	path, err := resource.ParsePath(from.Path)
	if err != nil {
		return "", noValue("the path " + from.Path + " is no valid one"), nil
	}
	in, where := body, "the resource"
	if from.Action != "" {
		in, where = answer, "the answer of "+from.Action
	}
	found, _ := path.Get(in)
	switch value := found.(type) {
	case nil:
		return "", noValue(fmt.Sprintf("%s leads to nothing in %s; correct the path, or wait until Azure shows it", from.Path, where)), nil
	case string:
		return checkValue(value)
	case json.Number:
		return checkValue(value.String())
	case bool:
		return checkValue(strconv.FormatBool(value))
	case map[string]any:
		return "", noValue(fmt.Sprintf("%s leads to an object in %s; write the path of a text in it", from.Path, where)), nil
	}
	return "", noValue(fmt.Sprintf("%s leads to a list in %s; choose an element, like [name=x] or [0]", from.Path, where)), nil
}

// checkValue refuses a value that a vault cannot store, or that hides another one.
func checkValue(value string) (string, *resource.Verdict, error) {
	switch {
	case value == "":
		return "", noValue("the value is empty in Azure"), nil
	case strings.Trim(value, "*") == "":
		return "", noValue("Azure shows asterisks in place of the value"), nil
	case len(value) > resource.MaxSecretBytes:
		return "", noValue(fmt.Sprintf("the value has %d bytes, and a secret at most %d", len(value), resource.MaxSecretBytes)), nil
	case !utf8.ValidString(value):
		return "", noValue("the value is no UTF-8 text"), nil
	}
	return value, nil, nil
}

// noValue returns the verdict of an export without a value.
func noValue(message string) *resource.Verdict {
	return new(resource.Fail(resource.ReasonExportNoValue, resource.RetrySlow, message))
}

// answer returns the answer of an action, nil without one.
func (s *source) answer(ctx context.Context, e *Exporter, action string, again bool) (map[string]any, *resource.Verdict, error) {
	answers := s.answers
	if again {
		answers = s.confirmed
	}
	if answer, sent := answers[action]; sent || action == "" {
		return answer, nil, nil
	}
	published, version, err := types.FindListAction(s.desired.ID.Type(), s.desired.APIVersion, action, s.registry.Facts(s.desired.ID.Type()).ReadActionNames()...)
	if err != nil {
		return nil, new(resource.Fail(resource.ReasonExportNotAllowed, resource.RetryVerySlow, err.Error())), nil
	}
	operation, err := s.client.Read(ctx, s.desired.ID, published.Name, version)
	if err != nil {
		stop, err := e.actionFailed(ctx, action, err)
		return nil, stop, err
	}
	if operation.Token != "" {
		return nil, new(resource.Fail(resource.ReasonExportNotAllowed, resource.RetryVerySlow, fmt.Sprintf(
			"the action %s starts an operation; only actions that answer at once are exported", action))), nil
	}
	answer, err := resource.DecodeBody(operation.Body)
	if err != nil || answer == nil {
		return nil, noValue(fmt.Sprintf("the action %s returned no JSON object (ARM request ID %s)", action, operation.RequestID)), nil
	}
	answers[action] = answer
	e.values = append(e.values, longTexts(answer)...)
	return answer, nil, nil
}

// read returns the observed body, unmasked.
func (s *source) read(ctx context.Context, e *Exporter) (map[string]any, *resource.Verdict, error) {
	response, err := s.client.Get(ctx, s.desired.ID, s.desired.APIVersion)
	if arm.IsAbsent(err) {
		return nil, new(resource.Fail(resource.ReasonNotFound, resource.RetrySlow, "the resource does not exist any more")), nil
	}
	if err != nil {
		stop, err := e.settings.Failures.Request(ctx, err, e.values)
		return nil, stop, err
	}
	body, err := resource.DecodeBody(response.Body)
	if err != nil || body == nil {
		return nil, new(resource.Fail(resource.ReasonFailed, resource.RetrySlow, "the response to the GET is no JSON object (ARM request ID "+response.RequestID+")")), nil
	}
	return body, nil, nil
}

// actionFailed is Failures.Request for an action: what ARM refuses for a reason that stays is
// ExportRefused.
func (e *Exporter) actionFailed(ctx context.Context, action string, err error) (*resource.Verdict, error) {
	failure, refused := errors.AsType[*arm.Error](err)
	if !refused || failure.Transient() || failure.Class == arm.ClassThrottled || failure.Class == arm.ClassConflict || failure.Code == arm.CodeReadOnly {
		return e.settings.Failures.Request(ctx, err, e.values)
	}
	verdict := e.settings.Failures.Verdict(ctx, err, e.values)
	class, why := resource.RetryVerySlow, "Azure refuses the action "+action
	if failure.Denial || failure.Status == http.StatusForbidden {
		class = resource.RetrySlow
		why = fmt.Sprintf("the resource's credential may not list the value; it needs %s/%s/action", e.desired.ID.Type(), action)
	}
	stop := resource.Fail(resource.ReasonExportRefused, class, why+". Response: "+verdict.Message)
	stop.RequestID = verdict.RequestID
	return &stop, nil
}
