package arm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/armature-io/armature/internal/text"
)

// Bounds of what is kept of an error body.
const (
	maxMessageRunes = 1000
	maxDetails      = 20
	maxErrorDepth   = 6
)

// policyViolation is the type of additionalInfo with which a policy refuses.
const policyViolation = "PolicyViolation"

// newError reads the answer to a request of the given method.
func newError(method string, status int, header http.Header, payload []byte, wait clock) *Error {
	e := parseError(payload)
	e.Status = status
	e.RequestID = header.Get(headerRequestID)
	e.RetryAfter = wait.retryAfter(header)
	if e.Message == "" {
		e.Message = describe(header.Get("Content-Type"), payload)
	}
	e.classify(method)
	if e.RetryAfter == 0 && (e.Class == ClassThrottled || e.Class == ClassConflict) {
		e.RetryAfter = retryAfterIn(e.Message)
	}
	return e
}

// parseError reads code, message, target and details of all the shapes in
// recorded traffic: error.{code,message,details,innerError}, the same at top
// level in either case, RFC 7807, numeric codes. Anything else is an empty
// Error.
func parseError(payload []byte) *Error {
	var body map[string]any
	decoder := json.NewDecoder(bytes.NewReader(payload))
	decoder.UseNumber()
	if decoder.Decode(&body) != nil {
		return &Error{}
	}
	top := body
	if inner, ok := field(body, "error").(map[string]any); ok && len(inner) > 0 {
		top = inner
	}
	e := &Error{
		Code:    fieldText(top, "code"),
		Message: clean(fieldText(top, "message")),
		Target:  clean(fieldText(top, "target")),
	}
	if e.Code == "" { // OAuth: {"error":"invalid_client","error_description":"..."}
		e.Code = fieldText(body, "error")
	}
	if e.Message == "" { // RFC 7807, OAuth
		e.Message = clean(join(": ", fieldText(top, "title"), fieldText(top, "detail"), fieldText(body, "error_description")))
	}
	e.collect(top, 0)
	e.embedded(fieldText(top, "message"))
	e.namePolicies()
	return e
}

// namePolicies makes the message name the policy assignments that refused: what
// ARM says itself is often only that there is one.
func (e *Error) namePolicies() {
	for _, detail := range e.Details {
		if !strings.EqualFold(detail.Code, policyViolation) || detail.Target == "" || strings.Contains(e.Message, detail.Target) {
			continue
		}
		e.Message = strings.TrimSpace(fmt.Sprintf("%s Policy assignment: %s.", e.Message, join(" ", detail.Message, "("+detail.Target+")")))
	}
}

// embedded reads the error of somebody else that a provider repeats as JSON in
// its message: its code is the only news there.
func (e *Error) embedded(message string) {
	start := strings.Index(message, "{\"")
	if start < 0 {
		return
	}
	var node map[string]any
	decoder := json.NewDecoder(strings.NewReader(message[start:]))
	decoder.UseNumber()
	if decoder.Decode(&node) != nil {
		return
	}
	if inner, ok := field(node, "error").(map[string]any); ok {
		node = inner
	}
	if code := fieldText(node, "code"); code != "" && !strings.EqualFold(code, e.Code) && len(e.Details) < maxDetails {
		e.Details = append(e.Details, Detail{Code: code})
	}
}

// collect appends details, inner errors and policy violations, outermost first.
func (e *Error) collect(node map[string]any, depth int) {
	if depth > maxErrorDepth {
		return
	}
	for _, item := range list(field(node, "details")) {
		e.detail(item, depth)
	}
	if inner, ok := field(node, "innererror").(map[string]any); ok {
		e.detail(inner, depth)
	}
	for _, item := range list(field(node, "additionalInfo")) {
		info, _ := item.(map[string]any)
		if kind := fieldText(info, "type"); strings.EqualFold(kind, policyViolation) && len(e.Details) < maxDetails {
			named, _ := field(info, "info").(map[string]any)
			e.Details = append(e.Details, Detail{
				Code:    kind,
				Message: clean(join(": ", fieldText(named, "policyAssignmentDisplayName"), fieldText(named, "policyDefinitionDisplayName"))),
				Target:  clean(fieldText(named, "policyAssignmentId")),
			})
		}
	}
}

func (e *Error) detail(item any, depth int) {
	node, ok := item.(map[string]any)
	if !ok || len(e.Details) >= maxDetails {
		return
	}
	detail := Detail{Code: fieldText(node, "code"), Message: clean(fieldText(node, "message")), Target: clean(fieldText(node, "target"))}
	if detail != (Detail{}) {
		e.Details = append(e.Details, detail)
	}
	e.collect(node, depth+1)
}

// field finds a property ignoring case, for providers differ in it.
func field(node map[string]any, name string) any {
	if value, ok := node[name]; ok {
		return value
	}
	for key, value := range node {
		if strings.EqualFold(key, name) {
			return value
		}
	}
	return nil
}

func fieldText(node map[string]any, name string) string {
	switch value := field(node, name).(type) {
	case string:
		return strings.TrimSpace(value)
	case json.Number:
		return value.String()
	}
	return ""
}

func list(value any) []any {
	switch value := value.(type) {
	case []any:
		return value
	case map[string]any:
		return []any{value}
	}
	return nil
}

func join(separator string, parts ...string) string {
	var kept []string
	for _, part := range parts {
		if part != "" {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, separator)
}

// describe stands in for a message that the service did not give.
func describe(contentType string, payload []byte) string {
	kind, _, _ := strings.Cut(contentType, ";")
	switch {
	case len(bytes.TrimSpace(payload)) == 0:
		return "the answer has no body"
	case kind == "" || strings.Contains(kind, "json"):
		return "the answer gives no reason"
	}
	return fmt.Sprintf("the answer is %s, not JSON", clean(kind))
}

// clean cuts a message and takes the queries from its URLs: those of operations
// are signed, and ARM repeats them in messages ("to retrieve status use uri").
func clean(message string) string {
	if strings.Contains(message, "://") {
		message = regexp.MustCompile(`(://[^\s'"?<>]+)\?[^\s'"<>]*`).ReplaceAllString(message, "$1")
	}
	message = strings.ToValidUTF8(strings.TrimSpace(message), "")
	return text.Cut(message, maxMessageRunes)
}
