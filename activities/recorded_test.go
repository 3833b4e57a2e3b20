package activities

import (
	"encoding/json"
	"errors"
	"strconv"
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
		reason    string
		recorded  string
		own       Statement
		newer     bool
		unrelated bool
	}{
		"SameApply":     {reason: "the PUT of a pass is repeated", recorded: "3 2026-11-20T10:03:00.000Z", own: statementOf(3, statedAt(3), false)},
		"LaterApply":    {reason: "a later apply was written", recorded: "4 2026-11-20T10:04:00.000Z", own: statementOf(3, statedAt(3), false), newer: true},
		"NewerOwn":      {reason: "this is the later apply", recorded: "3 2026-11-20T10:03:00.000Z", own: statementOf(4, statedAt(4), false)},
		"OtherWorkflow": {reason: "another workflow counts from 1: the time decides", recorded: "7 2026-11-20T10:03:00.000Z", own: statementOf(1, statedAt(5), false)},
		"OldWorkflow":   {reason: "and the older one stays older with a higher generation", recorded: "1 2026-11-20T10:05:00.000Z", own: statementOf(7, statedAt(3), false), newer: true},
		"Milliseconds":  {reason: "a record keeps milliseconds", recorded: "3 2026-11-20T10:03:00.000Z", own: statementOf(3, statedAt(3).Add(400*time.Microsecond), false)},
		"NoTime":        {reason: "a state of an older release has no time", recorded: "3 2026-11-20T10:03:00.000Z", own: statementOf(9, time.Time{}, false), newer: true},
		"TagNoTime":     {reason: "what is stated now is later than a record without a time", recorded: "9", own: statementOf(1, statedAt(1), false)},
		"GenerationsUp": {reason: "without times the generations decide", recorded: "4", own: statementOf(3, time.Time{}, false), newer: true},
		"Generations":   {reason: "in both directions", recorded: "3", own: statementOf(4, time.Time{}, false)},
		"Foreign":       {reason: "a tag of another tool is no record", recorded: "blue", unrelated: true},
		"ForeignTime":   {reason: "nor is half of one", recorded: "3 yesterday", unrelated: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			recorded, known := parseStatement(c.recorded)
			if known == c.unrelated {
				t.Fatalf("parsed %t: %s", known, c.reason)
			}
			if known && recorded.String() != c.recorded {
				t.Errorf("%q became %q", c.recorded, recorded)
			}
			if got := known && recorded.newer(c.own); got != c.newer {
				t.Errorf("newer %t, want %t: %s", got, c.newer, c.reason)
			}
		})
	}
}

