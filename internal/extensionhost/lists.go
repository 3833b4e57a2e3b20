package extensionhost

import (
	"context"
	"errors"
	"strings"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

// MaxListPages bounds the requests for one list.
const MaxListPages = 5

// List is a request for the resources of one type directly below another resource.
type List struct {
	// Parent has the resources: a resource, a resource group or another scope.
	Parent resource.ID
	// Type is the full type of the resources.
	Type string
	// APIVersion of the request; "" is the newest one of the type.
	APIVersion string
	// Max is the largest number of resources to return.
	Max int
}

// Collection returns the part of the URL behind that of the parent.
func (l List) Collection() string {
	if last := strings.LastIndex(l.Type, "/"); strings.EqualFold(l.Type[:last], l.Parent.Type()) {
		return l.Type[last+1:]
	}
	return "providers/" + l.Type
}

// Key returns the same text for all lists of the same resources.
func (l List) Key() string { return l.Parent.Key() + "/" + strings.ToLower(l.Collection()) }

// Listing is the answer to a List. An absent parent has no resources.
type Listing struct {
	// Resources are in the order of ARM, with secrets masked. Some types leave properties out
	// of their lists.
	Resources []*resource.Object
	// More is set if the list has more than Max resources or MaxListPages pages.
	More bool
}

// Lister is a Resolver that also lists resources, through the same cache. That of a worker is
// one.
type Lister interface {
	extensions.Resolver
	List(ctx context.Context, list List) (Listing, error)
}

// List implements Lister.
func (f factResolver) List(ctx context.Context, list List) (Listing, error) {
	lister, ok := f.Resolver.(Lister)
	if !ok {
		return Listing{}, errors.New("no resources can be listed here")
	}
	return lister.List(ctx, list)
}

// Item returns a resource of the list, from its body with secrets masked. A body without an ID
// of the type gets that of its name.
func (l List) Item(body map[string]any) *resource.Object {
	item := &resource.Object{APIVersion: l.APIVersion, Observed: body}
	text, _ := item.StringAt("id")
	if id, err := resource.ParseID(text); err == nil && strings.EqualFold(id.Type(), l.Type) {
		item.ID = id
		return item
	}
	name, _ := item.StringAt("name")
	item.ID, _ = resource.ParseID(l.Parent.String() + "/" + l.Collection() + "/" + name)
	return item
}
