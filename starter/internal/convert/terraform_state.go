package convert

import (
	"fmt"
	"strconv"
	"strings"
)

// azapiTypes are the resources of the provider azapi that have one ARM resource each.
var azapiTypes = map[string]bool{"azapi_resource": true, "azapi_update_resource": true}

// readState reads a state of Terraform or OpenTofu: the file of version 4, or the output
// of `terraform show -json`.
func (c *conversion) readState(data []byte) {
	root, err := readJSON(data)
	if err != nil {
		c.failed(err)
		return
	}
	switch {
	case root.get("values", "root_module") != nil:
		c.shownModule(root.get("values", "root_module"))
	case root.get("version") != nil && root.get("resources") != nil:
		if version := root.get("version"); version.text != "4" {
			c.fault(version.line, "the state has version %s; only version 4 is known: run `terraform state pull` with Terraform 0.12 or newer", version.text)
			return
		}
		for _, r := range root.get("resources").items {
			c.stateResource(r)
		}
	default:
		c.fault(root.line, "it is no state of Terraform: it has neither version and resources nor values; write it with `terraform state pull` or `terraform show -json`")
	}
}

// stateResource adds the instances of a resource of a state of version 4.
func (c *conversion) stateResource(r *value) {
	typ, name := r.textOf("type"), r.textOf("name")
	if r.textOf("mode") != "managed" {
		return
	}
	address := strings.TrimPrefix(r.textOf("module")+"."+typ+"."+name, ".")
	instances := r.get("instances")
	if instances == nil || instances.kind != list {
		c.fault(r.line, "%s has no instances", address)
		return
	}
	if !azapiTypes[typ] {
		c.otherResource(r.line, address, typ)
		return
	}
	for _, instance := range instances.items {
		if instance.get("deposed") != nil {
			c.note(instance.line, "%s: an instance that Terraform has replaced already is left out", address)
			continue
		}
		attributes := instance.get("attributes")
		if attributes == nil || attributes.kind != object {
			c.fault(instance.line, "%s has no attributes; write the state with Terraform 0.12 or newer", address)
			continue
		}
		attributes = attributes.clone()
		for _, name := range []string{"body", "output"} {
			if attribute := attributes.get(name); attribute != nil {
				attributes.set(name, dynamic(attribute))
			}
		}
		full := address + index(instance.get("index_key"))
		if !c.hideSensitive(full, attributes, instance.get("sensitive_attributes")) {
			continue
		}
		c.azapiResource(source{address: full, line: instance.line, update: typ == "azapi_update_resource", attributes: attributes})
		c.release = append(c.release, "terraform state rm "+shellQuote(full))
	}
}

// otherResource notes a resource of another provider.
func (c *conversion) otherResource(line int, address, typ string) {
	hint := "is left out: it has no resource of its own in Azure"
	if strings.HasPrefix(typ, "azurerm_") {
		hint = "is left out: its attributes are not those of ARM; convert the IDs of the same file with --from ids"
	}
	c.note(line, "%s %s", address, hint)
}

// dynamic returns the value of an attribute of any type: {"value": ..., "type": ...}.
func dynamic(v *value) *value {
	if v.kind == object && len(v.fields) == 2 && v.get("value") != nil && v.get("type") != nil {
		return v.get("value")
	}
	return v
}

// index returns the index of an instance as a part of its address.
func index(key *value) string {
	switch {
	case key == nil || key.kind == null:
		return ""
	case key.kind == text:
		return "[" + strconv.Quote(key.text) + "]"
	}
	return "[" + key.text + "]"
}

// shellQuote returns a text as one word of a shell.
func shellQuote(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// hideSensitive replaces the values that a state marks as sensitive. It reports false
// after a fault.
func (c *conversion) hideSensitive(address string, attributes, paths *value) bool {
	if paths == nil {
		return true
	}
	for _, path := range paths.items {
		at, name := attributes, ""
		var parent *value
		for _, step := range path.items {
			parent, name = at, step.textOf("value")
			if key := step.get("value", "value"); key != nil {
				name = key.text
			}
			at = member(at, name)
			if at == nil {
				break
			}
		}
		switch {
		case at == nil || at.kind == null || parent == nil:
		case at.kind == object || at.kind == list:
			c.fault(at.line, "%s: the whole of %s is sensitive, so that no part of it can be written; convert the configuration with --from azapi", address, name)
			return false
		default:
			*at = value{kind: secret, line: at.line}
		}
	}
	return true
}

// member returns a member of an object or an item of a list.
func member(v *value, name string) *value {
	if v == nil {
		return nil
	}
	if v.kind == list {
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(v.items) {
			return v.items[i]
		}
		return nil
	}
	return v.get(name)
}

// shownModule adds the resources of a module as `terraform show -json` writes them.
func (c *conversion) shownModule(module *value) {
	if resources := module.get("resources"); resources != nil {
		for _, r := range resources.items {
			address, typ := r.textOf("address"), r.textOf("type")
			switch attributes := r.get("values"); {
			case r.textOf("mode") != "managed":
			case !azapiTypes[typ]:
				c.otherResource(r.line, address, typ)
			case attributes == nil || attributes.kind != object:
				c.fault(r.line, "%s has no values", address)
			default:
				attributes = attributes.clone()
				c.hideShown(attributes, r.get("sensitive_values"))
				c.azapiResource(source{address: address, line: r.line, update: typ == "azapi_update_resource", attributes: attributes})
				c.release = append(c.release, "terraform state rm "+shellQuote(address))
			}
		}
	}
	if children := module.get("child_modules"); children != nil {
		for _, child := range children.items {
			c.shownModule(child)
		}
	}
}

// hideShown replaces the values that are true in a tree of sensitive values.
func (c *conversion) hideShown(v, sensitive *value) {
	if sensitive == nil {
		return
	}
	for _, f := range sensitive.fields {
		c.hideMember(v.get(f.name), f.value)
	}
	for i, item := range sensitive.items {
		c.hideMember(member(v, fmt.Sprint(i)), item)
	}
}

func (c *conversion) hideMember(v, sensitive *value) {
	switch {
	case v == nil || v.kind == null:
	case sensitive.kind == boolean && sensitive.text == "true":
		if v.kind == object || v.kind == list {
			c.fault(v.line, "the whole of a mapping is sensitive, so that no part of it can be written; convert the configuration with --from azapi")
			return
		}
		*v = value{kind: secret, line: v.line}
	default:
		c.hideShown(v, sensitive)
	}
}
