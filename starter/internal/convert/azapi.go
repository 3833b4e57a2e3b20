package convert

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// resourceGroups is the type and api-version for azurerm_resource_group, whose attributes
// are those of ARM.
const resourceGroups = resource.TypeResourceGroup + "@2024-03-01"

// module is the configuration of one folder.
type module struct {
	*conversion
	data map[string][]byte
	// blocks are the resources, by address, in the order of files and lines.
	blocks map[string]*block
	order  []string
	locals map[string]hclsyntax.Expression
	// context has what is known without Azure.
	context *hcl.EvalContext
	// resolving are the locals that are being followed.
	resolving []string
}

// block is a resource or data block.
type block struct {
	file, address, typ, name string
	line                     int
	isData                   bool
	body                     *hclsyntax.Body
	// id is the ID, once it is known.
	id      resource.ID
	version string
}

// readAzAPI reads the configuration of Terraform in a folder, or one of its files.
func (c *conversion) readAzAPI(path string) {
	m := &module{conversion: c, data: map[string][]byte{}, blocks: map[string]*block{}, locals: map[string]hclsyntax.Expression{}}
	variables := map[string]cty.Value{}
	files := c.files(path, []string{".tf", ".tf.json", ".tfvars", ".tfvars.json"})
	slices.SortStableFunc(files, func(a, b string) int { return cmp.Compare(valuesOrder(a), valuesOrder(b)) })
	for _, file := range files {
		switch extension(file) {
		case ".tf.json":
			c.file = file
			c.fault(0, "configurations in JSON are not read; convert the state with --from terraform-state")
			continue
		case ".tfvars.json":
			if c.file = file; valuesOrder(file) != unusedValues {
				c.fault(0, "values in JSON are not read; write them as %s", strings.TrimSuffix(filepath.Base(file), ".json"))
			}
			continue
		}
		data, ok := c.content(file)
		if !ok {
			continue
		}
		m.data[file] = data
		body := c.parseHCL(data)
		switch {
		case body == nil:
		case extension(file) == ".tfvars":
			m.readValues(file, body, variables)
		default:
			m.readBlocks(body)
		}
	}
	m.evaluate(variables)
	for _, address := range m.order {
		if b := m.blocks[address]; !b.isData {
			m.convert(b)
		}
	}
	c.release = append(c.release, "Terraform 1.7 or newer, OpenTofu 1.7 or newer: replace each resource block by a removed block, and apply it:")
	for _, address := range m.order {
		if b := m.blocks[address]; !b.isData {
			c.release = append(c.release, "  removed {", "    from = "+address, "    lifecycle { destroy = false }", "  }")
		}
	}
	c.release = append(c.release, "Older: terraform state rm ADDRESS, and delete the block.")
}

// The order in which Terraform loads files; a value of a later file counts.
const (
	firstValues = iota
	laterValues
	unusedValues
)

// valuesOrder returns when Terraform loads a file of values by itself: terraform.tfvars
// before *.auto.tfvars, and others not at all.
func valuesOrder(file string) int {
	switch name := strings.TrimSuffix(filepath.Base(file), ".json"); {
	case name == "terraform.tfvars":
		return firstValues
	case strings.HasSuffix(name, ".auto.tfvars"):
		return laterValues
	}
	return unusedValues
}

// readValues reads a file of values that Terraform loads by itself.
func (m *module) readValues(file string, body *hclsyntax.Body, variables map[string]cty.Value) {
	if valuesOrder(file) == unusedValues {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(body.Attributes)) {
		v, diagnostics := body.Attributes[name].Expr.Value(nil)
		if diagnostics.HasErrors() {
			m.fault(body.Attributes[name].SrcRange.Start.Line, "the variable %s is not a plain value", name)
			continue
		}
		variables[name] = v
	}
}

// azapiBlocks are the types of blocks that have one ARM resource each.
var azapiBlocks = map[string]bool{"azapi_resource": true, "azapi_update_resource": true, "azurerm_resource_group": true}

func (m *module) readBlocks(body *hclsyntax.Body) {
	for _, read := range body.Blocks {
		line := read.TypeRange.Start.Line
		switch {
		case read.Type == "locals":
			for name, attribute := range read.Body.Attributes {
				m.locals[name] = attribute.Expr
			}
		case read.Type == "variable" && len(read.Labels) == 1:
			m.blocks["var."+read.Labels[0]] = &block{file: m.file, line: line, typ: "variable", name: read.Labels[0], isData: true, body: read.Body}
			m.order = append(m.order, "var."+read.Labels[0])
		case read.Type == "module":
			m.note(line, "module %s is left out: modules are not expanded; convert the state with --from terraform-state", strings.Join(read.Labels, "."))
		case read.Type == "resource" && len(read.Labels) == 2, read.Type == "data" && len(read.Labels) == 2:
			m.readResource(read, line)
		}
	}
}

