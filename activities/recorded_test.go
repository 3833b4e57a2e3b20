package activities

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/resource"
	"github.com/google/go-cmp/cmp"
)

// statedAt returns a time of the tests, by its minute.
func statedAt(minute int) time.Time {
	return time.Date(2026, 11, 20, 10, minute, 0, 0, time.UTC)
}

func stated(generation int64, at time.Time, deleted bool) writing.Statement {
	return writing.Statement{Generation: generation, At: at, Deleted: deleted}
}

// document is what a record contains.
type document struct {
	ID string `json:"id"`
	writing.Statement
}

// TestGuardRecords writes and deletes with statements that are older, equal and newer than
// the record outside of the resource.
//
//guard:generation-fence
func TestGuardRecords(t *testing.T) {
	t.Parallel()
	encode := func(s writing.Statement) []byte {
		raw, err := json.Marshal(document{strings.ToUpper(thingText), s})
		must(t, err)
		return raw
	}
	name := "11111111-1111-1111-1111-111111111111/e7289a0a15f7180e0b6af10f5f533d3e.json" // subscription and hash of the ID, in lower case
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
		left writing.Statement
	}{
		"First":   {reason: "the first write records its statement", own: 4, sent: true, left: stated(4, statedAt(4), false)},
		"Same":    {reason: "a repeated one needs no record", known: encode(stated(4, statedAt(4), false)), own: 4, sent: true, left: stated(4, statedAt(4), false)},
		"Older":   {reason: "a restored database is older", known: encode(stated(5, statedAt(5), false)), own: 4, verdict: resource.ReasonOlderThanRecorded, left: stated(5, statedAt(5), false)},
		"Deleted": {reason: "it does not create again what was deleted since", known: encode(stated(4, statedAt(5), true)), own: 4, absent: true, verdict: resource.ReasonOlderThanRecorded, left: stated(4, statedAt(5), true)},
		"Again":   {reason: "a user applied it again after the deletion", known: encode(stated(4, statedAt(5), true)), own: 6, absent: true, sent: true, left: stated(6, statedAt(6), false)},
		"DeleteOlder": {reason: "nor does it delete what was applied again", known: encode(stated(5, statedAt(5), false)), own: 4, delete: true,
			verdict: resource.ReasonOlderThanRecorded, left: stated(5, statedAt(5), false)},
		"Delete":  {reason: "a deletion is recorded", known: encode(stated(4, statedAt(4), false)), own: 5, delete: true, sent: true, left: stated(5, statedAt(5), true)},
		"Silent":  {reason: "without the record nothing is written", own: 4, broken: errors.New("503"), verdict: resource.ReasonCheckFailed},
		"Garbage": {reason: "nor with one that says nothing", known: []byte("<html>"), own: 4, verdict: resource.ReasonCheckFailed},
		"Foreign": {reason: "nor with the one of another resource", known: []byte(`{"id":"/subscriptions/x","generation":1}`), own: 4, verdict: resource.ReasonCheckFailed},
		"Race": {reason: "another worker recorded a newer one between read and write", own: 4, verdict: resource.ReasonOlderThanRecorded, left: stated(5, statedAt(5), false),
			between: func(d *documents, name string) {
				if d.stored[name] == nil {
					d.put(name, encode(stated(5, statedAt(5), false)))
				}
			}},
		"Contended": {reason: "a record that changes all the time is not believed", own: 4, verdict: resource.ReasonCheckFailed, left: stated(1, time.Time{}, false),
			between: func(d *documents, name string) { d.put(name, encode(stated(1, time.Time{}, false))) }},
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
			var left document
			if raw, found := kept.stored[name]; found && c.left.Generation != 0 {
				must(t, json.Unmarshal(raw, &left))
			}
			if diff := cmp.Diff(c.left, left.Statement); diff != "" {
				t.Errorf("the record (-want +got):\n%s", diff)
			}
		})
	}
}
