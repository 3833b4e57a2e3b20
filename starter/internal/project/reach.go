package project

import (
	"regexp"
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/nearest"
	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
)

// aboveSubscriptions names what is in no subscription, as owner: / does.
const aboveSubscriptions = "/"

// subscriptionID is the form of a subscription's ID.
var subscriptionID = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// reach is where a prune may delete.
type reach struct {
	set manifest.Set
	// subscriptions (in lower case) and environments are those that the user named.
	subscriptions, environments []string
}

// checkReach returns an error if the labels of a prune choose resources of subscriptions
// or environments that the user did not name: several subscriptions, one in which no
// manifest is, or another environment than the chosen one.
func (p *Prune) checkReach(set manifest.Set, stale []backend.Record) error {
	if len(stale) == 0 {
		return nil
	}
	r := reach{set: set}
	if err := r.name(p.In); err != nil {
		return err
	}
	var lines, missing []string
	note := func(name, why string, records []backend.Record) {
		lines = append(lines, why+":\n    "+strings.Join(StaleLines(records, MaxStaleShown), "\n    "))
		if !slices.Contains(missing, name) {
			missing = append(missing, name)
		}
	}
	for _, s := range r.foreignSubscriptions(stale) {
		why := "in the subscription " + s
		if s == aboveSubscriptions {
			why = "above subscriptions"
		}
		note(s, why, recordsWhere(stale, func(record backend.Record) bool { return subscriptionOf(record.ID) == s }))
	}
	for _, env := range r.foreignEnvironments(stale) {
		why := "of the environment " + env
		if env == set.Environment {
			why = "not known to be of the environment " + env + " (neither its labels, nor its resource group and subscription)"
		}
		note(env, why, recordsWhere(stale, func(record backend.Record) bool { return r.environmentOf(record) == env }))
	}
	if len(missing) == 0 {
		return nil
	}
	return cli.BadInput("cannot prune by %s, nothing was started: the labels reach over several subscriptions or environments; "+
		"add a label to -l that only these manifests have, or name each with --prune-in:\n  %s\n  --prune-in %s",
		p.Selector, strings.Join(lines, "\n  "), strings.Join(missing, " --prune-in "))
}

// name reads --prune-in.
func (r *reach) name(in []string) error {
	var known []string
	for _, env := range r.set.Environments {
		known = append(known, env.Name)
	}
	for _, name := range in {
		i := slices.Index(known, name)
		switch {
		case i >= 0:
			r.environments = append(r.environments, name)
			if s := r.set.Environments[i].Subscription; s != "" {
				r.subscriptions = append(r.subscriptions, strings.ToLower(s))
			}
		case name == aboveSubscriptions || subscriptionID.MatchString(name):
			r.subscriptions = append(r.subscriptions, strings.ToLower(name))
		case len(known) == 0:
			return cli.BadInput("--prune-in %q is no subscription; write its GUID, or / for what is above subscriptions", name)
		default:
			return cli.BadInput("--prune-in %q is neither a subscription (a GUID) nor an environment%s; there are %s", name, nearest.Suggest(name, known), strings.Join(known, ", "))
		}
	}
	return nil
}

// subscriptionOf returns the subscription of a resource in lower case.
func subscriptionOf(id resource.ID) string {
	if id.Subscription() == "" {
		return aboveSubscriptions
	}
	return strings.ToLower(id.Subscription())
}

// foreignSubscriptions returns the subscriptions of stale resources that need a name,
// sorted: all of several, and one in which no manifest is.
func (r *reach) foreignSubscriptions(stale []backend.Record) []string {
	own := map[string]bool{}
	for _, desired := range r.set.Resources {
		own[subscriptionOf(desired.ID)] = true
	}
	var found []string
	for _, record := range stale {
		if s := subscriptionOf(record.ID); !slices.Contains(found, s) {
			found = append(found, s)
		}
	}
	if len(found) == 1 && own[found[0]] {
		return nil
	}
	slices.Sort(found)
	return slices.DeleteFunc(found, func(s string) bool { return slices.Contains(r.subscriptions, s) })
}

// foreignEnvironments returns the environments of stale resources that need a name, in the
// order of the project: others than the chosen one, and the chosen one for resources that may be
// of any.
func (r *reach) foreignEnvironments(stale []backend.Record) []string {
	if r.set.Environment == "" || len(r.set.Environments) < 2 {
		return nil
	}
	var foreign []string
	for _, env := range r.set.Environments {
		isForeign := slices.ContainsFunc(stale, func(record backend.Record) bool {
			return r.environmentOf(record) == env.Name
		})
		if isForeign && !slices.Contains(r.environments, env.Name) {
			foreign = append(foreign, env.Name)
		}
	}
	return foreign
}

// environmentOf returns the environment that must be named before a resource is deleted, ""
// for a resource of the chosen one.
func (r *reach) environmentOf(record backend.Record) string {
	other := ""
	for _, env := range r.set.Environments {
		switch {
		case !r.owns(env, record):
		case env.Name == r.set.Environment:
			return ""
		case other == "":
			other = env.Name
		}
	}
	if other == "" {
		return r.set.Environment
	}
	return other
}

// owns reports whether a resource is known to be of an environment: by the labels of the
// environment, else by its resource group, else by its subscription where no other
// environment has that.
func (r *reach) owns(env manifest.Environment, record backend.Record) bool {
	if len(env.Labels) > 0 {
		has := func(label string) bool { return slices.Contains(record.Labels, label) }
		if !slices.ContainsFunc(env.Labels, func(label string) bool { return !has(label) }) {
			return !r.hasLabelsOfOther(env, record)
		}
		for _, label := range env.Labels {
			key, _, _ := strings.Cut(label, "=")
			if slices.ContainsFunc(record.Labels, func(l string) bool { return strings.HasPrefix(l, key+"=") && l != label }) {
				return false
			}
		}
	}
	isIn := strings.EqualFold(env.Subscription, record.ID.Subscription()) || env.Subscription == ""
	switch {
	case env.ResourceGroup != "":
		return isIn && strings.EqualFold(env.ResourceGroup, record.ID.ResourceGroup()) && !r.shares(env, true)
	case env.Subscription != "":
		return isIn && !r.shares(env, false)
	}
	return false
}

// hasLabelsOfOther reports whether the labels of an environment do not distinguish it: a
// resource has those of another one with as many, too.
func (r *reach) hasLabelsOfOther(env manifest.Environment, record backend.Record) bool {
	return slices.ContainsFunc(r.set.Environments, func(other manifest.Environment) bool {
		return other.Name != env.Name && len(other.Labels) >= len(env.Labels) &&
			!slices.ContainsFunc(other.Labels, func(label string) bool { return !slices.Contains(record.Labels, label) })
	})
}

// shares reports whether another environment has the same subscription, and the same
// resource group where group is set.
func (r *reach) shares(env manifest.Environment, group bool) bool {
	return slices.ContainsFunc(r.set.Environments, func(other manifest.Environment) bool {
		return other.Name != env.Name && strings.EqualFold(other.Subscription, env.Subscription) &&
			(!group || strings.EqualFold(other.ResourceGroup, env.ResourceGroup))
	})
}

func recordsWhere(records []backend.Record, is func(backend.Record) bool) []backend.Record {
	return slices.DeleteFunc(slices.Clone(records), func(r backend.Record) bool { return !is(r) })
}

// inUsage is the help of --prune-in.
const inUsage = "`subscription` (GUID, or / above subscriptions) or environment in which --prune may delete, where its labels reach over several (repeatable)"
