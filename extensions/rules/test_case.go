package rules

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/armature-io/armature/resource"
)

// Case is a test in a rule file: the expected result of one rule for given bodies.
type Case struct {
	Name, Rule string
	// Desired, Observed and Owner are bodies, nil for none.
	Desired, Observed, Owner map[string]any
	Forced                   bool
	// Want is block, fail or pass. Message is the expected message of a block or
	// fail; "" is not compared.
	Want, Message string
	node          *yaml.Node
	file          string
}

// Outcome is the result of a Case.
type Outcome struct {
	Case *Case
	// Position is the file and line of the case.
	Position string
	// Failure explains how the result differs from the expected one; "" means that
	// the case passed.
	Failure string
}

func (f *file) test(node *yaml.Node) {
	c := &Case{node: node, file: f.name}
	f.fields(node, "a test", testFields(), func(key, value *yaml.Node) {
		switch key.Value {
		case "desired":
			c.Desired = f.body(key, value)
		case "observed":
			c.Observed = f.body(key, value)
		case "owner":
			c.Owner = f.body(key, value)
		case "forced":
			if err := value.Decode(&c.Forced); err != nil {
				f.report(value, "forced must be true or false")
			}
		default:
			texts := map[string]*string{"name": &c.Name, "rule": &c.Rule, "want": &c.Want, "message": &c.Message}
			if value.Kind != yaml.ScalarNode {
				f.report(value, "%s must be a string", key.Value)
				return
			}
			*texts[key.Value] = value.Value
		}
	})
	if node.Kind != yaml.MappingNode {
		return
	}
	if !slices.Contains([]string{"block", "fail", "pass"}, c.Want) {
		f.report(node, "want must be block, fail or pass, not %q", c.Want)
	}
	if c.Rule == "" {
		f.report(node, "the test has no rule")
	}
	f.tests = append(f.tests, c)
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

// Test runs the cases of a file or folder. The error is of type Issues if the
// rules themselves are invalid.
func Test(ctx context.Context, path string) ([]Outcome, Issues, error) {
	files, _, err := readFiles(path)
	if err != nil {
		return nil, nil, err
	}
	rules, warnings, issues := compileFiles(files)
	if len(issues) > 0 {
		return nil, warnings, issues.sorted()
	}
	byName := map[string]*rule{}
	for _, r := range rules {
		byName[r.name] = r
	}
	var outcomes []Outcome
	for _, f := range files {
		for _, c := range f.tests {
			outcomes = append(outcomes, Outcome{
				Case: c, Position: fmt.Sprintf("%s:%d", f.name, c.node.Line), Failure: c.run(ctx, byName[c.Rule]),
			})
		}
	}
	return outcomes, warnings, nil
}

// run evaluates one case and returns how it failed, "" if it passed.
func (c *Case) run(ctx context.Context, r *rule) string {
	id, owner, err := exampleIDs(r.resourceType)
	if err != nil {
		return err.Error()
	}
	in := input{
		obj: &resource.Object{ID: id, Desired: c.Desired, Observed: c.Observed}, forced: c.Forced,
		now: time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC),
	}
	if c.Owner != nil {
		in.owner = &resource.Object{ID: owner, Observed: c.Owner}
	}
	got, message := "pass", ""
	if r.at != atOwner || in.owner != nil {
		applies, text, err := r.evaluate(ctx, in)
		if err != nil {
			return err.Error()
		}
		if message = text; applies {
			got = map[point]string{atOwner: "block", atPre: "block", atPost: "fail"}[r.at]
		}
	}
	switch {
	case got != c.Want:
		return fmt.Sprintf("got %s %q, want %s", got, message, c.Want)
	case c.Message != "" && message != c.Message:
		return fmt.Sprintf("message %q, want %q", message, c.Message)
	}
	return ""
}
