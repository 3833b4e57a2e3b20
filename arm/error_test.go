package arm

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestErrorShapes(t *testing.T) {
	cases := map[string]struct {
		reason string
		body   string
		want   Error
	}{
		"Envelope": {
			reason: "ARM's own shape",
			body:   `{"error":{"code":"A","message":"m","target":"t","details":[{"code":"B","message":"n","target":"u"}]}}`,
			want:   Error{Code: "A", Message: "m", Target: "t", Details: []Detail{{Code: "B", Message: "n", Target: "u"}}},
		},
		"TopLevel": {
			reason: "the container service omits the envelope",
			body:   `{"code":"NotFound","details":[{"code":"Unspecified","message":"rpc"}],"message":"m"}`,
			want:   Error{Code: "NotFound", Message: "m", Details: []Detail{{Code: "Unspecified", Message: "rpc"}}},
		},
		"Capitals": {
			reason: "the web provider writes capitals, with empty details",
			body:   `{"Code":"NotFound","Message":"m","Target":null,"Details":[{"Message":"n"},{"Code":"X"},{"ErrorEntity":{}}]}`,
			want:   Error{Code: "NotFound", Message: "m", Details: []Detail{{Message: "n"}, {Code: "X"}}},
		},
		"MessageOnly": {
			reason: "a 405 of API management",
			body:   `{"Message":"no GET"}`,
			want:   Error{Message: "no GET"},
		},
		"InnerErrors": {
			reason: "Machine Learning nests the useful code",
			body:   `{"error":{"code":"UserError","message":"m","innerError":{"code":"NotFound","innerError":{"code":"Deep"}}}}`,
			want:   Error{Code: "UserError", Message: "m", Details: []Detail{{Code: "NotFound"}, {Code: "Deep"}}},
		},
		"EmptyEnvelopeWithCopy": {
			reason: "an empty envelope beside the error",
			body:   `{"error":{},"code":"A","message":"m"}`,
			want:   Error{Code: "A", Message: "m"},
		},
		"NumericCode": {
			reason: "a number becomes its digits",
			body:   `{"error":{"code":40401,"message":"m"}}`,
			want:   Error{Code: "40401", Message: "m"},
		},
		"RFC7807": {
			reason: "title and detail form the message",
			body:   `{"type":"description:blank","title":"Bad Request","status":400,"detail":"no such thing"}`,
			want:   Error{Message: "Bad Request: no such thing"},
		},
		"NestedEnvelope": {
			reason: "an envelope inside an envelope",
			body:   `{"error":{"error":{"code":"A","message":"m"}}}`,
			want:   Error{Code: "A", Message: "m"},
		},
		"CodeBesideInner": {
			reason: "a code of the envelope is not lost",
			body:   `{"error":{"code":"A","message":"m","error":{"code":"B"}}}`,
			want:   Error{Code: "A", Message: "m"},
		},
		"List": {
			reason: "the first one of a list of errors, with the others as details",
			body:   `{"errors":[{"code":"A","message":"m"},{"code":"B"}]}`,
			want:   Error{Code: "A", Message: "m", Details: []Detail{{Code: "B"}}},
		},
		"Fields": {
			reason: "a validation problem lists fields, not errors",
			body:   `{"title":"Bad","errors":{"sku":["is required"]}}`,
			want:   Error{Message: "Bad"},
		},
		"OData": {
			reason: "OData nests the message",
			body:   `{"odata.error":{"code":"A","message":{"lang":"en-US","value":"m"}}}`,
			want:   Error{Code: "A", Message: "m"},
		},
		"OAuth": {
			reason: "error is a string here",
			body:   `{"error":"invalid_client","error_description":"AADSTS7000215"}`,
			want:   Error{Code: "invalid_client", Message: "AADSTS7000215"},
		},
		"Policy": {
			reason: "a denial by policy names the assignment",
			body: `{"error":{"code":"RequestDisallowedByPolicy","message":"m","additionalInfo":[{"type":"PolicyViolation",
				"info":{"policyAssignmentDisplayName":"Only EU","policyAssignmentId":"/subscriptions/s/a"}},{"type":"Other"}]}}`,
			want: Error{Code: "RequestDisallowedByPolicy", Message: "m Policy assignment: Only EU (/subscriptions/s/a).", Details: []Detail{{Code: "PolicyViolation", Message: "Only EU", Target: "/subscriptions/s/a"}}},
		},
		"SignedURL": {
			reason: "ARM repeats operation URLs in messages; their queries are signed",
			body:   `{"error":{"code":"A","message":"use uri: https://h/op/1?t=1&s=signed."}}`,
			want:   Error{Code: "A", Message: "use uri: https://h/op/1"},
		},
		"Embedded": {
			reason: "a provider repeats another provider's error in its message",
			body:   `{"error":{"code":"BadRequest","message":"Conflict response body: {\"error\":{\"code\":\"ThingIsNotProvisioned\",\"message\":\"m\"}}"}}`,
			want: Error{Code: "BadRequest", Message: `Conflict response body: {"error":{"code":"ThingIsNotProvisioned","message":"m"}}`,
				Details: []Detail{{Code: "ThingIsNotProvisioned", Message: "m"}}},
		},
		"EmbeddedNoJSON": {"a brace is no JSON", `{"error":{"code":"A","message":"use {\"name"}}`, Error{Code: "A", Message: `use {"name`}},
		"HTML":           {"no JSON at all", `<html>`, Error{}},
		"Empty":          {"no body", ``, Error{}},
		"String":         {"JSON, but no object", `"oops"`, Error{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(&tc.want, parseError([]byte(tc.body))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestErrorBodyIsBounded(t *testing.T) {
	deep := strings.Repeat(`{"code":"X","innererror":`, 60) + `{}` + strings.Repeat(`}`, 60)
	wide := `[` + strings.Repeat(`{"code":"X"},`, 200) + `{}]`
	e := parseError([]byte(`{"error":{"code":"A","message":"` + strings.Repeat("ü", 5000) + `","details":` + wide + `,"innererror":` + deep + `}}`))
	if len(e.Details) != maxDetails || len([]rune(e.Message)) != maxMessageRunes {
		t.Errorf("got %d details and %d runes", len(e.Details), len([]rune(e.Message)))
	}
}

func TestErrorText(t *testing.T) {
	e := &Error{Status: 429, Code: "RetryableError", Message: "m", Details: []Detail{{Code: "Unspecified"}, {Code: "Inner"}}, RequestID: "r"}
	if got, want := e.Error(), "429 Too Many Requests RetryableError/Inner: m (request ID r)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTransient(t *testing.T) {
	for status, want := range map[int]bool{408: true, 500: true, 503: true, 504: true, 501: false, 429: false, 404: false, 409: false, 200: false} {
		if got := (&Error{Status: status}).Transient(); got != want {
			t.Errorf("%d: got %t", status, got)
		}
	}
}

func TestClassify(t *testing.T) {
	cases := map[string]struct {
		reason string
		status int
		code   string
		nested []string
		want   Class
	}{
		"Absent":                {"a specific code", 404, "ResourceNotFound", nil, ClassAbsent},
		"AbsentIgnoresCase":     {"codes compare ignoring case", 404, "resourcenotfound", nil, ClassAbsent},
		"AbsentParent":          {"without a parent there is no child", 404, "ParentResourceNotFound", nil, ClassAbsent},
		"AbsentNeeds404":        {"with another status the code is about a resource that the request names", 400, "ResourceNotFound", nil, ClassSlow},
		"AbsentInEnvelope":      {"with a generic code the nested code decides", 404, "UserError", []string{"NotFound"}, ClassAbsent},
		"AbsentInUnknown":       {"inside an unknown code it does not prove absence", 404, "SomethingNew", []string{"NotFound"}, ClassSlow},
		"AbsentContradicted":    {"a contradicting nested code wins", 404, "NotFound", []string{"SubscriptionNotFound"}, ClassVerySlow},
		"Subscription":          {"the resource's existence is unknown", 404, "SubscriptionNotFound", nil, ClassVerySlow},
		"Type":                  {"a wrong type is an error of the manifest", 404, "InvalidResourceType", nil, ClassNone},
		"Unknown404":            {"an unknown 404 is an error", 404, "VaultNotFoundOrSo", nil, ClassSlow},
		"Bare404":               {"so is a 404 without a code", 404, "", nil, ClassSlow},
		"Unknown400":            {"most unknown 400 succeeded on a retry", 400, "SomethingNew", nil, ClassSlow},
		"Unknown409":            {"409 is a conflict", 409, "SomethingNew", nil, ClassConflict},
		"Final409":              {"the code precedes the status", 409, "PropertyChangeNotAllowed", nil, ClassNone},
		"Locked":                {"a lock is intentional", 409, "ScopeLocked", nil, ClassVerySlow},
		"Unknown429":            {"a 429 is throttling", 429, "SomethingNew", nil, ClassThrottled},
		"Conflict429":           {"this 429 is a conflict", 429, "RetryableErrorDueToAnotherOperation", nil, ClassConflict},
		"WrappedConflict429":    {"the detail is a conflict", 429, "RetryableError", []string{"Unspecified", "ReferencedResourceNotProvisioned"}, ClassConflict},
		"WrappedInBadRequest":   {"the specific code is often nested", 400, "BadRequest", []string{"AnotherOperationInProgress"}, ClassConflict},
		"PlainBadRequest":       {"a generic code: most recorded ones succeeded on a retry", 400, "BadRequest", []string{"Whatever"}, ClassSlow},
		"WordOfACode":           {"words of an unknown code decide", 400, "SomethingNotProvisioned", nil, ClassSlow},
		"StateBeforeValue":      {"an invalid state is transient", 409, "InvalidThingState", nil, ClassSlow},
		"WrongValue":            {"an invalid value is not transient", 400, "InvalidThing", nil, ClassVerySlow},
		"WordOfANestedCode":     {"inside a generic envelope", 400, "BadRequest", []string{"ThingAlreadyTaken"}, ClassVerySlow},
		"WordInAConflict":       {"a 409 with a decisive word", 409, "ThingAlreadyExists", nil, ClassVerySlow},
		"WordOfAFailure":        {"the service failed, whatever the code", 503, "ServerBusy", nil, ClassSlow},
		"WordOfA429":            {"a 429 is throttling unless a word means a conflict", 429, "InternalSomething", nil, ClassThrottled},
		"ConflictWordOfA429":    {"a word that means a conflict", 429, "ThingInProgress", nil, ClassConflict},
		"WordBusy":              {"a word that means a conflict", 200, "ThingIsBusy", nil, ClassConflict},
		"UnknownAroundKnown":    {"with an unknown code the nested code decides too", 400, "SomethingNew", []string{"SkuNotAvailable"}, ClassVerySlow},
		"KnownKeepsItsClass":    {"a specific code precedes a nested one", 400, "InvalidResourceReference", []string{"NotFound"}, ClassSlow},
		"Unauthorized":          {"a new token may succeed", 401, "", nil, ClassSlow},
		"Forbidden":             {"role assignments take minutes", 403, "Whatever", nil, ClassSlow},
		"MethodNotAllowed":      {"the type has no GET", 405, "", nil, ClassVerySlow},
		"PreconditionFailed":    {"the ETag is outdated", 412, "", nil, ClassConflict},
		"Server":                {"the service failed", 503, "", nil, ClassSlow},
		"OperationFailed":       {"a failed operation returns 200", 200, "Whatever", nil, ClassSlow},
		"OperationConflict":     {"a failed operation that conflicted with another one", 200, "Conflict", nil, ClassConflict},
		"NestedGenericIsPassed": {"an envelope inside an envelope is skipped", 404, "UserError", []string{"BadRequest", "ResourceNotFound"}, ClassAbsent},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e := &Error{Status: tc.status, Code: tc.code}
			for _, code := range tc.nested {
				e.Details = append(e.Details, Detail{Code: code})
			}
			row := e.Row()
			if row.Class != tc.want || row.Reason == "" || row.Source == "" {
				t.Errorf("%s: got %+v, want class %s", tc.reason, row, tc.want)
			}
		})
	}
}

// TestClassifyByMessage: with a generic code the message decides.
func TestClassifyByMessage(t *testing.T) {
	cases := map[string]struct {
		reason  string
		status  int
		code    string
		message string
		want    Class
	}{
		"State":       {"the state of something else", 400, "BadRequest", "The originGroup was not found.", ClassSlow},
		"Value":       {"a wrong value", 400, "BadRequest", "The name must be shorter.", ClassVerySlow},
		"Both":        {"the state comes first", 400, "BadRequest", "Invalid request: the thing does not exist.", ClassSlow},
		"Neither":     {"slow is the default", 400, "BadRequest", "No.", ClassSlow},
		"NoCode":      {"no code at all", 400, "", "The name must be shorter.", ClassVerySlow},
		"UnknownCode": {"an unknown code", 422, "Oops", "The value is out of range.", ClassVerySlow},
		"Operation":   {"an operation that failed", 200, "BadRequest", "The name must be shorter.", ClassVerySlow},
		"Invalid":     {"invalid is a state as often as a value", 400, "InvalidRequest", "The server is not ready.", ClassSlow},
		"Telling":     {"a telling code is not overruled", 400, "ThingUnsupported", "The server is not ready.", ClassVerySlow},
		"Final":       {"a final code is final", 400, "MissingRequiredParameter", "The parameter sku is missing.", ClassNone},
		"FinalNot":    {"unless its message names what may pass", 400, "InvalidRequestContent", "The referenced workspace was not found.", ClassVerySlow},
		"OtherStatus": {"a message decides nothing elsewhere", 404, "Oops", "The name must be shorter.", ClassSlow},
		"Server":      {"nor where the service failed", 500, "", "The value must be set.", ClassSlow},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if row := (&Error{Status: tc.status, Code: tc.code, Message: tc.message}).Row(); row.Class != tc.want || row.Source == "" {
				t.Errorf("%s: got %+v, want class %s", tc.reason, row, tc.want)
			}
		})
	}
}

func TestErrorTableIsConsistent(t *testing.T) {
	seen := map[string]bool{}
	var absent, final int
	for _, row := range codeRows {
		key := strings.ToLower(row.Code)
		if key == "" || seen[key] || row.Reason == "" || row.Source == "" || row.Class == "" || row.Status != 0 {
			t.Errorf("row %+v is a duplicate or incomplete", row)
		}
		seen[key] = true
		if row.Class == ClassAbsent {
			absent++
		}
		if row.Class == ClassNone {
			final++
		}
	}
	if absent != 6 || final != 5 {
		t.Errorf("got %d absent and %d final codes: extending these lists needs a decision", absent, final)
	}
	for _, row := range slices.Concat(wordRows, phraseRows) {
		key := row.Word + " " + row.Phrase
		if seen[key] || key != strings.ToLower(key) || row.Reason == "" || row.Source == "" {
			t.Errorf("row %+v is a duplicate, not in lower case or incomplete", row)
		}
		seen[key] = true
		if row.Class == ClassAbsent || row.Class == ClassNone {
			t.Errorf("row %+v: words of a code must not decide absent or final", row)
		}
	}
	rows := statusRows
	if last := rows[len(rows)-1]; last.Status != 0 || last.Class != ClassSlow {
		t.Errorf("the default row is %+v", last)
	}
}

func TestAbsentCodeOfPut(t *testing.T) {
	body := []byte(`{"error":{"code":"ResourceGroupNotFound","message":"m"}}`)
	now := clock(nil)
	if got := newError(http.MethodPut, 404, http.Header{}, body, now).Class; got != ClassSlow {
		t.Errorf("got %s for a PUT, want %s: its group is missing", got, ClassSlow)
	}
	if err := newError(http.MethodGet, 404, http.Header{}, body, now); !IsAbsent(err) {
		t.Errorf("got %s for a GET", err.Class)
	}
}
