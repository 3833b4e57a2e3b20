package convert

import (
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
)

// source is a resource of the provider azapi, of a configuration or a state.
// The attributes are those of
// https://registry.terraform.io/providers/Azure/azapi/latest/docs/resources/resource.
type source struct {
	address    string
	line       int
	update     bool
	attributes *value
	// ignore, protect, needs and id come from a configuration only.
	ignore  []string
	protect bool
	needs   []resource.ID
}

// azapiNotes are the attributes without a counterpart, and what does their part.
var azapiNotes = []struct{ attribute, text string }{
	{"locks", "locks are left out: children of one parent are changed one at a time where Azure needs it"},
	{"retry", "retry is left out: every error is retried until it is corrected or final"},
	{"response_export_values", "response_export_values are left out: `armature describe` shows observed values"},
	{"ignore_other_items_in_list", "ignore_other_items_in_list is left out: items that others add are kept with reconcile: {put: merge}"},
	{"replace_triggers_external_values", "replace_triggers_external_values are left out: see reconcile.recreate"},
	{"replace_triggers_refs", "replace_triggers_refs are left out: see reconcile.recreate"},
	{"create_headers", "create_headers are left out: a manifest has no headers"},
	{"update_headers", "update_headers are left out: a manifest has no headers"},
	{"read_headers", "read_headers are left out: a manifest has no headers"},
	{"delete_headers", "delete_headers are left out: a manifest has no headers"},
	{"create_query_parameters", "create_query_parameters are left out: a manifest has none for a PUT"},
	{"update_query_parameters", "update_query_parameters are left out: a manifest has none for a PUT"},
	{"read_query_parameters", "read_query_parameters are left out: a manifest has none for a GET"},
	{"list_unique_id_property", "list_unique_id_property is left out: the published types have the keys of lists"},
}

// azapiResource adds a resource of azapi.
func (c *conversion) azapiResource(s source) {
	typ, version, _ := strings.Cut(s.attributes.textOf("type"), "@")
	if typ == "" || version == "" {
		c.fault(s.line, "%s has no type like Microsoft.Storage/storageAccounts@2023-01-01", s.address)
		return
	}
	id, ok := c.azapiID(s, typ)
	if !ok {
		return
	}
	r := &Resource{line: s.line, label: s.address, id: spelled(id, typ), version: version, needs: s.needs, ignore: s.ignore}
	if r.body = c.azapiBody(s); r.body == nil {
		return
	}
	if s.update {
		r.put = "patch"
	}
	if s.protect {
		r.policy = string(resource.PolicyProtect)
	}
	if validate := s.attributes.get("schema_validation_enabled"); validate != nil && validate.kind == boolean && validate.text == "false" {
		r.validation = "warn"
	}
	r.ignore = append(r.ignore, s.attributes.get("ignore_body_changes").texts()...)
	slices.Sort(r.ignore)
	r.ignore = slices.Compact(r.ignore)
	for _, path := range r.ignore {
		if _, err := resource.ParsePath(path); err != nil {
			c.fault(s.line, "%s: ignored changes: %v", s.address, err)
		}
	}
	r.query = c.deleteQuery(s)
	for _, row := range azapiNotes {
		if attribute := s.attributes.get(row.attribute); !attribute.isEmpty() {
			c.note(attribute.line, "%s: %s", s.address, row.text)
		}
	}
	c.add(r)
}

// azapiID returns the ID of a resource: that of the state, else of its parent and name.
func (c *conversion) azapiID(s source, typ string) (resource.ID, bool) {
	for _, name := range []string{"id", "resource_id"} {
		if id := s.attributes.textOf(name); id != "" {
			return c.parseID(s.line, id)
		}
	}
	name, parent := s.attributes.textOf("name"), s.attributes.textOf("parent_id")
	if parent == "" && strings.EqualFold(typ, resource.TypeResourceGroup) && c.options.Subscription != "" {
		parent = "/subscriptions/" + c.options.Subscription
	}
	switch {
	case name == "":
		c.fault(s.line, "%s has no name that is known without Azure; write it as a text, or convert the state with --from terraform-state", s.address)
		return resource.ID{}, false
	case parent == "":
		c.fault(s.line, "%s has no parent_id that is known without Azure; give --subscription for a resource group, write the ID as a text, or convert the state with --from terraform-state", s.address)
		return resource.ID{}, false
	}
	return c.parseID(s.line, child(parent, typ, name))
}

