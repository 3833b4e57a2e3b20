package convert

import (
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// deployments is the type of the deployments that modules are. A snapshot shows what they
// contain.
const deployments = "Microsoft.Resources/deployments"

// snapshotMembers are the members of a predicted resource that are no part of its body.
// Source: https://github.com/Azure/bicep, snapshots of src/Bicep.Cli.IntegrationTests.
var snapshotMembers = map[string]bool{"id": true, "type": true, "name": true, "apiVersion": true, "scope": true, "dependsOn": true, "comments": true, "metadata": true}

// predicted is a resource of a snapshot before its expressions are resolved.
type predicted struct {
	*Resource
	source *value
}

// readSnapshot reads the output of `bicep snapshot`.
func (c *conversion) readSnapshot(data []byte) {
	root, err := readJSON(data)
	if err != nil {
		c.failed(err)
		return
	}
	resources := root.get("predictedResources")
	if resources == nil || resources.kind != list {
		c.fault(root.line, "it has no list predictedResources; make the file with `bicep snapshot main.bicepparam --mode overwrite`")
		return
	}
	for _, diagnostic := range root.get("diagnostics").texts() {
		c.note(root.get("diagnostics").line, "Bicep reported: %s", diagnostic)
	}
	var all []predicted
	for _, item := range resources.items {
		if r := c.predicted(item); r != nil {
			all = append(all, predicted{r, item})
		}
	}
	for _, p := range all {
		c.snapshotBody(p)
	}
	c.release = append(c.release, "Bicep: a deployment keeps nothing that must let go; stop running it.",
		"Deployment stack: az stack group delete --name STACK --resource-group GROUP --action-on-unmanage detachAll")
}

// predicted adds a resource of a snapshot without its body.
func (c *conversion) predicted(item *value) *Resource {
	typ, version := item.textOf("type"), item.textOf("apiVersion")
	switch {
	case item.kind != object:
		c.fault(item.line, "a predicted resource is %s; expected a mapping", item.describe())
		return nil
	case item.get("extension") != nil || item.get("import") != nil:
		c.note(item.line, "a resource of the Bicep extension %s is not in Azure and is left out", extensionOf(item))
		return nil
	case strings.EqualFold(typ, deployments):
		c.note(item.line, "the deployment %s is left out; the snapshot has its resources", item.textOf("name"))
		return nil
	case typ == "" || version == "":
		c.fault(item.line, "a predicted resource has no type or no apiVersion")
		return nil
	}
	id := item.get("id")
	if id == nil || id.kind != text {
		c.fault(item.line, "%s has no id; make the snapshot with a newer bicep", typ)
		return nil
	}
	resolved, err := c.resolve(id.text, resource.ID{})
	switch {
	case err != nil:
		c.fault(id.line, "id: %v", err)
		return nil
	case resolved.kind == reference:
		id = textValue(id.line, resolved.id.String())
	case resolved.kind == text:
		id = textValue(id.line, resolved.text)
	}
	parsed, ok := c.parseID(id.line, id.text)
	if !ok {
		return nil
	}
	if !strings.EqualFold(parsed.Type(), typ) {
		c.fault(id.line, "the type %s is not that of the id %s", typ, parsed)
		return nil
	}
	r := &Resource{line: item.line, label: item.textOf("name"), id: spelled(parsed, typ), version: version, body: &value{kind: object, line: item.line}}
	c.add(r)
	return r
}

func extensionOf(item *value) string {
	if name := item.textOf("extension"); name != "" {
		return name
	}
	return strings.TrimSpace(item.textOf("extension", "name") + " " + item.textOf("type"))
}

// spelled returns an ID with its type as a source, or what is published, spells it.
func spelled(id resource.ID, typ string) resource.ID {
	if name, found := types.Spelled(typ); found {
		typ = name
	}
	if id.Type() == typ {
		return id
	}
	// Only the segments of the type differ, in the case of their letters.
	path := id.String()
	at := strings.LastIndex(strings.ToLower(path), "/providers/")
	if at < 0 {
		return id
	}
	segments, names := strings.Split(path[at+1:], "/"), strings.Split(typ, "/")
	segments[1] = names[0]
	for i, name := range names[1:] {
		if at := 2 + 2*i; at < len(segments) {
			segments[at] = name
		}
	}
	if changed, err := resource.ParseID(path[:at+1] + strings.Join(segments, "/")); err == nil && changed.Equal(id) {
		return changed
	}
	return id
}

// snapshotBody sets the body of a resource: what it states, with its expressions resolved.
func (c *conversion) snapshotBody(p predicted) {
	for _, f := range p.source.fields {
		if !snapshotMembers[f.name] {
			p.body.set(f.name, c.resolveAll(p.Resource, f.value, resource.Path{{Name: f.name}}))
		}
	}
	if needs := p.source.get("dependsOn"); needs != nil {
		for _, item := range needs.items {
			resolved, err := c.resolve(item.text, p.id)
			if err != nil || resolved.kind != reference && resolved.kind != text {
				c.fault(item.line, "dependsOn: %s is not a resource of the snapshot", item.text)
				continue
			}
			id := resolved.id
			if resolved.kind == text {
				if id, err = resource.ParseID(resolved.text); err != nil {
					continue
				}
			}
			p.needs = append(p.needs, id)
		}
	}
}

// resolveAll returns a value with the expressions below it resolved.
func (c *conversion) resolveAll(r *Resource, v *value, path resource.Path) *value {
	return v.clone().walk(path, func(path resource.Path, v *value) *value {
		for i, f := range v.fields {
			resolved, err := c.resolve(f.name, r.id)
			switch {
			case err != nil:
				c.fault(f.line, "%s: a name: %v", path, err)
			case resolved.kind == reference && resolved.path == "":
				v.fields[i].name = resolved.id.String()
			case resolved.kind == text:
				v.fields[i].name = resolved.text
			default:
				c.fault(f.line, "%s: the name %s is an observed value, which a manifest cannot have as a name", path, f.name)
			}
		}
		if v.kind != text || !isExpression(v.text) {
			return v
		}
		resolved, err := c.resolve(v.text, r.id)
		if err == nil {
			resolved.line = v.line
			return resolved
		}
		if c.secretAt(r, path) {
			return &value{kind: secret, line: v.line}
		}
		c.fault(v.line, "%s: %v", path, err)
		return v
	})
}

// secretAt reports whether a text at a path of a resource is a secret by its name or by
// the published types.
func (c *conversion) secretAt(r *Resource, path resource.Path) bool {
	protected := slices.ContainsFunc(path, func(step resource.Step) bool { return resource.ProtectedName(step.Name) })
	if protected || types.Lookup(r.id.Type(), r.version).IsSecret(path, "") {
		return true
	}
	for i := len(path) - 1; i >= 0; i-- {
		if name := path[i].Name; name != "" {
			return resource.SecretName(name)
		}
	}
	return false
}

// isExpression reports whether a text is an expression of an ARM template: it is in
// brackets, and its first bracket is not doubled.
func isExpression(text string) bool {
	return strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") && !strings.HasPrefix(text, "[[")
}

// expressionError returns the error of an expression that a conversion cannot resolve.
func expressionError(expression, why string) error {
	return fmt.Errorf("the expression %s cannot be converted: %s", resource.ReplaceCredentials(expression, "..."), why)
}
