package rules

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/armature-io/armature/resource"
)

// Case is a test in a rule file: the expected result of one rule for given bodies.
type Case struct {
	Name, Rule string
	// Desired, Observed, Owner and Payload are bodies, nil for none.
	Desired, Observed, Owner, Payload map[string]any
	// Absent is set if the test states that the resource does not exist: observed: null.
	Absent bool
	// Reads are the bodies of what the rule reads by name; a body of nil is absent.
	Reads map[string]map[string]any
	// Lists are the bodies of each and list by name, those of each in the order of the IDs; a
	// body of nil is absent.
	Lists map[string][]map[string]any
	// Failure is an error of ARM.
	Failure map[string]any
	Labels  map[string]string
	// ID is the ID of the resource, OwnerName the last part of its owner's ID.
	ID        resource.ID
	OwnerName string
	Now       time.Time
	Forced    bool
	// Want is block, fail or pass; at error also a retry class; with busy and stopped one
	// of these. At payload it is the expected payload, WantPayload.
	Want        string
	WantPayload map[string]any
	// Message and Reason are those of a block or fail; "" is not compared.
	Message, Reason string
	node            *yaml.Node
	file            string
}

func (f *file) test(node *yaml.Node) {
	c := &Case{node: node, file: f.name, Now: time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)}
	bodies := map[string]*map[string]any{
		"desired": &c.Desired, "observed": &c.Observed, "owner": &c.Owner, "payload": &c.Payload, "error": &c.Failure,
	}
	texts := map[string]*string{"name": &c.Name, "rule": &c.Rule, "want": &c.Want, "message": &c.Message, "reason": &c.Reason, "ownerName": &c.OwnerName}
	f.fields(node, "a test", testFields(), func(key, value *yaml.Node) {
		if body := bodies[key.Value]; body != nil {
			*body = f.body(key, value)
			c.Absent = c.Absent || key.Value == "observed" && value.Tag == "!!null"
			return
		}
		if key.Value == "want" && value.Kind == yaml.MappingNode {
			c.WantPayload = f.body(key, value)
			return
		}
		if f.testInput(c, key, value) {
			return
		}
		if value.Kind != yaml.ScalarNode {
			f.report(value, "%s must be a string", key.Value)
			return
		}
		*texts[key.Value] = value.Value
	})
	if node.Kind != yaml.MappingNode {
		return
	}
	if wants := []string{"block", "fail", "pass", "busy", "stopped", "Fast", "Slow", "VerySlow", "None"}; c.WantPayload == nil && !slices.Contains(wants, c.Want) {
		f.report(node, "want must be block, fail or pass, not %q; for a rule at error it may be a retry class, at payload a body, for facts busy or stopped", c.Want)
	}
	if c.Rule == "" {
		f.report(node, "the test has no rule")
	}
	f.tests = append(f.tests, c)
}

// testInput sets an input of a test that is neither a body nor a text. It reports whether
// the field is one.
func (f *file) testInput(c *Case, key, value *yaml.Node) bool {
	var err error
	switch key.Value {
	case "forced":
		if value.Decode(&c.Forced) != nil {
			f.report(value, "forced must be true or false")
		}
	case "labels":
		if value.Decode(&c.Labels) != nil {
			f.report(value, "labels must be a mapping of texts")
		}
	case "now":
		if c.Now, err = time.Parse(time.RFC3339, value.Value); err != nil {
			f.report(value, "now must be a time such as 2026-01-05T22:00:00Z, not %q", value.Value)
		}
	case "id":
		if c.ID, err = resource.ParseID(value.Value); err != nil {
			f.report(value, "id: %v", err)
		}
	case "reads":
		c.Reads, c.Lists = map[string]map[string]any{}, map[string][]map[string]any{}
		f.entries("reads", value, func(name, value *yaml.Node) {
			if value.Kind != yaml.SequenceNode {
				c.Reads[name.Value] = f.bodyOrAbsent(name, value)
				return
			}
			c.Lists[name.Value] = []map[string]any{}
			for _, item := range value.Content {
				c.Lists[name.Value] = append(c.Lists[name.Value], f.bodyOrAbsent(name, item))
			}
		})
	default:
		return false
	}
	return true
}

