package convert

import (
	"strings"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// asoExports are the members of operatorSpec.configMaps whose values are not the properties
// of the same name.
var asoExports = map[string]string{"oidcIssuerProfile": "properties.oidcIssuerProfile.issuerURL"}

// readExports records what an object writes into config maps.
func (r *asoReader) readExports(o *asoObject) {
	if o.id.IsZero() {
		return
	}
	if maps := o.spec.get("operatorSpec", "configMaps"); maps != nil {
		for _, f := range maps.fields {
			r.export(o, f.value, f.name)
		}
	}
	if expressions := o.spec.get("operatorSpec", "configMapExpressions"); expressions != nil {
		for _, item := range expressions.items {
			if name, found := strings.CutPrefix(item.textOf("value"), "self.status."); found {
				r.export(o, item, name)
			}
		}
	}
}

func (r *asoReader) export(o *asoObject, destination *value, member string) {
	path := asoExports[member]
	if path == "" {
		path = observedPath(o, member)
	}
	if name, key := destination.textOf("name"), destination.textOf("key"); path != "" && name != "" && key != "" {
		r.exports[objectKey(o.namespace, "", name, key)] = export{object: o, path: path}
	}
}

// observedPath returns the path of a value that an object reports, "" if none is published.
func observedPath(o *asoObject, member string) string {
	shape := types.Lookup(o.typ, o.version)
	if shape == nil {
		return ""
	}
	for _, prefix := range []string{"properties.", "", "identity."} {
		path, err := resource.ParsePath(prefix + member)
		if err != nil {
			return ""
		}
		if found, _ := shape.Find(path); len(found) > 0 {
			return prefix + member
		}
	}
	return ""
}

// fromConfig returns the reference for a value that another object writes into a config map.
func (b *asoBody) fromConfig(f field, path resource.Path) *value {
	name, key := f.value.textOf("name"), f.value.textOf("key")
	found, known := b.exports[objectKey(b.object.namespace, "", name, key)]
	if !known {
		b.fault(f.line, "%s: %s: no object of the files writes %s into the config map %s; write the value", b.object.name, path, key, name)
		return nil
	}
	return &value{kind: reference, line: f.line, id: found.object.id, path: found.path}
}

// builtInRoles are the IDs of the most used built-in roles.
// Source: https://learn.microsoft.com/azure/role-based-access-control/built-in-roles.
var builtInRoles = map[string]string{
	"acrpull":                       "7f951dda-4ed3-4680-a7ca-43fe172d538d",
	"acrpush":                       "8311e382-0749-4cb8-b61a-304f252e45ec",
	"contributor":                   "b24988ac-6180-42a0-ab88-20f7382dd24c",
	"key vault administrator":       "00482a5a-887f-4fb3-b363-3b7fe8e74483",
	"key vault secrets officer":     "b86a8fe4-44ce-4948-aee5-eccb2c155cd7",
	"key vault secrets user":        "4633458b-17de-408a-b874-0445c86b69e6",
	"monitoring metrics publisher":  "3913510d-42f4-4e42-8a64-420c390055eb",
	"network contributor":           "4d97b98b-1d4f-4787-a291-c67834d212e7",
	"owner":                         "8e3af657-a8ff-443c-a75c-2fe8c4bcb635",
	"reader":                        "acdd72a7-3385-48ef-bd42-f606fba81ae7",
	"storage blob data contributor": "ba92f5b4-2d11-453d-a403-e96b0029c9fe",
	"storage blob data owner":       "b7e6dc6d-f1e8-4753-8033-0f276bb0955b",
	"storage blob data reader":      "2a2b9908-6ea1-4ae2-8e65-a410df84e7d1",
	"user access administrator":     "18d7d88d-d35e-4fb5-a5c3-7773c20a72d9",
}
