package drift_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/internal/jsontree"
)

// scoreWarm compares with a baseline, like every pass after the first.
func scoreWarm(t *testing.T, pairs []recordedPair, changes []recordedChange) []*score {
	inSync, differs := &score{name: "warm.insync"}, &score{name: "warm.changes"}
	response := &score{name: "warm.insync.response"}
	scores := []*score{inSync, differs}
	variants := map[string]*score{}
	for _, rewrite := range rewrites() {
		variants[rewrite.name] = &score{name: "warm.insync." + rewrite.name}
		scores = append(scores, variants[rewrite.name])
	}
	reread := &score{name: "warm.insync.reread"}
	for _, p := range pairs {
		opts := comparison(p.ID, p.Type, p.APIVersion)
		desired, observed := body(t, p.PutBody), body(t, p.GetBody)
		opts.Baseline = stored(t, drift.NewBaseline(desired, observed, afterPut(opts)))
		ok, first := true, ""
		judge := func(s *score, desired, observed map[string]any) {
			result := drift.Compare(desired, observed, opts)
			s.count(result.InSync, "%s: %v", p.ID, result.Differences)
			if !result.InSync && ok {
				ok, first = false, fmt.Sprintf("%s: %v", s.name, result.Differences)
			}
		}
		for _, rewrite := range rewrites() {
			judge(variants[rewrite.name], desired, rewrite.apply(jsontree.Clone(observed)))
			judge(variants[rewrite.name], rewrite.apply(jsontree.Clone(desired)), observed)
		}
		for _, again := range rereads(t, p, changes) {
			judge(reread, desired, again)
		}
		inSync.count(ok, "%s: %s", p.ID, first)
		if answered := body(t, p.PutResponse); settled(answered, p.ID) {
			opts := opts
			opts.Baseline = drift.NewBaseline(desired, answered, afterPut(opts))
			result := drift.Compare(desired, observed, opts)
			response.count(result.InSync, "%s: %v", p.ID, result.Differences)
		}
	}
	for _, c := range changes {
		if c.Expected != "differs" {
			continue
		}
		opts := comparison(c.ID, c.Type, c.APIVersion)
		opts.Baseline = stored(t, drift.NewBaseline(body(t, c.OldPut), body(t, c.OldGet), afterPut(opts)))
		result := drift.Compare(body(t, c.NewPut), body(t, c.OldGet), opts)
		differs.count(!result.InSync, "%s %s: no difference found", c.Kind, c.ID)
	}
	logMissed(t, inSync, differs, response)
	return append(scores, reread, response)
}

func afterPut(opts drift.Options) drift.Options {
	opts.Put = true
	return opts
}

// stored returns a baseline after a JSON round trip, as in the workflow's state.
func stored(t *testing.T, baseline drift.Baseline) drift.Baseline {
	t.Helper()
	raw, err := json.Marshal(baseline)
	if err != nil {
		t.Fatal(err)
	}
	if len(raw) > drift.MaxBaselineBytes {
		t.Fatalf("the baseline has %d bytes", len(raw))
	}
	var kept drift.Baseline
	if err := json.Unmarshal(raw, &kept); err != nil {
		t.Fatal(err)
	}
	return kept
}

// settled reports whether the response to a PUT is the resource, not an operation,
// in a terminal state: only then it can replace the first GET.
func settled(response map[string]any, id string) bool {
	if named, _ := response["id"].(string); !strings.EqualFold(named, id) {
		return false
	}
	properties, _ := response["properties"].(map[string]any)
	state, _ := properties["provisioningState"].(string)
	return state == "" || strings.EqualFold(state, "Succeeded")
}

// rereads returns the later reads of a pair's resource, up to the next PUT with
// another body.
func rereads(t *testing.T, p recordedPair, changes []recordedChange) []map[string]any {
	var found []map[string]any
	for _, c := range changes {
		if c.Cassette == p.Cassette && strings.EqualFold(c.ID, p.ID) && reflect.DeepEqual(body(t, c.OldPut), body(t, p.PutBody)) {
			found = append(found, body(t, c.OldGet))
		}
	}
	return found
}

// rewrite is a harmless change of a body.
type rewrite struct {
	name  string
	apply func(map[string]any) map[string]any
}

func rewrites() []rewrite {
	return []rewrite{
		{"same", func(b map[string]any) map[string]any { return b }},
		{"key-order", reordered},
		{"location", func(b map[string]any) map[string]any { return respelled(b, "", respellLocation).(map[string]any) }},
		{"id-case", func(b map[string]any) map[string]any { return respelled(b, "", respellID).(map[string]any) }},
	}
}

// reordered encodes the members of every object in reverse order and decodes them.
// Go's maps have no order: this checks that nothing depends on the order in the text.
func reordered(b map[string]any) map[string]any {
	var again map[string]any
	decoder := json.NewDecoder(strings.NewReader(reverseJSON(b)))
	decoder.UseNumber()
	_ = decoder.Decode(&again) // reverseJSON writes valid JSON
	return again
}

func reverseJSON(value any) string {
	var parts []string
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			text, _ := json.Marshal(name)
			parts = append([]string{string(text) + ":" + reverseJSON(member)}, parts...)
		}
		return "{" + strings.Join(parts, ",") + "}"
	case []any:
		for _, item := range v {
			parts = append(parts, reverseJSON(item))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	text, _ := json.Marshal(value)
	return string(text)
}

// respelled applies a spelling to every string outside user-keyed maps, and to the
// keys of maps that are IDs.
func respelled(value any, name string, spell func(name, text string) string) any {
	switch v := value.(type) {
	case map[string]any:
		again := make(map[string]any, len(v))
		for key, member := range v {
			if isUserKeyedMap(key) {
				again[key] = member
				continue
			}
			again[spell("", key)] = respelled(member, key, spell)
		}
		return again
	case []any:
		for i, item := range v {
			v[i] = respelled(item, name, spell)
		}
	case string:
		return spell(name, v)
	}
	return value
}

// isUserKeyedMap reports whether a map's keys and values are compared exactly.
func isUserKeyedMap(name string) bool {
	lower := strings.ToLower(name)
	for _, word := range []string{"tags", "labels", "annotations", "settings", "metadata", "parameters", "variables", "env"} {
		if strings.HasSuffix(lower, word) {
			return true
		}
	}
	return false
}

// respellLocation turns westus2 into "WEST US2" and back into westus2.
func respellLocation(name, text string) string {
	lower := strings.ToLower(name)
	if lower != "location" && lower != "region" && lower != "locationname" || len(text) < 6 {
		return text
	}
	if strings.Contains(text, " ") {
		return strings.ToLower(strings.ReplaceAll(text, " ", ""))
	}
	return strings.ToUpper(text[:4]) + " " + text[4:]
}

func respellID(_, text string) string {
	if strings.HasPrefix(strings.ToLower(text), "/subscriptions/") {
		return strings.ToUpper(text)
	}
	return text
}
