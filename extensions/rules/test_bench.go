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
	reads := &testReads{Case: c, bench: b, made: map[string]bool{}}
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

// testReads resolves what a test states under reads.
type testReads struct {
	*Case
	bench *bench
	mu    sync.Mutex
	made  map[string]bool
}

// Resolve implements extensions.Resolver. The read is named by the context of readAll.
func (t *testReads) Resolve(ctx context.Context, reference resource.Reference) (extensions.Resolution, error) {
	place, _ := ctx.Value(readNameKey{}).(readPlace)
	name := place.name
	t.mu.Lock()
	t.made[name] = true
	t.mu.Unlock()
	body := t.Reads[name]
	if body == nil {
		return extensions.Resolution{}, nil
	}
	object := t.bench.view.Other(&resource.Object{ID: reference.ID, Observed: body})
	return extensions.Resolution{Found: true, Object: object, Ready: object.Ready()}, nil
}

// unmade returns an error for a body that the test states and the rule did not read.
func (t *testReads) unmade() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(t.Reads)) {
		if !t.made[name] {
			return fmt.Errorf("the rule did not read %s, although the test states it under reads: its ID is not set here, or the rule did not run", name)
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