func (m *module) readResource(read *hclsyntax.Block, line int) {
	isData := read.Type == "data"
	b := &block{file: m.file, line: line, typ: read.Labels[0], name: read.Labels[1], isData: isData, body: read.Body}
	b.address = b.typ + "." + b.name
	if isData {
		b.address = "data." + b.address
	}
	switch {
	case !azapiBlocks[b.typ] && !isData:
		m.otherResource(line, b.address, b.typ)
		return
	case !isData && (b.body.Attributes["count"] != nil || b.body.Attributes["for_each"] != nil):
		m.fault(line, "%s uses count or for_each, so that its instances are not in the configuration; convert the state with --from terraform-state", b.address)
		return
	}
	if first := m.blocks[b.address]; first != nil {
		m.fault(line, "%s is there twice, first in line %d of %s", b.address, first.line, first.file)
		return
	}
	m.blocks[b.address] = b
	m.order = append(m.order, b.address)
}

// convert adds the resource of a block.
func (m *module) convert(b *block) {
	m.file = b.file
	s := source{address: b.address, line: b.line, update: b.typ == "azapi_update_resource", attributes: &value{kind: object, line: b.line}}
	before := len(m.faults)
	for _, name := range slices.Sorted(maps.Keys(b.body.Attributes)) {
		attribute := b.body.Attributes[name]
		switch name {
		case "depends_on":
			s.needs = m.dependencies(attribute.Expr)
			continue
		case "provider", "ignore_casing", "ignore_missing_property", "ignore_null_property", "sensitive_body_version":
			continue
		case "sensitive_body":
			s.attributes.set(name, m.hidden(attribute.Expr))
			continue
		case "retry", "locks", "response_export_values", "replace_triggers_external_values", "replace_triggers_refs":
			s.attributes.set(name, textValue(attribute.SrcRange.Start.Line, "stated"))
			continue
		}
		if v := m.value(attribute.Expr, name); v != nil {
			s.attributes.set(name, v)
		}
	}
	m.readInner(b, &s)
	if len(m.faults) > before {
		return
	}
	if !b.id.IsZero() {
		s.attributes.set("id", textValue(b.line, b.id.String()))
	}
	if b.typ == "azurerm_resource_group" {
		s.attributes.set("type", textValue(b.line, resourceGroups))
	}
	m.azapiResource(s)
}

// readInner reads the blocks inside a resource.
func (m *module) readInner(b *block, s *source) {
	for _, inner := range b.body.Blocks {
		line := inner.TypeRange.Start.Line
		switch inner.Type {
		case "identity":
			identity := &value{kind: object, line: line}
			for _, name := range slices.Sorted(maps.Keys(inner.Body.Attributes)) {
				if v := m.value(inner.Body.Attributes[name].Expr, "identity."+name); v != nil {
					identity.set(name, v)
				}
			}
			s.attributes.set("identity", &value{kind: list, line: line, items: []*value{identity}})
		case "lifecycle":
			m.lifecycle(inner.Body, s)
		case "timeouts":
			m.note(line, "%s: timeouts are left out: reconcile.timeout bounds one operation of Azure", b.address)
		case "dynamic":
			m.fault(line, "%s uses a dynamic block; convert the state with --from terraform-state", b.address)
		case "retry":
			m.note(line, "%s: retry is left out: every error is retried until it is corrected or final", b.address)
		default:
			m.note(line, "%s: the block %s is left out", b.address, inner.Type)
		}
	}
}

// lifecycle reads ignore_changes and prevent_destroy.
func (m *module) lifecycle(body *hclsyntax.Body, s *source) {
	if protect := body.Attributes["prevent_destroy"]; protect != nil {
		v, diagnostics := protect.Expr.Value(m.context)
		s.protect = !diagnostics.HasErrors() && v.IsKnown() && v.Type() == cty.Bool && !v.IsNull() && v.True()
	}
	ignore := body.Attributes["ignore_changes"]
	if ignore == nil {
		return
	}
	items, diagnostics := hcl.ExprList(ignore.Expr)
	if diagnostics.HasErrors() {
		m.note(ignore.SrcRange.Start.Line, "%s: ignore_changes = all is left out: use reconcile: {policy: observe} to write nothing", s.address)
		return
	}
	for _, item := range items {
		traversal, diagnostics := hcl.AbsTraversalForExpr(item)
		line := item.Range().Start.Line
		if diagnostics.HasErrors() {
			m.note(line, "%s: an item of ignore_changes is no path and is left out", s.address)
			continue
		}
		root, path := traversal.RootName(), pathOf(traversal[1:])
		switch {
		case root == "body" && path != "":
			s.ignore = append(s.ignore, path)
		case root == "tags" || root == "location":
			s.ignore = append(s.ignore, strings.TrimSuffix(root+"."+path, "."))
		case root == "output":
		default:
			m.note(line, "%s: ignore_changes of %s is left out: a manifest ignores paths in the body", s.address, cmp.Or(path, root))
		}
	}
}

// dependencies returns the resources that depends_on names.
func (m *module) dependencies(expression hclsyntax.Expression) (needs []resource.ID) {
	items, _ := hcl.ExprList(expression)
	for _, item := range items {
		traversal, diagnostics := hcl.AbsTraversalForExpr(item)
		if diagnostics.HasErrors() || len(traversal) < 2 {
			continue
		}
		name, _ := traversal[1].(hcl.TraverseAttr)
		if b := m.blocks[traversal.RootName()+"."+name.Name]; b != nil && !b.id.IsZero() {
			needs = append(needs, b.id)
		} else {
			m.note(item.Range().Start.Line, "depends_on %s.%s is left out: it is not converted", traversal.RootName(), name.Name)
		}
	}
	return needs
}
