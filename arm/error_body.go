package arm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/internal/text"
)

// Bounds of the parts of an error body that an Error keeps.
const (
	maxMessageRunes = 1000
	// maxDetailedRunes bounds a message with its details.
	maxDetailedRunes = 3000
	maxDetails       = 20
	maxErrorDepth    = 6
)

// policyViolation is the type of additionalInfo in the refusal of a policy.
const policyViolation = "PolicyViolation"

// queryPattern matches a URL with a query.
var queryPattern = regexp.MustCompile(`(://[^\s'"?<>]+)\?[^\s'"<>]*`)

// newError returns the classified error of a response to a request of the given
// method.
func newError(method string, status int, header http.Header, payload []byte, now clock) *Error {
	e := parseError(payload)
	e.Status = status
	e.RequestID = answerID(header, headerRequestID)
	e.RetryAfter = now.retryAfter(header)
	if e.Message == "" {
		e.Message = fallbackMessage(header.Get("Content-Type"), payload)
	}
	e.classify(method)
	if e.RetryAfter == 0 && (e.Class == ClassThrottled || e.Class == ClassConflict) {
		e.RetryAfter = retryAfterIn(e.Message)
	}
	return e
}

// parseError reads code, message, target and details from all the shapes in
// recorded traffic: error.{code,message,details,innerError}, the same at top
// level in either case, RFC 7807, numeric codes. Any other body gives an empty
// Error.
func parseError(payload []byte) *Error {
	body := decodeObject(string(payload))
	if body == nil {
		return &Error{}
	}
	top := body
	for depth := range maxErrorDepth {
		inner := innerError(top)
		hasCode := textField(top, "code") != "" // beside an envelope it is a copy
		if inner == nil || hasCode && (depth > 0 || !isEnvelope(top)) {
			break
		}
		top = inner
	}
	e := &Error{
		Code:    codeField(top, "code"),
		Message: sanitizeMessage(textField(top, "message")),
		Target:  sanitizeMessage(textField(top, "target")),
	}
	if e.Code == "" { // OAuth: {"error":"invalid_client","error_description":"..."}
		e.Code = codeField(body, "error")
	}
	if e.Message == "" { // RFC 7807, OAuth
		e.Message = sanitizeMessage(joinNonEmpty(": ", textField(top, "title"), textField(top, "detail"), textField(body, "error_description")))
	}
	e.addDetails(top, 0)
	for i, item := range asList(jsontree.Value(body, "errors")) {
		if i > 0 {
			e.addDetail(item, 0)
		}
	}
	e.addEmbedded(textField(top, "message"))
	e.namePolicies()
	return e
}

// innerError returns the error that an envelope contains: error, OData's form of it, or
// the first one of errors; nil without one.
func innerError(node map[string]any) map[string]any {
	for _, name := range []string{"error", "odata.error"} {
		if inner, ok := jsontree.Value(node, name).(map[string]any); ok && len(inner) > 0 {
			return inner
		}
	}
	if list, _ := jsontree.Value(node, "errors").([]any); len(list) > 0 {
		if inner, _ := list[0].(map[string]any); textField(inner, "code") != "" {
			return inner
		}
	}
	return nil
}

// isEnvelope reports whether an error is in the member that ARM's contract names, whose
// codes count more than copies beside it.
func isEnvelope(node map[string]any) bool {
	_, ok := jsontree.Value(node, "error").(map[string]any)
	return ok
}

// namePolicies adds the policy assignments that refused the request to the
// message, which often reports only that there is one.
func (e *Error) namePolicies() {
	for _, detail := range e.Details {
		if !strings.EqualFold(detail.Code, policyViolation) || detail.Target == "" || strings.Contains(e.Message, detail.Target) {
			continue
		}
		e.Message = strings.TrimSpace(fmt.Sprintf("%s Policy assignment: %s.", e.Message, joinNonEmpty(" ", detail.Message, "("+detail.Target+")")))
	}
}

// nameDetails adds to the message its target, and the text and target of each detail that it
// lacks: "5 errors occurred" alone says nothing. It runs after the classification, which judges
// the message of the error itself.
func (e *Error) nameDetails() {
	missing := func(text string) bool { return text != "" && !strings.Contains(e.Message, text) }
	if missing(e.Target) {
		e.Message = joinNonEmpty(" ", e.Message, "(target "+e.Target+")")
	}
	for i, detail := range e.Details {
		if strings.EqualFold(detail.Code, policyViolation) || !missing(detail.Message) {
			continue
		}
		target := ""
		if missing(detail.Target) {
			target = detail.Target
		}
		added := joinNonEmpty("; ", e.Message, joinNonEmpty(": ", target, detail.Message))
		if utf8.RuneCountInString(added) > maxDetailedRunes {
			e.Message = fmt.Sprintf("%s; and %d more details", e.Message, len(e.Details)-i)
			return
		}
		e.Message = added
	}
}

// addEmbedded adds the error of another service that a provider repeats as JSON in its message.
func (e *Error) addEmbedded(message string) {
	start := strings.Index(message, "{\"")
	if start < 0 {
		return
	}
	node := decodeObject(message[start:])
	if inner, ok := jsontree.Value(node, "error").(map[string]any); ok {
		node = inner
	}
	if code := codeField(node, "code"); code != "" && !strings.EqualFold(code, e.Code) {
		e.addDetail(node, 0)
	}
}

