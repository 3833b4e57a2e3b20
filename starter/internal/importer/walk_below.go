package importer

import (
	"cmp"
	"slices"
	"strings"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/importing"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
)

// below returns the tasks that follow from what is in a resource.
func (w *walk) below(t task, result activities.ImportResourceResult) []task {
	contents := result.Contents
	if contents == nil {
		return nil
	}
	for _, u := range contents.Unlisted {
		w.result.unlisted(result.ID, u)
	}
	var tasks []task
	again := *t.in.Contents
	again.Lists, again.Page = contents.Lists, contents.Page
	if len(contents.Lists) > 0 {
		again.Only = true
	}
	if len(contents.Lists) > 0 || contents.Page != "" {
		tasks = append(tasks, task{deep: t.deep, in: activities.ImportResourceInput{ID: result.ID, APIVersion: cmp.Or(result.APIVersion, t.in.APIVersion), Contents: &again}})
	}
	for _, item := range contents.Items {
		tasks = append(tasks, w.item(t, item)...)
	}
	return tasks
}

// item returns the task for an item of a list.
func (w *walk) item(t task, item importing.Item) []task {
	if item.ManagedBy != "" {
		w.managed[item.ID.Key()] = item.ManagedBy
	}
	if group := groupOf(item.ID); item.Skipped == "" && w.managed[group] != "" {
		item.Skipped = "the service of " + w.managed[group] + " manages its resource group"
	}
	if item.Skipped == "" && w.isInline(item.ID) {
		item.Skipped, item.Below = inBody, true
		w.result.WithParent[item.ID.Key()] = true
	}
	if item.BuiltIn {
		w.result.WithParent[item.ID.Key()] = true
	}
	if item.Skipped != "" {
		w.skip(item.ID, item.Skipped)
		if !item.Below {
			return nil
		}
	}
	next := task{deep: t.deep, listed: true, optional: item.Optional, in: activities.ImportResourceInput{ID: item.ID, APIVersion: cmp.Or(item.APIVersion, w.APIVersion)}}
	if t.deep {
		isSubscription := strings.EqualFold(item.ID.Type(), resource.TypeSubscription)
		next.in.Contents = &importing.Request{
			Root: item.Root || t.isQuery(), Listed: item.Listed && !isSubscription, Only: item.Skipped != "" || isScope(item.ID),
		}
	}
	if item.APIVersion == "" && item.ID.IsChild() && !t.isQuery() {
		w.late = append(w.late, next)
		return nil
	}
	return []task{next}
}

// inBody is why an item of a body needs no manifest.
const inBody = "the manifest of its parent states it"

// isInline reports whether the body of the parent of a child has the child.
func (w *walk) isInline(id resource.ID) bool {
	return id.IsChild() && w.inline[id.Owner().Key()].have(id)
}

// notInline returns the tasks without those whose resource is in the body of its parent.
func (w *walk) notInline(tasks []task) []task {
	for i, t := range tasks {
		if w.isInline(t.in.ID) {
			w.skip(t.in.ID, inBody)
			w.result.WithParent[t.in.ID.Key()] = true
			if tasks[i].in.Contents != nil {
				tasks[i].in.Contents.Only = true
			}
		}
	}
	return slices.DeleteFunc(tasks, func(t task) bool { return w.isInline(t.in.ID) && t.in.Contents == nil })
}

// skip records why a resource needs no manifest, once.
func (w *walk) skip(id resource.ID, why string) {
	if !w.known[id.Key()] {
		w.known[id.Key()] = true
		w.result.Outcomes = append(w.result.Outcomes, Outcome{ID: id, Type: id.Type(), Status: Skipped, Why: cli.OneLine(why)})
	}
}

// groupOf returns the key of the resource group of a resource, "" for none.
func groupOf(id resource.ID) string {
	if id.ResourceGroup() == "" {
		return ""
	}
	return strings.ToLower("/subscriptions/" + id.Subscription() + "/resourceGroups/" + id.ResourceGroup())
}