// TestGuardGenerationTag writes with an older, the same and a newer statement than the tag
// of the resource has.
//
//guard:generation-fence
func TestGuardGenerationTag(t *testing.T) {
	t.Parallel()
	observed := `{"location":"westus2","tags":{"team":"a","armature-generation":"4 2026-11-20T10:04:00.000Z"},"properties":{"size":1}}`
	cases := map[string]struct {
		reason     string
		generation int64
		at         time.Time
		off        bool
		change     func(*resource.Desired)
		sent       bool
		// tag is the tag afterwards.
		tag string
	}{
		"Older":   {reason: "a restored database has the generation before", generation: 3, at: statedAt(3), tag: "4 2026-11-20T10:04:00.000Z"},
		"NoTime":  {reason: "or a state from before the fence", generation: 3, tag: "4 2026-11-20T10:04:00.000Z"},
		"Same":    {reason: "drift of the newest generation is corrected", generation: 4, at: statedAt(4), sent: true, tag: "4 2026-11-20T10:04:00.000Z"},
		"Newer":   {reason: "a newer one is recorded with its PUT", generation: 5, at: statedAt(5), sent: true, tag: "5 2026-11-20T10:05:00.000Z"},
		"Off":     {reason: "a worker without the fence keeps the tag", generation: 3, at: statedAt(3), off: true, sent: true, tag: "4 2026-11-20T10:04:00.000Z"},
		"Patch":   {reason: "a PATCH without tags changes none", generation: 5, at: statedAt(5), change: func(d *resource.Desired) { d.Put = resource.PutPatch }, sent: true, tag: "4 2026-11-20T10:04:00.000Z"},
		"Replace": {reason: "put: replace keeps tags", generation: 5, at: statedAt(5), change: func(d *resource.Desired) { d.Put = resource.PutReplace }, sent: true, tag: "5 2026-11-20T10:05:00.000Z"},
		"Tags": {reason: "the manifest states tags of its own", generation: 5, at: statedAt(5), sent: true, tag: "5 2026-11-20T10:05:00.000Z",
			change: func(d *resource.Desired) {
				d.Body = json.RawMessage(`{"location":"westus2","tags":{"mine":"x"},"properties":{"size":2}}`)
			}},
		"PatchTags": {reason: "a PATCH replaces tags as a whole, so the tag goes along", generation: 5, at: statedAt(5), sent: true, tag: "5 2026-11-20T10:05:00.000Z",
			change: func(d *resource.Desired) {
				d.Put, d.Body = resource.PutPatch, json.RawMessage(`{"tags":{"mine":"x"},"properties":{"size":2}}`)
			}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(s *setup) { s.options.GenerationTag = !c.off })
			w.put(thingText, observed)
			d := desired(t, thingText, `{"location":"westus2","properties":{"size":2}}`)
			if c.change != nil {
				c.change(&d)
			}
			put, _ := finish(w, w.acts.PutResource, PutResourceInput{Desired: d, PassFacts: PassFacts{Generation: c.generation, StatedAt: c.at}, ObservedAt: w.now()})
			if put.Sent != c.sent {
				t.Fatalf("sent %t with %s %q: %s", put.Sent, put.Verdict.Reason, put.Verdict.Message, c.reason)
			}
			if !c.sent {
				want(t, put.Verdict, resource.ActionBlock, resource.ReasonOlderThanRecorded, resource.RetryVerySlow,
					"the tag armature-generation records generation 4", "armature apply")
				if put.Unknown {
					t.Error("a PUT that was held may have been sent")
				}
			}
			body := w.body(thingText)
			tags, _ := body["tags"].(map[string]any)
			if tags[GenerationTag] != c.tag || tags["team"] != "a" {
				t.Errorf("the tags are %v, want generation %q and the tag of another team: %s", tags, c.tag, c.reason)
			}
		})
	}
}

// body returns a resource as a GET shows it.
func (w *world) body(text string) map[string]any {
	w.t.Helper()
	response, err := w.acts.Client.Get(w.t.Context(), id(w.t, text), "2023-08-15")
	must(w.t, err)
	body, err := resource.DecodeBody(response.Body)
	must(w.t, err)
	return body
}

// TestGenerationTagIsNoDifference checks that the tag of the fence shows nowhere: not in
// what a pass compares, also where the manifest states no tags at all, nor in an import.
func TestGenerationTagIsNoDifference(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"no tags": `{"location":"westus2"}`, "null": `{"location":"westus2","tags":null}`, "no tag": `{"location":"westus2","tags":{}}`,
	} {
		w := newWorld(t, func(s *setup) { s.options.GenerationTag = true })
		w.put(thingText, `{"location":"westus2","tags":{"Armature-Generation":"4 2026-11-20T10:04:00.000Z"}}`)
		d := desired(t, thingText, body)
		got, _ := finish(w, w.acts.GetResource, GetResourceInput{Target: d.Target()})
		if strings.Contains(strings.ToLower(string(got.Observed)), GenerationTag) {
			t.Errorf("%s: a read shows the tag: %s", name, got.Observed)
		}
		planned, _ := finish(w, w.acts.PlanResource, PlanResourceInput{Desired: d})
		if planned.Action != PlanNone {
			t.Errorf("%s: the tag is a reason for a PUT: %+v", name, planned)
		}
		put, _ := finish(w, w.acts.PutResource, PutResourceInput{Desired: d, PassFacts: PassFacts{Generation: 9, StatedAt: statedAt(9)}, ObservedAt: w.now()})
		if put.Sent || w.puts(thingText) != 0 {
			t.Errorf("%s: a newer generation makes a PUT of its own for its tag", name)
		}
	}
}

// TestGenerationTagOfTypes checks that types without writable tags get none.
func TestGenerationTagOfTypes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *setup) { s.options.GenerationTag = true })
	for text, takes := range map[string]bool{clusterText: true, databaseText: false, thingText: false} {
		p := &put{Activities: w.acts, in: PutResourceInput{Desired: desired(t, text, `{}`), PassFacts: PassFacts{Generation: 2, StatedAt: statedAt(2)}}}
		p.request = w.acts.request(p.in.Desired)
		body := map[string]any{"location": "westus2"}
		p.addGenerationTag(body)
		if _, added := body["tags"]; added != takes {
			t.Errorf("%s: the body is %v, want tags %t", p.in.Desired.ID.Type(), body, takes)
		}
	}
	p := &put{Activities: w.acts, in: PutResourceInput{Desired: desired(t, thingText, `{}`), PassFacts: PassFacts{Generation: 2}}}
	tags := map[string]any{}
	for i := range maxTags {
		tags[strconv.Itoa(i)] = "x"
	}
	if p.addGenerationTag(map[string]any{"tags": tags}); len(tags) != maxTags {
		t.Errorf("a resource with %d tags got another one, which Azure refuses", maxTags)
	}
}

