// Package importing lists what is in resources and scopes, for imports: the children that
// can have a manifest, and why others need none. It sends reads only.
package importing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/armature-io/armature/activities/contents"
	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// Bounds of one call: what is left over is another one, so that a result fits into a payload
// of Temporal and a call into the time of an activity.
const (
	// maxImportItems is the number of items after which no other page is read. A page has at
	// most 1,000.
	maxImportItems = 1000
	// maxImportListing is the time after which no other page is read.
	maxImportListing = 30 * time.Second
	// maxUnlistedRunes bounds the reason why a collection was not listed.
	maxUnlistedRunes = 300
)

// Request requests what is in a resource or scope.
type Request struct {
	// Root is set for what the user named: locks, role assignments and policies are listed
	// there, with those below it.
	Root bool `json:"root,omitempty"`
	// Listed is set for a container whose resources another list has.
	Listed bool `json:"listed,omitempty"`
	// Only leaves the resource itself unread.
	Only bool `json:"only,omitempty"`
	// Lists are those that an earlier call left over; empty begins.
	Lists []List `json:"lists,omitempty"`
	// Query finds resources with Azure Resource Graph below the ID, or without one
	// everywhere; Page continues it.
	Query string `json:"query,omitempty"`
	Page  string `json:"page,omitempty"`
}

// List is one list of Azure.
type List struct {
	// Collection is relative to the ID of the resource, for example databases.
	Collection string `json:"collection"`
	// Type is the type of the items, "" for any.
	Type       string `json:"type,omitempty"`
	APIVersion string `json:"apiVersion"`
	Filter     string `json:"filter,omitempty"`
	// Page continues the list; "" begins it.
	Page string `json:"page,omitempty"`
}

// Contents are what is in a resource or scope, as far as Azure shows it.
type Contents struct {
	Items    []Item     `json:"items,omitempty"`
	Unlisted []Unlisted `json:"unlisted,omitempty"`
	// Lists, or Page of a query, are what is left for another call.
	Lists []List `json:"lists,omitempty"`
	Page  string `json:"page,omitempty"`
}

// Item is a listed resource.
type Item struct {
	ID resource.ID `json:"id"`
	// APIVersion is the version to read it with, "" for the newest.
	APIVersion string `json:"apiVersion,omitempty"`
	// Skipped is why it needs no manifest, "" where it is to be read.
	Skipped string `json:"skipped,omitempty"`
	// Below is set for a skipped item that may contain resources, Optional for one that is
	// absent in some parents, and Root and Listed as in Request.
	Below    bool `json:"below,omitempty"`
	Optional bool `json:"optional,omitempty"`
	// BuiltIn is set for a child that exists by itself: with a fixed name, as a setting, or made
	// by the service.
	BuiltIn bool `json:"builtIn,omitempty"`
	Root    bool `json:"root,omitempty"`
	Listed  bool `json:"listed,omitempty"`
	// ManagedBy is the resource that a service made a resource group for: nothing in the
	// group needs a manifest.
	ManagedBy string `json:"managedBy,omitempty"`
}

// Unlisted is a collection whose items are not known.
type Unlisted struct {
	Type string `json:"type"`
	Why  string `json:"why"`
	// Refused is set where the list exists and could not be read.
	Refused bool `json:"refused,omitempty"`
	// Derived is set for views and parts, which come and go with other resources.
	Derived bool `json:"derived,omitempty"`
}

// Lister lists what is in resources and scopes. It remembers which types have no diagnostic
// settings.
type Lister struct {
	client   *arm.Client
	registry *extensionhost.Registry
	// pause waits, and returns false if the wait was interrupted.
	pause func(ctx context.Context, delay time.Duration) bool
	// withoutDiagnostics are types in lower case.
	withoutDiagnostics sync.Map
}

// New returns a Lister.
func New(client *arm.Client, registry *extensionhost.Registry, pause func(ctx context.Context, delay time.Duration) bool) *Lister {
	return &Lister{client: client, registry: registry, pause: pause}
}

// Call is one call of a Lister.
type Call struct {
	ID resource.ID
	// APIVersion is the version of the resource.
	APIVersion string
	Request    Request
	Now        func() time.Time
	// Failed returns the verdict about a list that cannot be read, or the error that asks
	// Temporal for another attempt.
	Failed func(apiVersion string, err error) (resource.Verdict, error)
}

// listing looks for what is in one resource or scope.
type listing struct {
	*Lister
	in       Call
	contents Contents
}

