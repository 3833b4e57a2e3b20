package rules

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/expression"
	"github.com/armature-io/armature/resource"
)

// Outcome is the result of a Case.
type Outcome struct {
	Case *Case
	// Position is the file and line of the case.
	Position string
	// Failure explains how the result differs from the expected one; "" means that
	// the case passed.
	Failure string
	// Seen are what the condition compared and its values, of a case that failed.
	Seen []string
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
	b, err := newBench(rules)
	if err != nil {
		return nil, warnings, err
	}
	byName := map[string]*rule{}
	for _, r := range rules {
		byName[r.name] = r
	}
	// creates has the rules whose tests decide about an absent resource: one that passes it, or
	// one that states its absence.
	creates := map[string]bool{}
	for _, f := range files {
		for _, c := range f.tests {
			creates[c.Rule] = creates[c.Rule] || c.Absent || c.Observed == nil && c.Want == "pass"
		}
	}
	var outcomes []Outcome
	for _, f := range files {
		for _, c := range f.tests {
			outcome := Outcome{Case: c, Position: c.Position()}
			outcome.Failure, outcome.Seen = c.run(ctx, b, byName[c.Rule])
			if outcome.Failure == "" && !creates[c.Rule] {
				outcome.Failure = b.blocksCreation(ctx, c, byName[c.Rule])
			}
			outcomes = append(outcomes, outcome)
		}
	}
	return outcomes, warnings, nil
}

// got is the result of a rule in a test.
type got struct {
	result, message string
	reason          resource.Reason
	payload         map[string]any
	err             error
}

// run evaluates one case. It returns how it failed, "" if it passed, and what the
// condition saw.
func (c *Case) run(ctx context.Context, b *bench, r *rule) (failure string, seen []string) {
	in, err := c.input(r)
	if err != nil {
		return err.Error(), nil
	}
	in = b.shown(r, in)
	vars := r.varsOfTest(ctx, c, b, in)
	result, err := b.evaluate(ctx, c, r, in)
	if err != nil {
		failure = err.Error()
		if strings.Contains(failure, "cost limit") {
			failure += c.cost(ctx, r, vars)
		}
		return failure, c.seen(ctx, r, vars)
	}
	switch {
	case c.WantPayload != nil && !samePayload(result.payload, c.WantPayload):
		text, _ := json.Marshal(result.payload)
		failure = "the payload is " + string(text)
	case c.WantPayload == nil && result.result != c.Want:
		failure = fmt.Sprintf("got %s %q, want %s", result.result, result.message, c.Want)
	case c.Message != "" && result.message != c.Message:
		failure = fmt.Sprintf("message %q, want %q", result.message, c.Message)
	case c.Reason != "" && string(result.reason) != c.Reason:
		failure = fmt.Sprintf("reason %q, want %q", result.reason, c.Reason)
	}
	if failure == "" {
		return "", nil
	}
	return failure, c.seen(ctx, r, vars)
}

// input returns what the rule is evaluated for.
func (c *Case) input(r *rule) (input, error) {
	id, owner, err := exampleIDs(r.resourceType)
	if err != nil {
		return input{}, err
	}
	if !c.ID.IsZero() {
		id, owner = c.ID, c.ID.Owner()
	}
	if c.OwnerName != "" {
		text := owner.String()
		if owner, err = resource.ParseID(text[:strings.LastIndex(text, "/")+1] + c.OwnerName); err != nil {
			return input{}, fmt.Errorf("ownerName: %w", err)
		}
		if id.IsChild() {
			rest := strings.TrimPrefix(id.String(), text)
			if id, err = resource.ParseID(owner.String() + rest); err != nil {
				return input{}, fmt.Errorf("ownerName: %w", err)
			}
		}
	}
	in := input{
		obj: &resource.Object{ID: id, Desired: c.Desired, Observed: c.Observed}, forced: c.Forced, now: c.Now, labels: c.Labels,
		payload: c.Payload,
	}
	if c.Owner != nil {
		in.owner = &resource.Object{ID: owner, Observed: c.Owner}
	}
	return in, nil
}