// TestGuardGenerationTagDelete deletes with an older and a newer statement than the tag.
//
//guard:generation-fence
func TestGuardGenerationTagDelete(t *testing.T) {
	t.Parallel()
	for at, sent := range map[int]bool{3: false, 4: true, 5: true} {
		w := newWorld(t, func(s *setup) { s.options.GenerationTag = true })
		w.put(thingText, `{"location":"westus2","tags":{"armature-generation":"4 2026-11-20T10:04:00.000Z"}}`)
		in := DeleteResourceInput{Desired: desired(t, thingText, `{}`), PassFacts: PassFacts{Generation: 4, StatedAt: statedAt(at)}}
		got, _ := finish(w, w.acts.DeleteResource, in)
		if got.Accepted != sent || got.Unsent == sent {
			t.Errorf("stated at %d: %+v", at, got)
		}
		if !sent {
			want(t, got.Verdict, resource.ActionBlock, resource.ReasonOlderThanRecorded, resource.RetryVerySlow, "generation 4")
		}
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
		left string
	}{
		"First":   {reason: "the first write records its statement", own: 4, sent: true, left: "4 2026-11-20T10:04:00.000Z"},
		"Same":    {reason: "a repeated one needs no record", known: document(statementOf(4, statedAt(4), false)), own: 4, sent: true, left: "4 2026-11-20T10:04:00.000Z"},
		"Older":   {reason: "a restored database is older", known: document(statementOf(5, statedAt(5), false)), own: 4, verdict: resource.ReasonOlderThanRecorded, left: "5 2026-11-20T10:05:00.000Z"},
		"Deleted": {reason: "it does not create again what was deleted since", known: document(statementOf(4, statedAt(5), true)), own: 4, absent: true, verdict: resource.ReasonOlderThanRecorded, left: "4 2026-11-20T10:05:00.000Z"},
		"Again":   {reason: "a user applied it again after the deletion", known: document(statementOf(4, statedAt(5), true)), own: 6, absent: true, sent: true, left: "6 2026-11-20T10:06:00.000Z"},
		"DeleteOlder": {reason: "nor does it delete what was applied again", known: document(statementOf(5, statedAt(5), false)), own: 4, delete: true,
			verdict: resource.ReasonOlderThanRecorded, left: "5 2026-11-20T10:05:00.000Z"},
		"Delete":  {reason: "a deletion is recorded", known: document(statementOf(4, statedAt(4), false)), own: 5, delete: true, sent: true, left: "5 2026-11-20T10:05:00.000Z"},
		"Silent":  {reason: "without the record nothing is written", own: 4, broken: errors.New("503"), verdict: resource.ReasonCheckFailed},
		"Garbage": {reason: "nor with one that says nothing", known: []byte("<html>"), own: 4, verdict: resource.ReasonCheckFailed},
		"Foreign": {reason: "nor with the one of another resource", known: []byte(`{"id":"/subscriptions/x","generation":1}`), own: 4, verdict: resource.ReasonCheckFailed},
		"Race": {reason: "another worker recorded a newer one between read and write", own: 4, verdict: resource.ReasonOlderThanRecorded, left: "5 2026-11-20T10:05:00.000Z",
			between: func(d *documents, name string) {
				if d.stored[name] == nil {
					d.put(name, document(statementOf(5, statedAt(5), false)))
				}
			}},
		"Contended": {reason: "a record that changes all the time is not believed", own: 4, verdict: resource.ReasonCheckFailed, left: "1",
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
			if c.left != "" {
				must(t, json.Unmarshal(kept.stored[name], &left))
			}
			if diff := cmp.Diff(c.left, left.String()); c.left != "" && diff != "" {
				t.Errorf("the record (-want +got):\n%s", diff)
			}
			if c.delete && c.sent != left.Deleted {
				t.Errorf("the record of a deletion is %+v", left)
			}
		})
	}
}
