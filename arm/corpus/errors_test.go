package corpus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/arm"
)

// recordedError is one distinct recorded failure.
type recordedError struct {
	Via, Method, Type, APIVersion, Observed string
	Status, Count                           int
	Code, Message, BodyShape, Body          text
	Headers                                 map[string]text
	EventuallySucceeded                     bool
}

// tally counts the errors of one kind, weighted by their count.
type tally struct {
	retryable, retried  int
	passed, soon        int
	terminal, stopped   int
	absences, believed  int
	unsupported, absent int
}

// TestCorpusErrors sends every recorded error through the real client and compares
// the class with the later outcome of the same request.
func TestCorpusErrors(t *testing.T) {
	lines := read[recordedError](t, "errors.jsonl.gz")
	w := newWorld(t)
	var all tally
	for _, line := range lines {
		failure, err := w.provoke(t, line)
		if err != nil {
			t.Errorf("%s %s %d %s: %v", line.Method, line.Type, line.Status, line.Via, err)
			continue
		}
		all.add(t, line, failure)
	}
	score("errors.retryable", all.retried, all.retryable)
	score("errors.fastenough", all.soon, all.passed)
	score("errors.terminal", all.stopped, all.terminal)
	t.Logf("%d errors; %d of %d absences are believed", len(lines), all.believed, all.absences)
	if all.retried < all.retryable || all.stopped*10 < all.terminal*9 || all.soon*100 < all.passed*97 || all.absent > 0 {
		t.Errorf("the table misclassifies: %+v", all)
	}
}

// add counts one error.
func (a *tally) add(t *testing.T, line recordedError, failure *arm.Error) {
	t.Helper()
	name := fmt.Sprintf("%d x %s %s %s (%s): class %s", line.Count, line.Method, line.Type, failure, line.Observed, failure.Class)
	switch line.Observed {
	case "retryable":
		a.retryable += line.Count
		if failure.Class == arm.ClassNone || failure.Class == arm.ClassAbsent {
			t.Logf("not retried: %s", name)
			return
		}
		a.retried += line.Count
		if line.EventuallySucceeded {
			a.passed += line.Count
			if failure.Class != arm.ClassVerySlow {
				a.soon += line.Count
				return
			}
			t.Logf("not soon: %s", name)
		}
	case "terminal":
		a.terminal += line.Count
		if failure.Class != arm.ClassVerySlow && failure.Class != arm.ClassNone {
			t.Logf("too soon: %s", name)
			return
		}
		a.stopped += line.Count
	case "absent", "gone":
		a.absences += line.Count
		if failure.Class == arm.ClassAbsent {
			a.believed += line.Count
			return
		}
		t.Logf("not believed: %s", name)
	default:
		a.unsupported += line.Count
		if failure.Class == arm.ClassAbsent {
			a.absent += line.Count
			t.Logf("taken for absent: %s", name)
		}
	}
}

// provoke makes the client receive an error in the step in which it was recorded.
func (w *world) provoke(t *testing.T, line recordedError) (*arm.Error, error) {
	t.Helper()
	answers := []reply{{status: line.Status, header: line.Headers, body: line.answer()}}
	switch line.Via {
	case "lro-poll":
		answers = append([]reply{{status: http.StatusAccepted, header: map[string]text{"Azure-AsyncOperation": text(w.server.URL + "/operations/1")}}}, answers...)
	case "resource-state":
		line.Method = http.MethodPut // the response has the state of the GET
	}
	w.play = &replies{left: answers}
	failure, err := w.sendAndPoll(t, line)
	if failure == nil {
		var answer *arm.Error
		if !errors.As(err, &answer) {
			return nil, fmt.Errorf("it is not an error of ARM: %w", err)
		}
		failure = answer
	}
	return failure, nil
}

// sendAndPoll sends the request and, for an operation, polls once.
func (w *world) sendAndPoll(t *testing.T, line recordedError) (*arm.Error, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	id := idOf(t, line.Type)
	var op arm.Operation
	var err error
	switch line.Method {
	case http.MethodPut, http.MethodPatch:
		op, err = w.client.Put(ctx, id, versionOf(line.APIVersion), []byte(`{}`), arm.PutOptions{})
	case http.MethodDelete:
		op, err = w.client.Delete(ctx, id, versionOf(line.APIVersion), arm.DeleteOptions{})
		if err == nil && op.Status == http.StatusNotFound {
			return &arm.Error{Status: op.Status, Class: arm.ClassAbsent}, nil
		}
	case http.MethodPost:
		op, err = w.client.Post(ctx, id, "action", versionOf(line.APIVersion), nil)
	default:
		_, err = w.client.Get(ctx, id, versionOf(line.APIVersion))
	}
	if err != nil || op.Token == "" {
		return op.Err, err
	}
	poll, err := w.client.Poll(ctx, op.Token)
	return poll.Err, err
}

// answer returns the recorded body; a truncated one is rebuilt from its fields.
func (e recordedError) answer() string {
	if e.Code == "" || e.BodyShape == "html/text" || json.Valid([]byte(e.Body)) {
		return string(e.Body)
	}
	raw, err := json.Marshal(map[string]any{"status": "Failed", "error": map[string]any{"code": e.Code, "message": e.Message}})
	if err != nil {
		return string(e.Body)
	}
	return string(raw)
}

type reply struct {
	status int
	header map[string]text
	body   string
}

// replies are sent in order; the last one is repeated.
type replies struct{ left []reply }

func (p *replies) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	next := p.left[0]
	if len(p.left) > 1 {
		p.left = p.left[1:]
	}
	w.Header().Set("Content-Type", "application/json")
	for name, value := range next.header {
		if !strings.EqualFold(name, "Content-Length") {
			w.Header().Set(name, string(value))
		}
	}
	w.WriteHeader(next.status)
	_, _ = io.WriteString(w, next.body)
}