// azapiBody returns the body of a PUT: body, sensitive_body, location, tags and identity.
// It returns nil after a fault.
func (c *conversion) azapiBody(s source) *value {
	body := &value{kind: object, line: s.line}
	stated := s.attributes.get("body")
	if stated != nil && stated.kind == text {
		parsed, err := readJSON([]byte(stated.text))
		if err != nil {
			c.fault(stated.line, "%s: body: %v", s.address, err)
			return nil
		}
		parsed = parsed.walk(nil, func(_ resource.Path, v *value) *value { v.line = stated.line; return v })
		stated = parsed
	}
	switch {
	case stated.isEmpty():
	case stated.kind != object:
		c.fault(stated.line, "%s: body is %s; a body is a mapping", s.address, stated.describe())
		return nil
	default:
		body = stated.clone()
	}
	if hidden := s.attributes.get("sensitive_body"); !hidden.isEmpty() {
		mergeSecrets(body, hidden)
	}
	c.secretVersions(s, body)
	for _, name := range []string{"location", "tags"} {
		if v := s.attributes.get(name); !v.isEmpty() {
			body.set(name, v.clone())
		}
	}
	return c.azapiIdentity(s, body)
}

// mergeSecrets adds the texts and numbers of sensitive_body to a body as secrets; true,
// false and null are none.
func mergeSecrets(body, hidden *value) {
	for _, f := range hidden.fields {
		v := f.value
		switch v.kind {
		case object:
			below := body.get(f.name)
			if below == nil || below.kind != object {
				below = &value{kind: object, line: v.line}
				body.set(f.name, below)
			}
			mergeSecrets(below, v)
		case list:
			body.set(f.name, hideAll(v.clone()))
		default:
			body.set(f.name, hideAll(v.clone()))
		}
	}
}

// hideAll returns a value with a secret in place of every text and number.
func hideAll(v *value) *value {
	return v.walk(nil, func(_ resource.Path, v *value) *value {
		if v.kind == text || v.kind == number || v.kind == reference {
			return &value{kind: secret, line: v.line}
		}
		return v
	})
}

// secretVersions adds the secrets that a state names by sensitive_body_version alone: the
// values of sensitive_body are never in a state.
func (c *conversion) secretVersions(s source, body *value) {
	versions := s.attributes.get("sensitive_body_version")
	if versions.isEmpty() || !s.attributes.get("sensitive_body").isEmpty() {
		return
	}
	for _, f := range versions.fields {
		path, err := resource.ParsePath(f.name)
		at := body
		for i, step := range path {
			last := i == len(path)-1
			switch next := at.get(step.Name); {
			case step.Name == "":
				err = fmt.Errorf("%s leads into a list", f.name)
			case last:
				at.set(step.Name, &value{kind: secret, line: f.line})
			case next == nil || next.kind != object:
				next = &value{kind: object, line: f.line}
				at.set(step.Name, next)
				at = next
			default:
				at = next
			}
			if err != nil {
				break
			}
		}
		if err != nil {
			c.note(f.line, "%s: the secret %s cannot be placed: add it to the manifest", s.address, f.name)
		}
	}
}

// azapiIdentity adds the identity block: [{type, identity_ids}].
func (c *conversion) azapiIdentity(s source, body *value) *value {
	stated := s.attributes.get("identity")
	if stated.isEmpty() {
		return body
	}
	block := stated
	if stated.kind == list {
		block = stated.items[0]
	}
	typ := block.textOf("type")
	if typ == "" {
		c.fault(stated.line, "%s: identity has no type", s.address)
		return nil
	}
	identity := &value{kind: object, line: stated.line}
	identity.set("type", textValue(stated.line, typ))
	if ids := block.get("identity_ids"); !ids.isEmpty() {
		users := &value{kind: object, line: ids.line}
		for _, item := range ids.items {
			switch {
			case item.kind == reference && item.path == "":
				users.set(item.id.String(), &value{kind: object, line: item.line})
			case item.kind == text && item.text != "":
				users.set(item.text, &value{kind: object, line: item.line})
			default:
				c.fault(item.line, "%s: an identity is not known without Azure; write its ID, or convert the state", s.address)
				return nil
			}
		}
		identity.set("userAssignedIdentities", users)
	}
	body.set("identity", identity)
	return body
}

// deleteQuery returns the parameters of the DELETE: each has one value in a manifest.
func (c *conversion) deleteQuery(s source) *value {
	parameters := s.attributes.get("delete_query_parameters")
	if parameters.isEmpty() {
		return nil
	}
	query := &value{kind: object, line: parameters.line}
	for _, f := range parameters.fields {
		if values := f.value.texts(); len(values) == 1 {
			query.set(f.name, textValue(f.line, values[0]))
			continue
		}
		c.fault(f.line, "%s: delete_query_parameters.%s has not exactly one value; a manifest takes one", s.address, f.name)
	}
	return query
}