// List lists what is in a resource or scope. Its error is one of Call.Failed, and means that
// no list was read.
func (l *Lister) List(ctx context.Context, in Call) (*Contents, error) {
	i := &listing{Lister: l, in: in}
	if in.Request.Query != "" {
		return &i.contents, i.query(ctx)
	}
	lists := in.Request.Lists
	if len(lists) == 0 {
		lists = i.lists()
	}
	started := in.Now()
	for at := 0; at < len(lists); {
		list := lists[at]
		if at > 0 && (len(i.contents.Items) >= maxImportItems || in.Now().Sub(started) > maxImportListing) {
			i.contents.Lists = lists[at:]
			break
		}
		items, next, err := i.client.Page(ctx, in.ID, list.Collection, list.APIVersion, list.Filter, list.Page)
		if err != nil {
			if progressed := at > 0 || len(i.contents.Items) > 0; progressed && isRepeatable(err) {
				if delay := retryAfter(err); delay > 0 && in.Now().Sub(started)+delay < maxImportListing && i.pause(ctx, delay) {
					continue
				}
				i.contents.Lists = lists[at:]
				break
			}
			if err := i.unlisted(list, err); err != nil {
				return nil, err
			}
			at++
			continue
		}
		for _, item := range items {
			i.item(list, item)
		}
		repeats := next != "" && next == list.Page
		if repeats {
			i.leaveOut(list.Type, "its pages lead to themselves; name the IDs of those that are missing", true)
		}
		if lists[at].Page = next; next == "" || repeats {
			at++
		} else if len(i.contents.Items) >= maxImportItems {
			i.contents.Lists = lists[at:]
			break
		}
	}
	return &i.contents, nil
}

// isRepeatable reports whether a list may be readable later: the budget is exhausted, or the
// error is transient.
func isRepeatable(err error) bool {
	failure, ok := errors.AsType[*arm.Error](err)
	return !ok || failure.Class == arm.ClassThrottled || failure.Class == arm.ClassFast
}

// retryAfter returns the wait that an error of ARM names, 0 for none.
func retryAfter(err error) time.Duration {
	if failure, ok := errors.AsType[*arm.Error](err); ok {
		return failure.RetryAfter
	}
	return 0
}

// unlisted records why a list has no items. Its error asks for another attempt.
func (i *listing) unlisted(list List, err error) error {
	failure, isResponse := errors.AsType[*arm.Error](err)
	switch {
	case arm.IsAbsent(err):
		return nil
	case isResponse && i.registry.Facts(list.Type).List.At == extensions.ListAtResources && strings.EqualFold(failure.Code, codeNoDiagnostics):
		i.withoutDiagnostics.Store(strings.ToLower(i.in.ID.Type()), true)
		return nil
	case isResponse && !isRepeatable(err) && contents.IsNotListable(err):
		if i.fixedNames(list) {
			return nil
		}
		i.leaveOut(list.Type, fmt.Sprintf("they could not be listed (%s); name the IDs of those to import", failure.Answer()), false)
		return nil
	}
	verdict, retry := i.in.Failed(list.APIVersion, err)
	if retry != nil {
		return retry
	}
	i.leaveOut(list.Type, string(verdict.Reason)+": "+verdict.Text(), true)
	return nil
}

// leaveOutDerived records a collection of views or parts.
func (i *listing) leaveOutDerived(resourceType, why string) {
	i.contents.Unlisted = append(i.contents.Unlisted, Unlisted{Type: resourceType, Why: why, Derived: true})
}

func (i *listing) leaveOut(resourceType, why string, refused bool) {
	i.contents.Unlisted = append(i.contents.Unlisted, Unlisted{Type: resourceType, Why: text.Cut(text.OneLine(why), maxUnlistedRunes), Refused: refused})
}

// fixedNames adds the children of a collection whose names are published, and reports
// whether these are all.
func (i *listing) fixedNames(list List) bool {
	child := childOf(i.in.ID.Type(), list.Type)
	if child.Open || len(child.Names) == 0 {
		return false
	}
	for _, name := range child.Names {
		if id, err := resource.ParseID(i.in.ID.String() + "/" + list.Collection + "/" + name); err == nil {
			i.contents.Items = append(i.contents.Items, Item{ID: id, APIVersion: list.APIVersion, Optional: true, BuiltIn: true})
		}
	}
	return true
}

// childOf returns what is published about a type of children of a type; an open one for
// others.
func childOf(parentType, childType string) types.Child {
	children := types.Children(parentType)
	at := slices.IndexFunc(children, func(c types.Child) bool { return strings.EqualFold(c.Type, childType) })
	if at < 0 {
		return types.Child{Type: childType, Open: true, Writable: true}
	}
	return children[at]
}

// query reads one page of a query of Azure Resource Graph.
func (i *listing) query(ctx context.Context) error {
	ids, next, err := i.client.GraphIDs(ctx, arm.GraphQuery{Scope: i.in.ID, Query: i.in.Request.Query, Page: i.in.Request.Page})
	if err != nil {
		verdict, retry := i.in.Failed("", err)
		if retry != nil {
			return retry
		}
		i.leaveOut("", string(verdict.Reason)+": "+verdict.Text(), true)
		return nil
	}
	i.contents.Page = next
	for _, found := range ids {
		id, err := resource.ParseID(found)
		if err != nil {
			i.leaveOut("", "a row of the query has no resource ID", true)
			continue
		}
		i.contents.Items = append(i.contents.Items, Item{ID: id, Skipped: whyNotWritable(id.Type())})
	}
	return nil
}
