package extensionhost

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/armature-io/armature/resource"
)

// passOn checks a call of next: a link gives it the objects that it got, or copies of them,
// and calls it once. given and passed are in the same order. A nil or another resource is
// an error, because the rest of the chain would decide about the wrong one. A second call
// is logged once for each link.
func (l *linkCall) passOn(ctx context.Context, log *slog.Logger, given, passed []*resource.Object) error {
	l.mu.Lock()
	l.nexts++
	again := l.nexts == 2
	l.mu.Unlock()
	if again && log != nil && l.calledTwice(l.link) {
		log.WarnContext(ctx, "extension called next more than once in one call", "extension", nameOf(l.link), "point", l.point)
	}
	for i, object := range given {
		var got string
		switch {
		case object == nil:
			continue
		case passed[i] == nil:
			got = "nil"
		case !passed[i].ID.Equal(object.ID):
			got = passed[i].ID.String()
			if passed[i].ID.IsZero() {
				got = "an object without an ID"
			}
		default:
			continue
		}
		err := &linkError{link: l.link, point: l.point, err: fmt.Errorf(
			"it called next in %s with %s instead of %s; pass on what the link was called with", l.point, got, object.ID.Short())}
		l.mu.Lock()
		l.misuse = err
		l.mu.Unlock()
		return err
	}
	return nil
}

// didNotCallNext reports whether the link has not called next.
func (l *linkCall) didNotCallNext() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.nexts == 0
}

// checkResult returns an error for a result of a link that Armature cannot show or act on.
// The error contains the message of the result.
func checkResult(point string, verdict resource.Verdict) error {
	var problem string
	switch {
	case verdict.Action != resource.ActionSkip && !verdict.Stops():
		return nil
	case verdict.Stops() && strings.TrimSpace(verdict.Message) == "":
		return fmt.Errorf("it returned a block without a message in %s; state what the resource waits for", point)
	case !isReason(verdict.Reason):
		problem = fmt.Sprintf("the invalid reason %q in %s; use one word of at most %d bytes, such as QuotaExceeded", cut(string(verdict.Reason)), point, maxReasonBytes)
	case !isSeverity(verdict.Severity):
		problem = fmt.Sprintf("the invalid severity %q in %s; use Info, Warning or Error", cut(string(verdict.Severity)), point)
	case slices.ContainsFunc(verdict.WaitingFor, resource.ID.IsZero):
		problem = fmt.Sprintf("an empty resource ID in %s to wait for; WithWaitingFor needs the ID that was read", point)
	case verdict.Stops() && !isRetryClass(verdict.Class):
		problem = fmt.Sprintf("the invalid retry class %q in %s; use Fast, Slow, VerySlow or None", cut(string(verdict.Class)), point)
	default:
		return nil
	}
	return fmt.Errorf("it returned %s; its message was: %s", problem, verdict.Message)
}

// cut bounds an invalid word in a message.
func cut(word string) string {
	if runes := []rune(word); len(runes) > maxReasonBytes {
		return string(runes[:maxReasonBytes]) + "…"
	}
	return word
}

// isReason reports whether a reason is one word that a search attribute can hold.
func isReason(reason resource.Reason) bool {
	text := string(reason)
	return text != "" && len(text) <= maxReasonBytes && utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsSpace)
}

// isSeverity reports whether a severity is one of the four.
func isSeverity(severity resource.Severity) bool {
	switch severity {
	case resource.SeverityNone, resource.SeverityInfo, resource.SeverityWarning, resource.SeverityError:
		return true
	}
	return false
}

// checkPayload returns an error if a modifier addressed another resource: ARM takes id, name
// and type from the URL and refuses or ignores others in the body.
func checkPayload(id resource.ID, before, after map[string]any) error {
	own := map[string][]string{"id": {id.String()}, "type": {id.Type()}, "name": {id.Name(), id.Short()}}
	for _, key := range []string{"id", "name", "type"} {
		value, isText := after[key].(string)
		was, _ := before[key].(string)
		if after[key] == nil || isText && (value == was || equalFoldAny(value, own[key])) {
			continue
		}
		return fmt.Errorf("it set %s of the payload in %s: the URL of the PUT has the ID of the resource; remove %s", key, modifyPoint, key)
	}
	return nil
}

// equalFoldAny reports whether a text is one of words, ignoring case.
func equalFoldAny(text string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.EqualFold(text, word) })
}
