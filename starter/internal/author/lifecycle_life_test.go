package author_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// life is the life of one resource: the steps of its passes, with the memory between
// them.
type life struct {
	*world
	spec   resource.Desired
	memory json.RawMessage
	puts   int
}

// maxTries is how often a pass that is blocked is tried again.
const maxTries = 5

// errBlocked is a verdict that waits for something to end.
var errBlocked = errors.New("blocked")

// pass runs passes until the resource is Ready, and returns why it is not.
func (l *life) pass(correction bool) error {
	return l.retry(func() error { return l.passOnce(correction) })
}

// retry tries again what is blocked, as the workflow does.
func (l *life) retry(try func() error) error {
	err := try()
	for range maxTries {
		if !errors.Is(err, errBlocked) {
			return err
		}
		l.advance(time.Minute)
		err = try()
	}
	return err
}

func (l *life) passOnce(correction bool) error {
	owner, err := local(l.acts.CheckOwner, activities.CheckOwnerInput{Desired: l.spec})
	if err := stopped("CheckOwner", owner.Verdict, err); err != nil {
		return err
	}
	got, err := l.read(activities.GetResourceInput{})
	if err != nil {
		return err
	}
	pre, err := local(l.acts.PreCheck, activities.PreCheckInput{
		Desired: l.spec, PassFacts: activities.PassFacts{Mandate: activities.Mandate{Correction: correction}}, Observed: got.Observed, Memory: l.memory, Applied: l.puts > 0, Existed: l.puts > 0,
		ExistenceOnly: got.ExistenceOnly,
	})
	if err := stopped("PreCheck", pre.Verdict, err); err != nil {
		return err
	}
	post := activities.PostCheckInput{Desired: l.spec, Memory: l.memory, Observed: got.Observed, Put: pre.Adopt, Adopted: pre.Adopt}
	if pre.Verdict.Action == resource.ActionProceed && !pre.Adopt {
		if err := l.write(pre.Verdict, got, correction, &post); err != nil {
			return err
		}
	}
	end, err := local(l.acts.PostCheck, post)
	if end.Memory != nil {
		l.memory = end.Memory
	}
	return stopped("PostCheck", end.Verdict, err)
}

// write sends the PUT, waits for its operation, and reads the resource.
func (l *life) write(pre resource.Verdict, got activities.GetResourceResult, correction bool, post *activities.PostCheckInput) error {
	kind := activities.PutChange
	switch {
	case pre.Create && l.puts == 0:
		kind = activities.PutCreation
	case pre.Create:
		kind = activities.PutRecreation
	}
	put, err := finish(l.world, l.acts.PutResource, activities.PutResourceInput{
		Desired: l.spec, PassFacts: activities.PassFacts{Mandate: activities.Mandate{Correction: correction}}, Kind: kind, Memory: l.memory, ObservedAt: got.ReadAt, Token: fmt.Sprint(l.puts),
	})
	if err := stopped("PutResource", put.Verdict, err); err != nil {
		return err
	}
	if put.Memory != nil {
		l.memory, post.Memory = put.Memory, put.Memory
	}
	if put.Sent {
		l.puts++
	}
	if !put.Done {
		polled, err := finish(l.world, l.acts.PollOperation, activities.PollOperationInput{Target: l.spec.Target(), Token: put.Token, RetryAfter: put.RetryAfter})
		if err := stopped("PollOperation", polled.Verdict, err); err != nil {
			return err
		}
	}
	after, err := l.read(activities.GetResourceInput{Expect: activities.ExpectPresent})
	if err != nil {
		return err
	}
	post.Observed, post.Put, post.Sent, post.Kept, post.Secrets, post.Differences = after.Observed, true, true, put.Kept, put.Secrets, pre.Differences
	return nil
}

func (l *life) read(in activities.GetResourceInput) (activities.GetResourceResult, error) {
	in.Target = l.spec.Target()
	got, err := finish(l.world, l.acts.GetResource, in)
	return got, stopped("GetResource", got.Verdict, err)
}

// end deletes the resource and reads that it is absent. It reports whether the type has a
// DELETE.
func (l *life) end() (deletable bool, err error) {
	err = l.retry(func() (err error) {
		deletable, err = l.deleteOnce()
		return err
	})
	return deletable, err
}

func (l *life) deleteOnce() (bool, error) {
	deleted, err := finish(l.world, l.acts.DeleteResource, activities.DeleteResourceInput{Desired: l.spec})
	if deleted.Verdict.Reason == resource.ReasonDeletionNotSupported {
		return false, nil
	}
	if err := stopped("DeleteResource", deleted.Verdict, err); err != nil {
		return true, err
	}
	if !deleted.Done {
		polled, err := finish(l.world, l.acts.PollOperation, activities.PollOperationInput{
			Target: l.spec.Target(), Token: deleted.Token, RetryAfter: deleted.RetryAfter, Delete: true,
		})
		if err := stopped("PollOperation of the DELETE", polled.Verdict, err); err != nil {
			return true, err
		}
	}
	got, err := l.read(activities.GetResourceInput{Expect: activities.ExpectAbsent, Deleted: deleted.Accepted})
	if err == nil && got.Exists {
		err = fmt.Errorf("after its DELETE it still exists")
	}
	return true, err
}

// stopped returns the verdict that ends a pass early as an error.
func stopped(step string, verdict resource.Verdict, err error) error {
	if err == nil && verdict.Stops() {
		err = fmt.Errorf("%s %s: %s", verdict.Action, verdict.Reason, verdict.Message)
		if verdict.Action == resource.ActionBlock {
			err = fmt.Errorf("%w: %w", errBlocked, err)
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", step, err)
	}
	return nil
}

// change is a property that a manifest states and another tool changes.
type change struct {
	path []string
}

// set returns a body with a value of the property.
func (c change) set(body map[string]any, value string) map[string]any {
	out := map[string]any{}
	for name, member := range body {
		out[name] = member
	}
	if len(c.path) == 1 {
		out[c.path[0]] = value
		return out
	}
	inner, _ := out[c.path[0]].(map[string]any)
	out[c.path[0]] = change{c.path[1:]}.set(inner, value)
	return out
}

// changeOf returns a property of a shape that takes any text: a tag, else a writable text
// without a pattern.
func changeOf(shape *types.Shape) (change, bool) {
	body := shape.Body
	if tags, found := body.Property("tags"); found && isShown(tags) && tags.Type.Kind == types.Object {
		return change{[]string{tags.Name, "walk"}}, true
	}
	properties, found := body.Property("properties")
	if !found || !isShown(properties) {
		return change{}, false
	}
	lists := [][]types.Property{properties.Type.Properties}
	if len(properties.Type.Variants) > 0 {
		lists = append(lists, properties.Type.Variants[0].Type.Properties)
	}
	for _, list := range lists {
		for _, p := range list {
			free := p.Type.Kind == types.Text && p.Type.Bounds == nil && !p.Type.Sensitive && p.Name != properties.Type.Discriminator
			at := resource.Path{{Name: properties.Name}, {Name: p.Name}}
			hidden := !isShown(p) || resource.SecretName(p.Name) || types.MarksOf(shape.Type).Sensitive.Cover(at)
			if lower := strings.ToLower(p.Name); free && !hidden && !strings.HasSuffix(lower, "id") && !strings.Contains(lower, "state") {
				return change{[]string{properties.Name, p.Name}}, true
			}
		}
	}
	return change{}, false
}

// isShown reports whether a property is written and read.
func isShown(p types.Property) bool { return p.Flags&(types.ReadOnly|types.WriteOnly) == 0 }
