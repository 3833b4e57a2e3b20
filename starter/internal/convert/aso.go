package convert

import (
	"regexp"
	"strings"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// Annotations of Azure Service Operator.
// Source: https://azure.github.io/azure-service-operator/guide/annotations/.
const (
	asoPolicy     = "serviceoperator.azure.com/reconcile-policy"
	asoID         = "serviceoperator.azure.com/resource-id"
	asoCredential = "serviceoperator.azure.com/credential-from"
)

// guid is the form of the names of role assignments.
var guid = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// asoObject is a Kubernetes object of ASO.
type asoObject struct {
	file                  string
	line                  int
	group, kind           string
	namespace, name       string
	typ, version          string
	root, spec            *value
	id                    resource.ID
	located, beingLocated bool
}

// key returns the identity of an object in the cluster.
func objectKey(namespace, group, kind, name string) string {
	return strings.Join([]string{namespace, strings.ToLower(group), strings.ToLower(kind), name}, "\x00")
}

// asoReader reads objects of ASO: first all of them, then their IDs, then their bodies.
type asoReader struct {
	*conversion
	objects []*asoObject
	byKey   map[string]*asoObject
	// exports are the values that objects write into config maps.
	exports map[string]export
	// types are the resource types of kinds, by provider and kind.
	types map[string][]string
}

// export is a value of an object in a config map.
type export struct {
	object *asoObject
	path   string
}

// readASO reads manifests of Azure Service Operator: files, or folders of them.
func (c *conversion) readASO(paths []string) {
	r := &asoReader{conversion: c, byKey: map[string]*asoObject{}, exports: map[string]export{}, types: map[string][]string{}}
	c.eachFile(paths, []string{".yaml", ".yml", ".json"}, r.readFile)
	for _, o := range r.objects {
		r.locate(o)
		r.readExports(o)
	}
	for _, o := range r.objects {
		if o.id.IsZero() {
			continue
		}
		r.convert(o)
	}
	if len(r.objects) > 0 {
		r.release()
	}
}

func (r *asoReader) readFile(data []byte) {
	documents, err := readYAML(data)
	if err != nil {
		r.failed(err)
		return
	}
	for _, document := range documents {
		items := []*value{document}
		if document.textOf("kind") == "List" && document.get("items") != nil {
			items = document.get("items").items
		}
		for _, item := range items {
			r.readObject(item)
		}
	}
}

func (r *asoReader) readObject(root *value) {
	group, version, _ := strings.Cut(root.textOf("apiVersion"), "/")
	o := &asoObject{file: r.file, line: root.line, group: group, kind: root.textOf("kind"), name: root.textOf("metadata", "name"), namespace: root.textOf("metadata", "namespace"), root: root, spec: root.get("spec")}
	provider := asoGroup(group)
	switch {
	case root.kind != object || o.kind == "":
		r.fault(root.line, "it is no object of Kubernetes: it has no kind")
		return
	case provider == "" || !strings.HasSuffix(group, ".azure.com"):
		r.note(root.line, "%s %s is left out: it is not an Azure resource of ASO", o.kind, o.name)
		return
	case apiVersionOf(version) == "":
		r.note(root.line, "%s %s is left out: its version %s has no api-version of Azure, so that it is not in ARM", o.kind, o.name, version)
		return
	case o.name == "":
		r.fault(root.line, "a %s has no metadata.name", o.kind)
		return
	}
	found, known := r.types[provider+"/"+o.kind]
	if !known {
		found = asoType(provider, o.kind)
		r.types[provider+"/"+o.kind] = found
	}
	if len(found) != 1 {
		why := "it is not among the published types"
		if len(found) > 1 {
			why = "it may be " + strings.Join(found, " or ")
		}
		r.fault(root.line, "the resource type of %s %s is not known: %s; write its manifest by hand", o.kind, o.name, why)
		return
	}
	o.typ, o.version = found[0], apiVersionOf(version)
	if o.spec == nil || o.spec.kind != object {
		o.spec = &value{kind: object, line: root.line}
	}
	key := objectKey(o.namespace, group, o.kind, o.name)
	if first := r.byKey[key]; first != nil {
		r.fault(root.line, "%s %s is there twice, first in line %d of %s", o.kind, o.name, first.line, first.file)
		return
	}
	r.byKey[key] = o
	r.objects = append(r.objects, o)
}

// locate sets the ID of an object: the one that ASO recorded, else that of its owner and
// name.
func (r *asoReader) locate(o *asoObject) {
	if o.located {
		return
	}
	r.file = o.file
	if o.beingLocated {
		r.fault(o.line, "the owners of %s %s form a circle", o.kind, o.name)
		return
	}
	o.beingLocated = true
	defer func() { o.beingLocated, o.located = false, true }()
	for _, recorded := range []string{o.root.textOf("status", "id"), o.root.textOf("metadata", "annotations", asoID)} {
		if id, err := resource.ParseID(recorded); err == nil && strings.EqualFold(id.Type(), o.typ) {
			o.id = spelled(id, o.typ)
			return
		}
	}
	name, ok := r.azureName(o)
	if !ok {
		return
	}
	owner, ok := r.ownerOf(o)
	r.file = o.file
	if !ok {
		return
	}
	if id, ok := r.parseID(o.line, child(owner, o.typ, name)); ok {
		o.id = spelled(id, o.typ)
	}
}

// azureName returns the name of an object in Azure.
func (r *asoReader) azureName(o *asoObject) (string, bool) {
	name := o.spec.textOf("azureName")
	if shape := types.Lookup(o.typ, o.version); shape != nil && name == "" {
		// Of such a type each parent has one, and its spec has no azureName.
		if names, _ := shape.PublishedNames(); len(names) == 1 {
			return names[0], true
		}
	}
	if name == "" {
		name = o.name
		if strings.HasPrefix(strings.ToLower(o.typ), "microsoft.authorization/role") && !guid.MatchString(name) {
			r.fault(o.line, "%s %s has a name that ASO made up: take the object from the cluster, which has status.id: kubectl get -o yaml", o.kind, o.name)
			return "", false
		}
	}
	return name, true
}

// ownerOf returns the ID of the owner of an object.
func (r *asoReader) ownerOf(o *asoObject) (string, bool) {
	owner := o.spec.get("owner")
	if id := owner.textOf("armId"); id != "" {
		return id, true
	}
	if strings.EqualFold(o.typ, resource.TypeResourceGroup) {
		if r.options.Subscription == "" {
			r.fault(o.line, "the subscription of the resource group %s is not known; give --subscription", o.name)
			return "", false
		}
		return "/subscriptions/" + r.options.Subscription, true
	}
	name := owner.textOf("name")
	if name == "" {
		r.fault(o.line, "%s %s has neither spec.owner nor status.id; give its owner", o.kind, o.name)
		return "", false
	}
	if target := r.find(o, owner, parentOf(o.typ)); target != nil {
		r.locate(target)
		return target.id.String(), !target.id.IsZero()
	}
	isGroup := owner.textOf("kind") == "" && parentOf(o.typ) == resource.TypeResourceGroup || owner.textOf("kind") == "ResourceGroup"
	if isGroup && r.options.Subscription != "" {
		return "/subscriptions/" + r.options.Subscription + "/resourceGroups/" + name, true
	}
	advice := "add its file, or write owner: {armId: ...}"
	if isGroup {
		advice = "add its file, or give --subscription"
	}
	r.fault(owner.line, "the owner %s of %s %s is not in the files; %s", name, o.kind, o.name, advice)
	return "", false
}

// parentOf returns the type of the parent of a resource type.
func parentOf(typ string) string {
	if at := strings.LastIndex(typ, "/"); strings.Count(typ, "/") > 1 {
		return typ[:at]
	}
	return resource.TypeResourceGroup
}

// find returns the object that a reference names; typ is its type where the reference
// states no kind.
func (r *asoReader) find(from *asoObject, reference *value, typ string) *asoObject {
	name, kind, group := reference.textOf("name"), reference.textOf("kind"), reference.textOf("group")
	if kind != "" {
		return r.byKey[objectKey(from.namespace, group, kind, name)]
	}
	for _, o := range r.objects {
		if o.namespace == from.namespace && o.name == name && strings.EqualFold(o.typ, typ) {
			return o
		}
	}
	return nil
}

// convert adds the resource of an object.
func (r *asoReader) convert(o *asoObject) {
	r.file = o.file
	b := &asoBody{asoReader: r, object: o}
	added := &Resource{line: o.line, label: o.kind + " " + strings.TrimPrefix(o.namespace+"/"+o.name, "/"), id: o.id, version: o.version, body: b.body()}
	switch o.root.textOf("metadata", "annotations", asoPolicy) {
	case "skip":
		added.policy = string(resource.PolicyObserve)
	case "detach-on-delete":
		added.policy = string(resource.PolicyDetachOnDelete)
	}
	if credential := o.root.textOf("metadata", "annotations", asoCredential); credential != "" {
		r.note(o.line, "%s %s: the credential of the secret %s is left out: name one of the worker with --credential", o.kind, o.name, credential)
	}
	if operator := o.spec.get("operatorSpec"); !operator.isEmpty() {
		r.note(operator.line, "%s %s: operatorSpec is left out: what it writes into Kubernetes stays, and is not renewed", o.kind, o.name)
	}
	r.add(added)
}

// release adds the commands after which ASO no longer writes or deletes the resources.
func (r *asoReader) release() {
	lines := &r.conversion.release
	*lines = append(*lines, "ASO: stop its writes, then remove the objects; the resources stay in Azure:")
	for _, verb := range []string{"annotate", "delete"} {
		for _, o := range r.objects {
			line := "  kubectl " + verb + " " + shellWord(strings.ToLower(o.kind)+"."+o.group+"/"+o.name)
			if o.namespace != "" {
				line += " -n " + shellWord(o.namespace)
			}
			if verb == "annotate" {
				line += " --overwrite " + asoPolicy + "=skip"
			}
			*lines = append(*lines, line)
		}
	}
}

// plainWord matches words that a shell takes as they are.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./@:-]+$`)

// shellWord returns a text as a word of a shell, in quotes where it needs them.
func shellWord(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return shellQuote(text)
}
