package rules

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

// Trial is what one rule does with a resource of Azure.
type Trial struct {
	extensionhost.Trial
	// Rule is the name of the rule, At its point.
	Rule string `json:"rule"`
	At   string `json:"at"`
	// Result is what a test states under want: block, fail, pass, busy or stopped; "" for a rule
	// that failed, or that a resource alone does not try.
	Result string `json:"result,omitempty"`
}

// Try runs each rule of a type by itself, in the order of the files, with the facts of the
// registry and those of the rules. newRequest returns the request of one run, and tried gets
// what it came to. A rule at error is not run: it needs an error of Azure.
func (s *Set) Try(
	ctx context.Context, registry *extensionhost.Registry, resourceType string, newRequest func() extensionhost.Request, tried func(Trial),
) error {
	registry, err := registry.With(s.Entry())
	if err != nil {
		return fmt.Errorf("add the rules: %w", err)
	}
	for _, r := range s.current.Load().rules {
		if !strings.EqualFold(r.resourceType, resourceType) {
			continue
		}
		trial := Trial{Rule: r.name, At: string(r.at)}
		trial.Link = r.ExtensionName()
		switch r.at {
		case atError:
		case atFacts:
			trial.Result = (&Case{Observed: newRequest().Object.Observed}).factOf(r).result
		default:
			registry.Try(ctx, r.link(), newRequest, func(one extensionhost.Trial) { // a rule has one point
				trial.Trial, trial.Result = one, resultOf(one)
			})
		}
		tried(trial)
	}
	return nil
}

// resultOf returns what a test of the trial states under want, "" for a failed check.
func resultOf(trial extensionhost.Trial) string {
	if result := gotOf(trial.Verdict); result.err == nil {
		return result.result
	}
	return ""
}

// Recording is what the rules of a trial saw: bodies with secrets masked, nil for none.
type Recording struct {
	ID                       resource.ID
	Labels                   map[string]string
	Desired, Observed, Owner map[string]any
	Now                      time.Time
}

// Tests returns a rule file with a test of each trial that has a result, and their number. Its
// tests state what the rules saw, and want what they did.
func (r Recording) Tests(trials []Trial) ([]byte, int, error) {
	tests := &yaml.Node{Kind: yaml.SequenceNode}
	for _, trial := range trials {
		if trial.Result == "" {
			continue
		}
		test, err := r.test(trial)
		if err != nil {
			return nil, 0, err
		}
		tests.Content = append(tests.Content, test)
	}
	text, err := yaml.Marshal(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{word("tests"), tests}})
	if err != nil {
		return nil, 0, fmt.Errorf("write the tests: %w", err)
	}
	return text, len(tests.Content), nil
}

// test returns the test of one trial.
func (r Recording) test(trial Trial) (*yaml.Node, error) {
	test, failed := &yaml.Node{Kind: yaml.MappingNode}, error(nil)
	add := func(name string, value any) {
		node, err := nodeOf(value)
		if err != nil && failed == nil {
			failed = fmt.Errorf("write %s of the test of %s: %w", name, trial.Rule, err)
		}
		test.Content = append(test.Content, word(name), node)
	}
	add("name", fmt.Sprintf("%s of %s at %s", trial.Rule, r.ID.Name(), r.Now.UTC().Format(time.DateTime)))
	add("rule", trial.Rule)
	add("id", r.ID.String())
	add("now", r.Now.UTC().Format(time.RFC3339))
	if len(r.Labels) > 0 {
		add("labels", r.Labels)
	}
	if r.Desired != nil {
		add("desired", r.Desired)
	}
	add("observed", r.Observed)
	if r.Owner != nil {
		add("owner", r.Owner)
	}
	if len(trial.Reads) > 0 {
		add("reads", trial.Reads)
	}
	if point(trial.At) == atPayload {
		add("payload", r.Desired)
	}
	if trial.Payload != nil {
		add("want", trial.Payload)
		return test, failed
	}
	add("want", trial.Result)
	if trial.Result == "block" || trial.Result == "fail" {
		add("message", trial.Verdict.Message)
		add("reason", string(trial.Verdict.Reason))
	}
	return test, failed
}

func word(text string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: text} }

// nodeOf returns a JSON value as YAML of one value per line.
func nodeOf(value any) (*yaml.Node, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	node := document.Content[0]
	inBlocks(node)
	return node, nil
}

// inBlocks removes the braces and quotes of JSON where YAML needs none.
func inBlocks(node *yaml.Node) {
	node.Style = 0
	for _, part := range node.Content {
		inBlocks(part)
	}
}
