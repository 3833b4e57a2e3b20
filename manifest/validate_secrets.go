package manifest

import (
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// LiteralSecret is the rule of texts of properties that the type publishes as secrets.
const LiteralSecret types.Rule = "literal-secret"

// checkSecrets reports the texts below a path of the body that the type publishes as secrets.
// Those with the name or the form of a secret are issues of Load.
func (v validator) checkSecrets(shape *types.Shape, n *node, path resource.Path) {
	switch {
	case markerOf(n) != "":
	case n.kind == kindObject:
		for _, f := range n.fields {
			v.checkSecrets(shape, f.value, path.With(resource.Step{Name: f.name}))
		}
	case n.kind == kindList:
		for i, item := range n.items {
			v.checkSecrets(shape, item, path.With(resource.Step{Index: i, IsIndex: true}))
		}
	case n.kind == kindText && shape.IsSecret(path, n.text) && !resource.VaultReference(n.text) && !resource.SecretName(path.LastName()):
		v.report(found{rule: LiteralSecret, at: n.position, path: "body." + path.String()},
			"is published as a secret, and Temporal would store it; write {$secret: env:NAME} or {$secret: file:NAME}, or {$plain: VALUE} if it is none")
	}
}
