// Package plan owns what `armature plan` shows and what a plan file contains: writes and
// deletions in one document. It knows neither flags nor Temporal: the caller runs the dry runs.
package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
)

// The actions of a deletion besides activities.PlanDelete. A resource falls with another one
// that a cascade deletes, and is kept by its policy or because of a refused resource.
const (
	ActionFalls   activities.PlanAction = "falls"
	ActionKept    activities.PlanAction = "kept"
	ActionRefused activities.PlanAction = "refused"
	ActionAbsent  activities.PlanAction = "absent"
)

// Row is the plan of one resource.
type Row struct {
	ID   resource.ID `json:"id"`
	Name string      `json:"name"`
	activities.PlanResourceResult
	// Issues are ARM's objections, with their places in the manifests.
	Issues []manifest.Issue `json:"issues,omitempty"`
	Deletion
	// Loss is the data that is lost, nil for none.
	Loss *Loss `json:"loss,omitempty"`
	// Order are the steps of a replacement.
	Order []ReplacementStep `json:"order,omitempty"`
	// desired is the manifest, nil for a deletion without one.
	desired *resource.Desired
}

// Loss is data that is lost with a resource, and how Azure can restore it.
type Loss struct {
	// Of names the resources with the data.
	Of []string `json:"of"`
	// Restore completes "to restore it, ...", and Within is how long Azure keeps the data. Both
	// are "" if that is not known.
	Restore string `json:"restore,omitempty"`
	Within  string `json:"within,omitempty"`
	// Final is set if nothing restores it.
	Final bool `json:"final,omitempty"`
}

// String returns the fate of the data in words.
func (l Loss) String() string {
	switch {
	case l.Final:
		return "deleted; nothing restores it"
	case l.Restore == "":
		return "deleted; whether Azure can restore it is not known"
	case l.Within == "":
		return "deleted; to restore it, " + l.Restore + "; how long Azure keeps it is not known"
	}
	return "deleted; to restore it, " + l.Restore + ", within " + l.Within
}

// Verdict is the result of a plan in words that do not change.
type Verdict string

// The verdicts.
const (
	VerdictUnchanged Verdict = "no changes"
	VerdictChanges   Verdict = "changes"
	VerdictRefused   Verdict = "refused"
	VerdictFailed    Verdict = "failed"
	VerdictNone      Verdict = "no plan"
)

// Plan is a whole plan: the resources of the manifests in dependency order, then those that
// are deleted, dependents first. Its JSON names do not change.
type Plan struct {
	Summary map[activities.PlanAction]int `json:"summary"`
	Consent Consent                       `json:"consent,omitzero"`
	// Findings are the issues of the manifests. There is no plan if one is a fault.
	Findings  manifest.Issues `json:"findings,omitempty"`
	Resources []Row           `json:"resources"`
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

// New returns the plan of manifests with the results of their dry runs, and of a deletion.
func New(desired []resource.Desired, results []activities.PlanResourceResult, deletions []Deletable, consent Consent) Plan {
	p := Plan{Resources: make([]Row, 0, len(desired)+len(deletions)), Summary: map[activities.PlanAction]int{}, Consent: consent, title: "Plan: "}
	if len(desired) == 0 && len(deletions) > 0 {
		p.title = "Deletion: "
	}
	for i := range desired {
		row := Row{ID: desired[i].ID, Name: desired[i].Name, PlanResourceResult: results[i], desired: &desired[i]}
		if row.Action == activities.PlanNone && len(row.Settings) > 0 {
			row.Action = activities.PlanConfigure
		}
		row.judgeReplacement()
		p.Resources = append(p.Resources, row)
	}
	p.Resources = append(p.Resources, judge(deletions, consent)...)
	for _, row := range p.Resources {
		p.Summary[row.Action]++
	}
	return p
}

// None returns the document of manifests without a plan, because one of their issues is a
// fault.
func None(findings manifest.Issues) Plan {
	return Plan{Resources: []Row{}, Summary: map[activities.PlanAction]int{}, Findings: findings, title: "No plan: "}
}

// Verdict returns the result of the plan.
func (p Plan) Verdict() Verdict {
	switch {
	case len(p.Findings.Of(manifest.SeverityFault)) > 0:
		return VerdictNone
	case p.Errors() > 0:
		return VerdictFailed
	case p.Refused() && !p.Consent.KeepGoing:
		return VerdictRefused
	case p.HasChanges():
		return VerdictChanges
	}
	return VerdictUnchanged
}

// HasChanges reports whether any resource is not unchanged.
func (p Plan) HasChanges() bool { return len(p.Resources) > p.Summary[activities.PlanNone] }

// Errors returns the number of resources that could not be planned.
func (p Plan) Errors() int { return p.Summary[activities.PlanError] }

// Refused reports whether a resource may not be deleted.
func (p Plan) Refused() bool { return p.Summary[ActionRefused] > 0 }

// Row returns the row of a resource, a zero one if the plan does not have it.
func (p Plan) Row(id resource.ID) Row {
	i := slices.IndexFunc(p.Resources, func(row Row) bool { return row.ID.Equal(id) })
	if i < 0 {
		return Row{}
	}
	return p.Resources[i]
}

// IDs returns the resources of the plan that an apply or a deletion does not leave as they are.
func (p Plan) IDs() []resource.ID {
	var ids []resource.ID
	for _, row := range p.Resources {
		if row.Action != activities.PlanNone {
			ids = append(ids, row.ID)
		}
	}
	return ids
}

// SetOrphans adds the managed resources without a manifest; of names what they belong to.
func (p *Plan) SetOrphans(orphans []resource.ID, of string) { p.Orphans, p.orphansOf = orphans, of }

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

// DependenciesIn returns the dependencies of a resource that have a manifest in the
// same set.
func DependenciesIn(desired resource.Desired, set manifest.Set) []resource.ID {
	return slices.DeleteFunc(desired.Needs(), func(id resource.ID) bool {
		_, known := set.Sources[id.Key()]
		return !known
	})
}
