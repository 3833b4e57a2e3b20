package plan

import (
	"slices"
	"strings"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/contents"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
)

// ReplacementStep is one step of a replacement: resources that are deleted or created at a time.
type ReplacementStep struct {
	Action    activities.PlanAction `json:"action"`
	Resources []resource.ID         `json:"resources"`
}

// judgeReplacement adds to a replacement the refusals that follow from the facts about its
// DELETE, the data that is lost, and the order of its steps.
func (c *Row) judgeReplacement() {
	if c.Replacement == nil {
		return
	}
	facts := c.Replacement.Deletion
	c.Refusals = slices.Clone(c.Replacement.Refusals)
	c.Refusals.addGuards(c.ID, facts, nil)
	again := "run `armature delete " + c.ID.Short() + " --cascade --with-data` and then `armature apply` for a new one without them"
	c.Refusals.addContents(facts, Consent{}, func(string) string { return again })
	if facts.Closed {
		c.Refusals.add(ReasonNotKnown, "not known: its contents, because Azure refuses to list them for now", "repeat the command later, or start it")
	}
	c.Refusals.addMore(facts)
	if of := contents.Names(facts.Data); len(of) > 0 || c.Replacement.Loss != "" {
		if len(of) == 0 {
			of = []string{contents.DisplayName(c.ID)}
		}
		c.Loss = &Loss{Of: of, Restore: facts.Restore, Within: facts.Within}
	}
	for _, dependent := range facts.Dependents {
		if !activities.Contains(c.ID, dependent.ID) {
			c.Outside = append(c.Outside, dependent.ID)
		}
	}
	c.Contents = contents.Names(slices.Concat(facts.Rules, facts.ManagedGroups))
	c.Order = c.replacementOrder()
}

// replacementOrder returns the steps: managed resources elsewhere that need the resource are
// deleted before it and created after it, and those in it fall with it.
func (c *Row) replacementOrder() []ReplacementStep {
	falling := slices.Clone(c.Replacement.Falling)
	slices.SortFunc(falling, func(a, b resource.ID) int { return strings.Compare(a.Key(), b.Key()) }) // owners first
	steps := []ReplacementStep{
		{activities.PlanDelete, c.Outside},
		{activities.PlanDelete, append([]resource.ID{c.ID}, falling...)},
		{activities.PlanCreate, []resource.ID{c.ID}},
		{activities.PlanCreate, falling},
		{activities.PlanCreate, c.Outside},
	}
	return slices.DeleteFunc(steps, func(s ReplacementStep) bool { return len(s.Resources) == 0 })
}

// replacementDetails returns the lines about refusals, losses and order of a replacement.
func (c Row) replacementDetails() []detail {
	if c.Replacement == nil {
		return nil
	}
	lines := c.guardDetails()
	add := func(path, remark string) { lines = append(lines, detail{path: path, remark: cli.OneLine(remark)}) }
	if c.Replacement.Loss != "" {
		add("lost", c.Replacement.Loss)
	}
	if len(c.Contents) > 0 {
		add("lost with it, because no manifest has it", firstOf(c.Contents))
	}
	if len(c.Replacement.Falling) > 0 {
		add("falls with it, and is created again", firstOf(displayNames(c.Replacement.Falling)))
	}
	var order []string
	for _, step := range c.Order {
		order = append(order, string(step.Action)+" "+firstOf(displayNames(step.Resources)))
	}
	add("order", strings.Join(order, "; then "))
	return lines
}

// Replacements returns the rows that delete a resource and create it again.
func (p Plan) Replacements() []Row {
	return slices.DeleteFunc(slices.Clone(p.Resources), func(c Row) bool { return c.Action != activities.PlanReplace })
}

// MayReplace reports whether the manifest of the resource allows a user to replace it.
func (c Row) MayReplace() bool { return c.desired.Recreate == resource.RecreateOnImmutable }
