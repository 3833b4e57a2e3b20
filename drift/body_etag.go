package drift

import (
	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/types"
)

// AddETag adds the ETag of a read to the body of a PUT, if the published shape of the type has
// a writable one at its root. Budgets, cost exports and rules of Sentinel compare it and
// ignore If-Match (hashicorp/terraform-provider-azurerm#15010, MicrosoftDocs/azure-docs#34023).
func AddETag(body, observed map[string]any, opts Options) {
	shape := types.Lookup(opts.Type, opts.APIVersion)
	_, etag, shown := jsontree.Member(observed, "etag")
	if text, _ := etag.(string); shape == nil || !shown || text == "" {
		return
	}
	p, found := publishedMembers(shape.Body, body, observed).Find("etag")
	if !found || p.Has(types.ReadOnly) {
		return
	}
	if name, _, found := jsontree.Member(body, p.Name); found {
		delete(body, name)
	}
	body[p.Name] = etag
}
