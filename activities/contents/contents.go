// Package contents looks for what a DELETE of a resource would also delete: children, other
// resources that its body marks, and the scope that it ends. It sends reads only, and does
// not know the steps of a deletion.
package contents

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

// Bounds of the contents that are read, counted and named. Managed resources that may be
// deleted too can fill the first pages, so more are read than counted.
const (
	// MaxRead is the number of items of a list that are read.
	MaxRead    = 5000
	maxCounted = 100
	maxNamed   = 10
)

// Looker looks for contents.
type Looker struct {
	Client   *arm.Client
	Registry *extensionhost.Registry
	// IsDeleting reports whether Armature deletes a resource already: what it deletes is in no
	// result.
	IsDeleting func(ctx context.Context, id resource.ID) (bool, error)
}

// Intent is the purpose of a DELETE. The zero value ends the resource.
type Intent string

// IntentReplace creates the resource again, and then the managed resources in it.
const IntentReplace Intent = "replace"

// Request is the resource to delete with its contents.
type Request struct {
	ID         resource.ID `json:"id"`
	APIVersion string      `json:"apiVersion"`
	// Credential is as in resource.Desired.
	Credential string `json:"credential,omitempty"`
	// Cascade skips everything but data, as requested by By.
	Cascade bool   `json:"cascade,omitempty"`
	By      string `json:"by,omitempty"`
	// WithData allows to delete data that ARM does not list.
	WithData bool   `json:"withData,omitempty"`
	Intent   Intent `json:"intent,omitempty"`
	// EndScope allows what resource.EndsScope reports.
	EndScope bool `json:"endScope,omitempty"`
	// Stated is the body of the manifest: children that it contains belong to the
	// resource.
	Stated json.RawMessage `json:"stated,omitempty"`
}

// Find returns everything that a DELETE of the resource would also delete, whatever the
// request allows.
func (l Looker) Find(ctx context.Context, in Request) (Found, error) {
	in.Cascade, in.WithData = false, false
	found := look{Looker: l, in: in, all: true, listed: map[string]bool{}}
	err := found.find(ctx)
	return found.Found, err
}

// Look returns the verdict about a DELETE: it blocks while the DELETE would also delete
// resources that Armature does not manage, or data without a consent.
func (l Looker) Look(ctx context.Context, in Request) (resource.Verdict, error) {
	found := look{Looker: l, in: in, listed: map[string]bool{}}
	if err := found.find(ctx); err != nil {
		return resource.Verdict{}, err
	}
	verdict := found.verdict()
	switch {
	case verdict.Stops():
	case in.Cascade:
		verdict.Message = "only looked for data: --cascade by " + in.By
	case len(found.Rules) > 0:
		verdict.Message = "deleted with it: " + NameAll(Names(append(found.Rules, found.ManagedGroups...)))
	case len(found.ManagedGroups) > 0:
		verdict.Message = "the resource group that its service manages is deleted with it: " + NameAll(Names(found.ManagedGroups))
	}
	return verdict, nil
}

// LookupError reports that IsDeleting failed.
type LookupError struct{ error }

func (e LookupError) Unwrap() error { return e.error }

// checkItem returns a listed item, and reports whether Armature deletes it already.
func (l Looker) checkItem(ctx context.Context, parent resource.ID, item json.RawMessage) (Item, bool, error) {
	var found struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(item, &found) != nil || found.ID == "" {
		return Item{Name: "an item without an ID"}, false, nil
	}
	id, err := resource.ParseID(found.ID)
	if err != nil {
		return Item{Name: found.ID}, false, nil //nolint:nilerr // an ID of another form is not managed, and its text is its name
	}
	deleting, err := l.IsDeleting(ctx, id)
	if err != nil {
		return Item{}, false, LookupError{fmt.Errorf("look up %s in %s: %w", id.Short(), parent.Short(), err)}
	}
	return Item{id, DisplayName(id)}, deleting, nil
}
