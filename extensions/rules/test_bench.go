package rules

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/extensions/azure"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
)

// bench runs the rules of a file as a worker does: through its registry, with the built-in
// facts and those of the file, and with secrets masked.
type bench struct {
	registry *extensionhost.Registry
	view     extensionhost.View
}

// testFacts are the built-in facts, and those of the rules under test by type in lower case.
type testFacts map[string]extensions.Facts

// Facts implements extensionhost.FactSource.
func (t testFacts) Facts(resourceType string) extensions.Facts {
	return azure.FactsOf(resourceType).With(t[strings.ToLower(resourceType)])
}

func newBench(rules []*rule) (*bench, error) {
	facts := testFacts{}
	for _, r := range rules {
		key := strings.ToLower(r.resourceType)
		facts[key] = facts[key].With(r.facts)
	}
	registry, err := extensionhost.New(extensions.Entry{Type: extensions.AllTypes, Link: facts})
	if err != nil {
		return nil, fmt.Errorf("prepare the tests of rules: %w", err)
	}
	return &bench{registry: registry, view: registry.View()}, nil
}

// shown returns the input of a rule as a worker shows it. A payload rule gets the resource
// with its secrets.
func (b *bench) shown(r *rule, in input) input {
	if r.at != atPayload {
		in.obj = b.view.Own(in.obj)
	}
	if in.owner != nil {
		in.owner = b.view.Other(in.owner)
	}
	return in
}

// evaluate returns what the rule does in a case.
func (b *bench) evaluate(ctx context.Context, c *Case, r *rule, in input) (got, error) {
	switch r.at {
	case atError:
		return c.classify(ctx, r)
	case atFacts:
		return c.factOf(r), nil
	}
	reads := &testReads{Case: c, bench: b, made: map[string]int{}}
	registry := b.registry.Only(r.link())
	in.obj.Labels = in.labels
	request := extensionhost.Request{Object: in.obj, Owner: in.owner, Force: in.forced, Now: c.Now, Resolver: reads}
	var result got
	switch r.at {
	case atOwner:
		result = gotOf(registry.CheckOwner(ctx, request))
	case atPost:
		result = gotOf(registry.PostCheck(ctx, request))
	case atPayload:
		payload, stop := registry.Modify(ctx, request, in.payload)
		if result = (got{result: "pass", payload: payload}); stop != nil {
			result = gotOf(*stop)
		}
		if result.err != nil { // which hides its details, because a worker's payload has secrets
			result.err = r.modify(ctx, jsontree.Clone(in.payload), r.varsOfTest(ctx, c, b, in))
		}
	default:
		result = gotOf(registry.PreCheck(ctx, request))
	}
	if result.err != nil {
		return got{}, result.err
	}
	return result, reads.unmade()
}

// gotOf returns the result of a verdict.
func gotOf(verdict resource.Verdict) got {
	result := got{result: "pass", message: verdict.Message, reason: verdict.Reason}
	switch verdict.Action {
	case resource.ActionBlock:
		result.result = "block"
	case resource.ActionFailure:
		result.result = "fail"
	case resource.ActionError:
		result.err = fmt.Errorf("%s", verdict.Message)
	default:
		result.message, result.reason = "", ""
	}
	return result
}

// testReads resolves and lists what a test states under reads.
type testReads struct {
	*Case
	bench *bench
	mu    sync.Mutex
	// made are the numbers of resources that were read, by name; a list is read as a whole.
	made map[string]int
}

// note records a read and returns its place, which the context of readAll has.
func (t *testReads) note(ctx context.Context) readPlace {
	place, _ := ctx.Value(readNameKey{}).(readPlace)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.made[place.name] = max(t.made[place.name], place.index+1)
	return place
}

// Resolve implements extensions.Resolver.
func (t *testReads) Resolve(ctx context.Context, reference resource.Reference) (extensions.Resolution, error) {
	body := t.stated(t.note(ctx))
	if body == nil {
		return extensions.Resolution{}, nil
	}
	object := t.bench.view.Other(&resource.Object{ID: reference.ID, Observed: body})
	return extensions.Resolution{Found: true, Object: object, Ready: object.Ready()}, nil
}

// List implements extensionhost.Lister.
func (t *testReads) List(ctx context.Context, list extensionhost.List) (extensionhost.Listing, error) {
	name := t.note(ctx).name
	bodies := t.Lists[name]
	t.mu.Lock()
	t.made[name] = max(len(bodies), 1)
	t.mu.Unlock()
	var found extensionhost.Listing
	for _, body := range bodies[:min(len(bodies), list.Max)] {
		found.Resources = append(found.Resources, t.bench.view.Other(list.Item(body)))
	}
	found.More = len(bodies) > list.Max
	return found, nil
}

// unmade returns an error for a body that the test states and the rule did not read.
func (t *testReads) unmade() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	names := slices.Concat(slices.Collect(maps.Keys(t.Reads)), slices.Collect(maps.Keys(t.Lists)))
	slices.Sort(names)
	for _, name := range names {
		if t.made[name] == 0 {
			return fmt.Errorf("the rule did not read %s, although the test states it under reads: its ID is not set here, or the rule did not run", name)
		}
		if stated := len(t.Lists[name]); t.made[name] < stated {
			return fmt.Errorf("the test states %d resources under reads for %s, and the rule read %d: each takes the IDs of the test, each ID once", stated, name, t.made[name])
		}
	}
	return nil
}

// blocksCreation returns the failure of a case that passes an existing resource, if the rule
// blocks the same one while it does not exist: it could never be created.
func (b *bench) blocksCreation(ctx context.Context, c *Case, r *rule) string {
	if r.at != atPre || c.Want != "pass" || c.Observed == nil {
		return ""
	}
	absent := *c
	absent.Observed = nil
	in, err := absent.input(r)
	if err != nil {
		return ""
	}
	result, err := b.evaluate(ctx, &absent, r, b.shown(r, in))
	if err != nil || result.result != "block" {
		return ""
	}
	return fmt.Sprintf("the rule passes this resource, and blocks it while it does not exist (%q), so that no PUT ever creates it: "+
		"begin the condition with observed != null &&, or state the block in a test with observed: null", result.message)
}

// armError returns the error of ARM of a test.
func (c *Case) armError() *arm.Error {
	text := func(name string) string {
		value, _ := c.Failure[name].(string)
		return value
	}
	failure := &arm.Error{Code: text("code"), Message: text("message"), Target: text("target"), Class: arm.ClassSlow}
	if status, ok := c.Failure["status"].(json.Number); ok {
		number, _ := status.Int64()
		failure.Status = int(number)
	}
	return failure
}