// bodyOrAbsent is body, nil for null.
func (f *file) bodyOrAbsent(key, value *yaml.Node) map[string]any {
	if value.Tag == "!!null" {
		return nil
	}
	return f.body(key, value)
}

// body returns a YAML mapping as it would be decoded from JSON.
func (f *file) body(key, value *yaml.Node) map[string]any {
	var decoded map[string]any
	if err := value.Decode(&decoded); err != nil {
		f.report(value, "%s must be a mapping of properties, as Azure shows them", key.Value)
		return nil
	}
	raw, err := json.Marshal(decoded)
	if err != nil {
		f.report(value, "%s is not valid JSON: %v", key.Value, err)
		return nil
	}
	body, err := resource.DecodeBody(raw)
	if err != nil {
		f.report(value, "%s is not valid JSON: %v", key.Value, err)
	}
	return body
}

// checkTests reports tests that name no rule, or that fit no rule of their point.
func (f *file) checkTests(names map[string]*rule) {
	for _, test := range f.tests {
		r := names[test.Rule]
		if r == nil {
			f.report(test.node, "test %q refers to rule %q, which does not exist", test.Name, test.Rule)
			continue
		}
		if r.name == "" {
			continue // its own issues are reported
		}
		if wants := r.wants(); test.WantPayload != nil && r.at != atPayload || test.WantPayload == nil && !slices.Contains(wants, test.Want) {
			f.warn(test.node, "want of a test of rule %s, which is at %s, must be %s", r.name, r.at, strings.Join(wants, " or "))
		}
		f.checkTestReads(test, r)
		if test.ID.IsZero() {
			continue
		}
		if !strings.EqualFold(test.ID.Type(), r.resourceType) {
			f.report(test.node, "id has type %s, but rule %s is for %s", test.ID.Type(), r.name, r.resourceType)
		}
	}
}

// checkTestReads reports bodies under reads that do not fit the rule.
func (f *file) checkTestReads(test *Case, r *rule) {
	for _, name := range slices.Sorted(maps.Keys(test.Reads)) {
		if at := r.readIndex(name); at < 0 {
			f.report(test.node, "rule %s reads nothing as %s", r.name, name)
		} else if r.reads[at].isMany() {
			f.report(test.node, "rule %s reads several resources as %s: state a list of bodies", r.name, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(test.Lists)) {
		at := r.readIndex(name)
		switch {
		case at < 0:
			f.report(test.node, "rule %s reads nothing as %s", r.name, name)
		case !r.reads[at].isMany():
			f.report(test.node, "rule %s reads one resource as %s: state its body, not a list", r.name, name)
		case r.reads[at].list != "" && slices.ContainsFunc(test.Lists[name], func(body map[string]any) bool { return body == nil }):
			f.report(test.node, "%s has the resources of a list, which are all there: leave null out", name)
		}
	}
}

func (r *rule) readIndex(name string) int {
	return slices.IndexFunc(r.reads, func(o read) bool { return o.name == name })
}

// wants returns what a test of the rule may want. At payload a body is valid too.
func (r *rule) wants() []string {
	switch r.at {
	case atPost:
		return []string{"fail", "pass"}
	case atError:
		return []string{"Fast", "Slow", "VerySlow", "None", "pass"}
	case atPayload:
		return []string{"block", "pass"}
	case atFacts:
		return []string{"busy", "stopped", "pass"}
	}
	return []string{"block", "pass"}
}

// Position returns the file and line of the case.
func (c *Case) Position() string { return fmt.Sprintf("%s:%d", c.file, c.node.Line) }
