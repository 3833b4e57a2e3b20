// Package plan owns what `armature plan` shows and what a plan file contains. It
// knows neither flags nor Temporal: the caller runs the dry runs.
package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
)

// Change is what a plan shows about one resource.
type Change struct {
	ID   resource.ID `json:"id"`
	Name string      `json:"name"`
	activities.PlanResourceResult
	// Issues are ARM's objections, with their places in the manifests.
	Issues []manifest.Issue `json:"issues,omitempty"`
	// policy is the policy of a resource that a prune deletes, and deletion is set for one.
	policy   resource.Policy
	deletion bool
	// desired is the spec, zero for a deletion.
	desired resource.Desired
}

// Plan is a whole plan: the resources of the manifests in dependency order, then the
// resources that a prune deletes. Its JSON names do not change.
type Plan struct {
	Resources []Change                      `json:"resources"`
	Summary   map[activities.PlanAction]int `json:"summary"`
	// Orphans are the managed resources of the environment or of the labels without a
	// manifest, which no prune deletes.
	Orphans []resource.ID `json:"withoutManifest,omitempty"`
	// Preflight is set if ARM was asked about the PUTs.
	Preflight *Preflight `json:"preflight,omitempty"`
	// orphansOf is what the orphans belong to, in a sentence.
	orphansOf string
	// title begins the summary for people.
	title string
}

// New returns the plan of manifests with the results of their dry runs, and of the
// records that a prune deletes.
func New(desired []resource.Desired, results []activities.PlanResourceResult, stale []backend.Record) Plan {
	p := Plan{Resources: make([]Change, 0, len(desired)+len(stale)), Summary: map[activities.PlanAction]int{}, title: "Plan: "}
	for i, d := range desired {
		c := Change{ID: d.ID, Name: d.Name, PlanResourceResult: results[i], desired: d}
		if c.Action == activities.PlanNone && len(c.Settings) > 0 {
			c.Action = activities.PlanConfigure
		}
		p.Resources = append(p.Resources, c)
	}
	for _, r := range stale {
		p.Resources = append(p.Resources, newDeletion(r))
	}
	for _, c := range p.Resources {
		p.Summary[c.Action]++
	}
	return p
}

// SetOrphans adds the managed resources without a manifest; of names what they belong to.
func (p *Plan) SetOrphans(orphans []backend.Record, of string) {
	for _, r := range orphans {
		p.Orphans = append(p.Orphans, r.ID)
	}
	p.orphansOf = of
}

// maxOrphansNamed bounds the names in the line about orphans.
const maxOrphansNamed = 5

// orphansText returns the line about orphans, each name as quote writes it; "" for none.
func (p Plan) orphansText(quote func(string) string) string {
	if len(p.Orphans) == 0 {
		return ""
	}
	var names []string
	for _, id := range p.Orphans[:min(maxOrphansNamed, len(p.Orphans))] {
		names = append(names, quote(id.Short()))
	}
	if more := len(p.Orphans) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("… and %d more", more))
	}
	verb := " have"
	if len(p.Orphans) == 1 {
		verb = " has"
	}
	return cli.Count(len(p.Orphans), "managed resource") + " of " + quote(p.orphansOf) + verb + " no manifest: " + strings.Join(names, ", ")
}

// HasChanges reports whether any resource is not unchanged.
func (p Plan) HasChanges() bool { return len(p.Resources) > p.Summary[activities.PlanNone] }

// Errors returns the number of resources that could not be planned.
func (p Plan) Errors() int { return p.Summary[activities.PlanError] }

// DependenciesIn returns the dependencies of a resource that have a manifest in the
// same set.
func DependenciesIn(desired resource.Desired, set manifest.Set) []resource.ID {
	return slices.DeleteFunc(desired.Needs(), func(id resource.ID) bool {
		_, known := set.Sources[id.Key()]
		return !known
	})
}

// newDeletion returns the change for a resource without a manifest. Its policy
// decides what the deletion means.
func newDeletion(r backend.Record) Change {
	c := Change{ID: r.ID, Name: r.Name, policy: r.Policy, deletion: true}
	c.Action, c.APIVersion, c.Managed = activities.PlanDelete, r.APIVersion, true
	switch {
	case r.Policy.Detaches():
		c.Message = "it is kept in Azure and no longer managed (policy " + string(r.Policy) + ")"
	case r.Policy == resource.PolicyProtect:
		c.Action, c.Reason = activities.PlanBlocked, resource.ReasonProtected
		c.Message = "it has no manifest, but its policy is protect: the deletion would be refused"
	}
	return c
}