// addDetails appends details, inner errors and policy violations, outermost first.
func (e *Error) addDetails(node map[string]any, depth int) {
	if depth > maxErrorDepth {
		return
	}
	for _, item := range asList(jsontree.Value(node, "details")) {
		e.addDetail(item, depth)
	}
	if inner, ok := jsontree.Value(node, "innererror").(map[string]any); ok {
		e.addDetail(inner, depth)
	}
	for _, item := range asList(jsontree.Value(node, "additionalInfo")) {
		info, _ := item.(map[string]any)
		if kind := textField(info, "type"); strings.EqualFold(kind, policyViolation) && len(e.Details) < maxDetails {
			violation, _ := jsontree.Value(info, "info").(map[string]any)
			e.Details = append(e.Details, Detail{
				Code:    kind,
				Message: sanitizeMessage(joinNonEmpty(": ", textField(violation, "policyAssignmentDisplayName"), textField(violation, "policyDefinitionDisplayName"))),
				Target:  sanitizeMessage(textField(violation, "policyAssignmentId")),
			})
		}
	}
}

func (e *Error) addDetail(item any, depth int) {
	node, ok := item.(map[string]any)
	if !ok || len(e.Details) >= maxDetails {
		return
	}
	detail := Detail{Code: codeField(node, "code"), Message: sanitizeMessage(textField(node, "message")), Target: sanitizeMessage(textField(node, "target"))}
	if detail != (Detail{}) {
		detail.Explained = len(asList(jsontree.Value(node, "details"))) > 0
		e.Details = append(e.Details, detail)
	}
	e.addDetails(node, depth+1)
}

// decodeObject returns the JSON object at the beginning of a text, nil without one.
func decodeObject(text string) map[string]any {
	var object map[string]any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if decoder.Decode(&object) != nil {
		return nil
	}
	return object
}

// textField returns a property of type text or number, else "".
func textField(node map[string]any, name string) string {
	switch value := jsontree.Value(node, name).(type) {
	case string:
		return strings.TrimSpace(value)
	case json.Number:
		return value.String()
	case map[string]any: // OData: {"lang":"en-US","value":"..."}
		text, _ := jsontree.Value(value, "value").(string)
		return strings.TrimSpace(text)
	}
	return ""
}

// codePattern matches what ARM uses as error codes.
var codePattern = regexp.MustCompile(`^[A-Za-z0-9._-]{1,80}$`)

// codeField returns a field that is an error code, "" for any other text: a code becomes
// a reason, which terminals, pages, search attributes and metrics show as it is.
func codeField(node map[string]any, name string) string {
	code := textField(node, name)
	if !codePattern.MatchString(code) {
		return ""
	}
	return code
}

// asList returns a list, or a single object as a list of one.
func asList(value any) []any {
	switch value := value.(type) {
	case []any:
		return value
	case map[string]any:
		return []any{value}
	}
	return nil
}

// joinNonEmpty joins the parts that are not empty.
func joinNonEmpty(separator string, parts ...string) string {
	var kept []string
	for _, part := range parts {
		if part != "" {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, separator)
}

// fallbackMessage returns a message for a response without one.
func fallbackMessage(contentType string, payload []byte) string {
	kind, _, _ := strings.Cut(contentType, ";")
	switch {
	case len(bytes.TrimSpace(payload)) == 0:
		return "the response has no body"
	case kind == "" || strings.Contains(kind, "json"):
		return "the response gives no reason"
	}
	message := fmt.Sprintf("the response is %s, not JSON", sanitizeMessage(kind))
	if line := firstLine(kind, payload); line != "" {
		message += ": " + line
	}
	return message
}

// maxLineRunes bounds the line of a response that is no JSON.
const maxLineRunes = 120

var (
	titlePattern = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)
	tagPattern   = regexp.MustCompile(`(?s)<[^>]*>`)
	// wordPattern matches the words of a sentence and statuses, and no value of a body: proxies
	// repeat requests in forms that no scrubber of secrets knows.
	wordPattern = regexp.MustCompile(`^[("']?(?:[A-Za-z]{1,16}(?:[-/'][A-Za-z]{1,16})?|[0-9]{1,3}(?:\.[0-9])?)[)"',.:;!?]*$|^[-–—|]$`)
)

// firstLine returns the title of a page, or the first line of a text. A word that may be a value
// is left out.
func firstLine(kind string, payload []byte) string {
	shown := string(payload[:min(len(payload), maxMessageRunes*4)])
	if title := titlePattern.FindStringSubmatch(shown); title != nil {
		shown = title[1]
	} else if strings.Contains(kind, "html") || strings.Contains(kind, "xml") {
		shown = tagPattern.ReplaceAllString(shown, "\n")
	}
	line, _, _ := strings.Cut(strings.TrimSpace(shown), "\n")
	words := strings.Fields(line)
	for i, word := range words {
		if !wordPattern.MatchString(word) {
			words[i] = "…"
		}
	}
	if !strings.ContainsFunc(strings.Join(words, ""), unicode.IsLetter) {
		return ""
	}
	return text.Cut(strings.Join(words, " "), maxLineRunes)
}

// sanitizeMessage shortens a message and removes the queries of its URLs: the URLs
// of operations are signed, and ARM repeats them ("to retrieve status use uri").
func sanitizeMessage(message string) string {
	if strings.Contains(message, "://") {
		message = queryPattern.ReplaceAllString(message, "$1")
	}
	message = strings.ToValidUTF8(strings.TrimSpace(message), "")
	return text.Cut(message, maxMessageRunes)
}
