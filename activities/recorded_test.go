package activities

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/google/go-cmp/cmp"
)

// statedAt returns a time of the tests, by its minute.
func statedAt(minute int) time.Time {
	return time.Date(2026, 11, 20, 10, minute, 0, 0, time.UTC)
}

func TestStatements(t *testing.T) {
	cases := map[string]struct {
		reason   string
		recorded Statement
		own      Statement
		newer    bool
	}{
		"SameApply":     {reason: "the PUT of a pass is repeated", recorded: statementOf(3, statedAt(3), false), own: statementOf(3, statedAt(3), false)},
		"LaterApply":    {reason: "a later apply was written", recorded: statementOf(4, statedAt(4), false), own: statementOf(3, statedAt(3), false), newer: true},
		"NewerOwn":      {reason: "this is the later apply", recorded: statementOf(3, statedAt(3), false), own: statementOf(4, statedAt(4), false)},
		"OtherWorkflow": {reason: "another workflow counts from 1: the time decides", recorded: statementOf(7, statedAt(3), false), own: statementOf(1, statedAt(5), false)},
		"OldWorkflow":   {reason: "and the older one stays older with a higher generation", recorded: statementOf(1, statedAt(5), false), own: statementOf(7, statedAt(3), false), newer: true},
		"Milliseconds":  {reason: "a record keeps milliseconds", recorded: statementOf(3, statedAt(3), false), own: statementOf(3, statedAt(3).Add(400*time.Microsecond), false)},
		"GenerationsUp": {reason: "at the same time the generations decide", recorded: statementOf(4, statedAt(3), false), own: statementOf(3, statedAt(3), false), newer: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := c.recorded.newer(c.own); got != c.newer {
				t.Errorf("newer %t, want %t: %s", got, c.newer, c.reason)
			}
		})
	}
}

// TestGuardRecords writes and deletes with statements that are older, equal and newer than
// the record outside of the resource.
//
//guard:generation-fence
func TestGuardRecords(t *testing.T) {
	t.Parallel()
	document := func(s Statement) []byte {
		raw, err := json.Marshal(record{ID: strings.ToUpper(thingText), Statement: s})
		must(t, err)
		return raw
	}
	name := recordName(id(t, thingText))
	cases := map[string]struct {
		reason  string
		known   []byte
		own     int
		delete  bool
		absent  bool
		broken  error
		between func(d *documents, name string)
		sent    bool
		verdict resource.Reason
		// left is the record afterwards.
		left Statement
	}{
		"First":   {reason: "the first write records its statement", own: 4, sent: true, left: statementOf(4, statedAt(4), false)},
		"Same":    {reason: "a repeated one needs no record", known: document(statementOf(4, statedAt(4), false)), own: 4, sent: true, left: statementOf(4, statedAt(4), false)},
		"Older":   {reason: "a restored database is older", known: document(statementOf(5, statedAt(5), false)), own: 4, verdict: resource.ReasonOlderThanRecorded, left: statementOf(5, statedAt(5), false)},
		"Deleted": {reason: "it does not create again what was deleted since", known: document(statementOf(4, statedAt(5), true)), own: 4, absent: true, verdict: resource.ReasonOlderThanRecorded, left: statementOf(4, statedAt(5), true)},
		"Again":   {reason: "a user applied it again after the deletion", known: document(statementOf(4, statedAt(5), true)), own: 6, absent: true, sent: true, left: statementOf(6, statedAt(6), false)},
		"DeleteOlder": {reason: "nor does it delete what was applied again", known: document(statementOf(5, statedAt(5), false)), own: 4, delete: true,
			verdict: resource.ReasonOlderThanRecorded, left: statementOf(5, statedAt(5), false)},
		"Delete":  {reason: "a deletion is recorded", known: document(statementOf(4, statedAt(4), false)), own: 5, delete: true, sent: true, left: statementOf(5, statedAt(5), true)},
		"Silent":  {reason: "without the record nothing is written", own: 4, broken: errors.New("503"), verdict: resource.ReasonCheckFailed},
		"Garbage": {reason: "nor with one that says nothing", known: []byte("<html>"), own: 4, verdict: resource.ReasonCheckFailed},
		"Foreign": {reason: "nor with the one of another resource", known: []byte(`{"id":"/subscriptions/x","generation":1}`), own: 4, verdict: resource.ReasonCheckFailed},
		"Race": {reason: "another worker recorded a newer one between read and write", own: 4, verdict: resource.ReasonOlderThanRecorded, left: statementOf(5, statedAt(5), false),
			between: func(d *documents, name string) {
				if d.stored[name] == nil {
					d.put(name, document(statementOf(5, statedAt(5), false)))
				}
			}},
		"Contended": {reason: "a record that changes all the time is not believed", own: 4, verdict: resource.ReasonCheckFailed, left: statementOf(1, time.Time{}, false),
			between: func(d *documents, name string) { d.put(name, document(statementOf(1, time.Time{}, false))) }},
	}
	for label, c := range cases {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			kept := newDocuments()
			kept.err, kept.between = c.broken, c.between
			if c.known != nil {
				kept.put(name, c.known)
			}
			w := newWorld(t, func(s *setup) { s.options.Records = kept })
			w.put(groupText, `{"location":"westus2"}`)
			if !c.absent {
				w.put(thingText, `{"location":"westus2","properties":{"size":1}}`)
			}
			d := desired(t, thingText, `{"location":"westus2","properties":{"size":2}}`)
			var verdict resource.Verdict
			var sent bool
			if c.delete {
				got, _ := finish(w, w.acts.DeleteResource, DeleteResourceInput{Desired: d, PassFacts: PassFacts{Generation: int64(c.own), StatedAt: statedAt(c.own)}})
				verdict, sent = got.Verdict, got.Accepted
			} else {
				got, _ := finish(w, w.acts.PutResource, PutResourceInput{
					Desired: d, PassFacts: PassFacts{Generation: int64(c.own), StatedAt: statedAt(c.own)}, Kind: kindIf(c.absent, PutRecreation, PutChange), ObservedAt: w.now(),
				})
				verdict, sent = got.Verdict, got.Sent
			}
			if sent != c.sent || !c.sent && verdict.Reason != c.verdict {
				t.Errorf("sent %t with %s %q, want %t and %s: %s", sent, verdict.Reason, verdict.Message, c.sent, c.verdict, c.reason)
			}
			var left record
			if document, found := kept.stored[name]; found && c.left.Generation != 0 {
				must(t, json.Unmarshal(document, &left))
			}
			if diff := cmp.Diff(c.left, left.Statement); diff != "" {
				t.Errorf("the record (-want +got):\n%s", diff)
			}
		})
	}
}
