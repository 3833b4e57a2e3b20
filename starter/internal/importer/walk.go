// Package importer reads what is in Azure for an import, keeps account of every resource,
// and writes the manifests: their files, and what changed since an earlier import into the
// same folder. Package convert makes their texts.
package importer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/types"
	"github.com/armature-io/armature/workflows"
)

// maxParallelReads bounds concurrent reads: few, because the workers need the read budget of
// the subscription for their passes too.
const maxParallelReads = 16

// Reads are the reads of an import.
type Reads struct {
	From interface {
		Import(ctx context.Context, workflowID string, in activities.ImportResourceInput) (activities.ImportResourceResult, error)
	}
	// Credential and APIVersion are those of the user, "" for none.
	Credential, APIVersion string
	// Defaults keeps the values that the services set by themselves.
	Defaults bool
	// ByManifest looks for resources that no manifest has: an item in the body of a managed
	// resource is a resource of its own unless the manifest states it.
	ByManifest bool
	// Progress reports how far a long import is.
	Progress func(format string, args ...any)
	// Named returns an error with the resource that it is about.
	Named func(name string, err error) error
}

// task is one read: of a resource, of a list, or of both.
type task struct {
	in activities.ImportResourceInput
	// listed is set where a list of Azure named the resource, optional where it is absent in
	// some parents.
	listed, optional bool
	// deep is set where what is in the found resources is imported too.
	deep bool
}

// isQuery reports whether the task runs a query.
func (t task) isQuery() bool { return t.in.Contents != nil && t.in.Contents.Query != "" }

// isMore reports whether the task reads only what is in a resource.
func (t task) isMore() bool { return t.in.Contents != nil && t.in.Contents.Only }

// name returns what the task reads, for messages.
func (t task) name() string {
	if t.in.ID.IsZero() {
		return "the query"
	}
	return cli.KindAndName(t.in.ID)
}

// walk is the state of one import.
type walk struct {
	Reads
	result Result
	known  map[string]bool
	// late are children that a flat list names: the list of their parent has precedence,
	// because it names the api-version of the parent.
	late []task
	// inline are the items in the bodies of resources, by the key of the resource.
	inline map[string]inlineItems
	// managed are the resource groups that services manage, by key, and by what.
	managed map[string]string
}

// All reads the inputs and, if deep is set, what is in them, each resource once.
func (r Reads) All(ctx context.Context, inputs []activities.ImportResourceInput, deep bool) (Result, error) {
	w := &walk{Reads: r, known: map[string]bool{}, inline: map[string]inlineItems{}, managed: map[string]string{}}
	w.result.WithParent = map[string]bool{}
	run, number := backend.NewRunID(workflows.ImportIDPrefix), 0
	var tasks []task
	for _, in := range inputs {
		tasks = append(tasks, task{in: in, deep: deep})
	}
	for level := 1; ; level++ {
		if tasks = w.unknown(tasks); len(tasks) == 0 {
			if tasks, w.late = w.unknown(w.notInline(w.late)), nil; len(tasks) == 0 {
				w.result.sort()
				return w.result, nil
			}
		}
		if level > 1 {
			w.Progress("reading %d more; %d read so far", len(tasks), number)
		}
		results := make([]activities.ImportResourceResult, len(tasks))
		err := backend.ForEach(ctx, len(tasks), maxParallelReads, func(ctx context.Context, i int) error {
			tasks[i].in.Credential = w.Credential
			var err error
			results[i], err = w.From.Import(ctx, fmt.Sprintf("%s:%d", run, number+i+1), tasks[i].in)
			if err == nil && !results[i].ID.Equal(tasks[i].in.ID) {
				err = cli.Failed("the worker read %s instead; nothing of it was imported", results[i].ID)
			}
			return w.Named(tasks[i].name(), err)
		})
		switch {
		case errors.Is(err, backend.ErrInterrupted):
			return Result{}, cli.Failed("interrupted; an import changes nothing in Azure, and nothing was written")
		case err != nil:
			return Result{}, err
		}
		number += len(tasks)
		var next []task
		for i, result := range results {
			if !w.Defaults {
				result = w.withoutDefaults(result)
			}
			w.note(tasks[i], result)
			next = append(next, w.below(tasks[i], result)...)
		}
		tasks = next
	}
}

// unknown returns the tasks without those whose resource was read, or is in the list.
func (w *walk) unknown(tasks []task) []task {
	return slices.DeleteFunc(tasks, func(t task) bool {
		if t.isMore() || t.isQuery() {
			return false
		}
		repeated := w.known[t.in.ID.Key()]
		w.known[t.in.ID.Key()] = true
		return repeated
	})
}

// note records what became of the resource that a task read.
func (w *walk) note(t task, result activities.ImportResourceResult) {
	add := func(status Status, why string) {
		w.result.Outcomes = append(w.result.Outcomes, Outcome{ID: result.ID, Type: result.ID.Type(), Status: status, Why: cli.OneLine(why)})
	}
	switch {
	case t.isMore() || t.isQuery() || isScope(t.in.ID):
		if result.Verdict.Stops() {
			add(NotRead, string(result.Verdict.Reason)+": "+result.Verdict.Message)
		}
	case result.Verdict.Stops() && result.Verdict.Reason == resource.ReasonNotFound && t.optional:
		return
	case result.Verdict.Stops() && result.Verdict.Reason == resource.ReasonNotFound && t.listed:
		add(Skipped, "Azure lists it, and it does not exist any more")
	case result.Verdict.Stops():
		add(NotRead, string(result.Verdict.Reason)+": "+result.Verdict.Message)
	case result.Skipped != "":
		add(Skipped, result.Skipped)
	case statesNothing(result):
		add(Skipped, "a part of its parent that states nothing of its own, or only defaults")
	default:
		w.result.Owned += len(result.Owned)
		w.result.Unread += len(result.Unread)
		w.result.Found = append(w.result.Found, result)
		w.inline[result.ID.Key()] = w.inlineOf(result)
	}
}

// withoutDefaults leaves the defaults of the service out of the body of a result. What is
// managed keeps them: its manifest may state them, and their absence would be a change.
func (w *walk) withoutDefaults(result activities.ImportResourceResult) activities.ImportResourceResult {
	body, err := resource.DecodeBody(result.Body)
	if err != nil || result.Managed {
		return result // the manifest reports the error
	}
	kept, left := drift.WithoutDefaults(result.ID, result.APIVersion, body)
	if len(left) == 0 {
		return result
	}
	if text, err := json.Marshal(kept); err == nil {
		result.Body = text
		w.result.Defaults += len(left)
	}
	return result
}

// isScope reports whether an ID is that of a scope that no manifest can have.
func isScope(id resource.ID) bool {
	return strings.EqualFold(id.Type(), resource.TypeSubscription) || strings.EqualFold(id.Type(), resource.TypeTenant)
}

// statesNothing reports whether a resource that every parent has, such as the default blob
// service of a storage account, has nothing that a manifest would state.
func statesNothing(result activities.ImportResourceResult) bool {
	body, err := resource.DecodeBody(result.Body)
	if err != nil || len(body) > 0 || len(result.Secrets) > 0 || !result.ID.IsChild() {
		return false
	}
	return slices.ContainsFunc(types.Children(result.ID.Owner().Type()), func(child types.Child) bool {
		return strings.EqualFold(child.Type, result.ID.Type()) && slices.ContainsFunc(child.Names, func(n string) bool { return strings.EqualFold(n, result.ID.Name()) })
	})
}