// varsOfTest returns the variables with what the test states for the reads.
func (r *rule) varsOfTest(ctx context.Context, c *Case, b *bench, in input) map[string]any {
	if r.at == atError {
		_, vars, _ := r.matches(ctx, c.armError(), "")
		return vars
	}
	vars := r.vars(in)
	for _, other := range r.reads {
		shown := c.shownReads(ctx, b, other, vars)
		switch {
		case other.isMany():
			vars[other.name] = expression.Value(shown)
		case len(shown) == 1:
			vars[other.name] = shown[0]
		default:
			vars[other.name] = bodyOf(nil)
		}
	}
	return vars
}

// shownReads returns the bodies that the test states for a read, as a worker shows them.
func (c *Case) shownReads(ctx context.Context, b *bench, other read, vars map[string]any) []any {
	shown := []any{}
	if other.list != "" {
		list, _, _ := other.listOf(vars)
		for _, body := range c.Lists[other.name] {
			shown = append(shown, bodyOf(b.view.Other(list.Item(body))))
		}
		return shown
	}
	ids, _ := other.targets(ctx, vars)
	for i, id := range ids {
		shown = append(shown, bodyOf(b.view.Other(&resource.Object{ID: id, Observed: c.stated(readPlace{other.name, i})})))
	}
	return shown
}

// stated returns the body that the test states for a resource that the rule reads, nil for none.
func (c *Case) stated(place readPlace) map[string]any {
	if list := c.Lists[place.name]; place.index < len(list) {
		return list[place.index]
	}
	return c.Reads[place.name]
}

// classify returns the class of the test's error, "pass" if the rule does not match it.
func (c *Case) classify(ctx context.Context, r *rule) (got, error) {
	failure := c.armError()
	applies, _, err := r.matches(ctx, failure, "")
	if err != nil || !applies {
		return got{result: "pass"}, err
	}
	details, err := r.classify(ctx, failure, "", extensions.ErrorDetails{Code: failure.Code, Message: failure.Message, Class: resource.RetrySlow})
	return got{result: string(details.Class), message: details.Message, reason: resource.Reason(details.Code)}, err
}

// factOf returns which fact holds for the observed body.
func (c *Case) factOf(r *rule) got {
	at := func(path string) string {
		object := &resource.Object{Observed: c.Observed}
		text, _ := object.StringAt(path)
		return text
	}
	for _, state := range r.facts.Busy {
		if slices.ContainsFunc(state.States, func(word string) bool { return strings.EqualFold(word, at(state.Path)) }) {
			return got{result: "busy"}
		}
	}
	for _, state := range r.facts.Stopped {
		if strings.EqualFold(state.State, at(state.Path)) {
			return got{result: "stopped"}
		}
	}
	return got{result: "pass"}
}

// samePayload compares bodies as JSON: 1 and 1.0 are different texts of one number.
func samePayload(a, b map[string]any) bool {
	return reflect.DeepEqual(plain(a), plain(b))
}

// plain returns a body as JSON decodes it.
func plain(body map[string]any) any {
	raw, err := json.Marshal(body)
	if err != nil {
		return err.Error()
	}
	var decoded any
	if err := json.Unmarshal(raw, &decoded); err != nil {
		return err.Error()
	}
	return decoded
}

// seen returns what the condition compared.
func (c *Case) seen(ctx context.Context, r *rule, vars map[string]any) []string {
	if r.when.IsZero() {
		return nil
	}
	return r.when.Seen(ctx, vars)
}

// maxTestCost is up to which cost a test counts that of a condition over the limit.
const maxTestCost = 4 * expression.MaxCost

// cost returns what a condition over the limit costs, "" for one that failed otherwise.
func (c *Case) cost(ctx context.Context, r *rule, vars map[string]any) string {
	if r.when.IsZero() {
		return ""
	}
	cost, more := r.when.Cost(ctx, vars, maxTestCost)
	switch {
	case more:
		return fmt.Sprintf("; the condition costs over %d units", cost)
	case cost > expression.MaxCost:
		return fmt.Sprintf("; the condition costs %d units", cost)
	}
	return ""
}
