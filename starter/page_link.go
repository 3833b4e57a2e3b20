package starter

import (
	"slices"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/page"
)

// pageVariable is the CLI's own environment variable with the base address of the pages of
// `armature ui`, for links in the output.
const pageVariable = "ARMATURE_UI"

// linkPage ends an output for people with the address of the page about resources, or about
// those that a selector chooses, if pageVariable has the base address. On a terminal the
// address can be opened, even if its line breaks; elsewhere it goes to stderr.
func (a *app) linkPage(selector string, ids ...resource.ID) {
	base, _ := a.environment.LookupEnv(pageVariable)
	ids = slices.DeleteFunc(ids, resource.ID.IsZero)
	if base == "" || len(ids) == 0 {
		return
	}
	address, err := page.Address(base, selector, ids...)
	switch {
	case err != nil:
		a.note("note: no link to a page: %s %v", pageVariable, err)
	case a.terminal:
		a.printf("page: %s\n", a.ink.Link(address))
	default:
		a.note("page: %s", address)
	}
}

// idsOf returns the IDs of views.
func idsOf(views []backend.View) []resource.ID {
	ids := make([]resource.ID, len(views))
	for i, v := range views {
		ids[i] = v.ID
	}
	return ids
}
