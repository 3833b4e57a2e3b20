package convert

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// maxRounds bounds how long a chain of names that depend on each other may be.
const maxRounds = 20

// sensitive marks values of sensitive variables and what is computed from them.
const sensitive = "sensitive"

// functions are those of Terraform that need neither files nor the clock.
var functions = map[string]function.Function{
	"abs": stdlib.AbsoluteFunc, "ceil": stdlib.CeilFunc, "chomp": stdlib.ChompFunc, "coalesce": stdlib.CoalesceFunc, "compact": stdlib.CompactFunc,
	"concat": stdlib.ConcatFunc, "contains": stdlib.ContainsFunc, "distinct": stdlib.DistinctFunc, "element": stdlib.ElementFunc, "flatten": stdlib.FlattenFunc,
	"floor": stdlib.FloorFunc, "format": boundedFormat, "join": stdlib.JoinFunc, "jsondecode": stdlib.JSONDecodeFunc,
	"jsonencode": stdlib.JSONEncodeFunc, "keys": stdlib.KeysFunc, "length": stdlib.LengthFunc, "lower": stdlib.LowerFunc, "max": stdlib.MaxFunc,
	"merge": stdlib.MergeFunc, "min": stdlib.MinFunc, "range": stdlib.RangeFunc, "replace": stdlib.ReplaceFunc, "reverse": stdlib.ReverseListFunc,
	"slice": stdlib.SliceFunc, "sort": stdlib.SortFunc, "split": stdlib.SplitFunc, "substr": stdlib.SubstrFunc, "title": stdlib.TitleFunc,
	"trimprefix": stdlib.TrimPrefixFunc, "trimspace": stdlib.TrimSpaceFunc, "trimsuffix": stdlib.TrimSuffixFunc, "trim": stdlib.TrimFunc,
	"upper": stdlib.UpperFunc, "values": stdlib.ValuesFunc, "zipmap": stdlib.ZipmapFunc,
	"tobool": stdlib.MakeToFunc(cty.Bool), "tolist": stdlib.MakeToFunc(cty.List(cty.DynamicPseudoType)), "tomap": stdlib.MakeToFunc(cty.Map(cty.DynamicPseudoType)),
	"tonumber": stdlib.MakeToFunc(cty.Number), "toset": stdlib.MakeToFunc(cty.Set(cty.DynamicPseudoType)), "tostring": stdlib.MakeToFunc(cty.String),
}

// maxLocalBytes bounds a local value, because locals can double each other.
const maxLocalBytes = 256 << 10

// wideFormat matches a width or precision that would fill the memory.
var wideFormat = regexp.MustCompile(`[0-9]{4}|\*`)

// boundedFormat is format without widths above 999.
var boundedFormat = function.New(&function.Spec{
	Params:   []function.Parameter{{Name: "format", Type: cty.String}},
	VarParam: &function.Parameter{Name: "args", Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true},
	Type:     function.StaticReturnType(cty.String),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		if wideFormat.MatchString(args[0].AsString()) {
			return cty.NilVal, errors.New("a width is too large")
		}
		return stdlib.Format(args[0], args[1:]...)
	},
})

// sizeOf returns the length of all texts in a value.
func sizeOf(v cty.Value) (size int) {
	unmarked, _ := v.UnmarkDeep()
	// The function never fails.
	_ = cty.Walk(unmarked, func(_ cty.Path, part cty.Value) (bool, error) {
		if part.IsKnown() && !part.IsNull() && part.Type() == cty.String {
			size += len(part.AsString())
		}
		size++
		return size <= maxLocalBytes, nil
	})
	return size
}

// evaluate fills the context with what is known without Azure: variables, locals, and the
// names and IDs of resources. It repeats until nothing more becomes known.
func (m *module) evaluate(stated map[string]cty.Value) {
	m.context = &hcl.EvalContext{Functions: functions, Variables: map[string]cty.Value{}}
	variables := map[string]cty.Value{}
	for _, address := range m.order {
		if b := m.blocks[address]; b.typ == "variable" {
			variables[b.name] = variable(b.body, stated[b.name])
		}
	}
	m.context.Variables["var"] = cty.ObjectVal(known(variables))
	locals := map[string]cty.Value{}
	for range maxRounds {
		found := false
		for _, name := range slices.Sorted(maps.Keys(m.locals)) {
			if _, done := locals[name]; done {
				continue
			}
			if v, diagnostics := m.locals[name].Value(m.context); !diagnostics.HasErrors() && sizeOf(v) <= maxLocalBytes {
				locals[name], found = v, true
			}
		}
		m.context.Variables["local"] = cty.ObjectVal(locals)
		found = m.locateBlocks() || found
		m.offer()
		if !found {
			return
		}
	}
}

// known returns the variables that have a value.
func known(variables map[string]cty.Value) map[string]cty.Value {
	maps.DeleteFunc(variables, func(_ string, v cty.Value) bool { return v == cty.NilVal })
	return variables
}

// variable returns the value of a variable, or NilVal if it has none.
func variable(body *hclsyntax.Body, stated cty.Value) cty.Value {
	v := stated
	if v == cty.NilVal && body.Attributes["default"] != nil {
		if read, diagnostics := body.Attributes["default"].Expr.Value(nil); !diagnostics.HasErrors() {
			v = read
		}
	}
	if attribute := body.Attributes["sensitive"]; attribute != nil {
		if flag, diagnostics := attribute.Expr.Value(nil); diagnostics.HasErrors() || flag.Type() != cty.Bool || flag.IsNull() || flag.True() {
			if v == cty.NilVal {
				v = cty.UnknownVal(cty.String)
			}
			return v.Mark(sensitive)
		}
	}
	return v
}

// locateBlocks finds the IDs of resources whose type, name and parent are known. It reports
// whether it found one.
func (m *module) locateBlocks() bool {
	found := false
	for _, address := range m.order {
		b := m.blocks[address]
		if !b.id.IsZero() || b.typ == "variable" || !azapiBlocks[b.typ] {
			continue
		}
		typ, version, _ := strings.Cut(m.textOf(b, "type"), "@")
		if b.typ == "azurerm_resource_group" {
			typ, version, _ = strings.Cut(resourceGroups, "@")
		}
		id := m.textOf(b, "resource_id")
		if id == "" {
			parent := m.textOf(b, "parent_id")
			if parent == "" && b.body.Attributes["parent_id"] == nil && strings.EqualFold(typ, resource.TypeResourceGroup) && m.options.Subscription != "" {
				parent = "/subscriptions/" + m.options.Subscription
			}
			if name := m.textOf(b, "name"); parent != "" && name != "" && typ != "" {
				id = child(parent, typ, name)
			}
		}
		if parsed, err := resource.ParseID(id); err == nil {
			b.id, b.version, found = spelled(parsed, typ), version, true
		}
	}
	return found
}

// textOf returns the text of an attribute, "" if it is not known.
func (m *module) textOf(b *block, name string) string {
	attribute := b.body.Attributes[name]
	if attribute == nil {
		return ""
	}
	v, diagnostics := attribute.Expr.Value(m.context)
	if diagnostics.HasErrors() || v.IsMarked() || !v.IsWhollyKnown() || v.IsNull() || v.Type() != cty.String {
		return ""
	}
	return v.AsString()
}

// offer makes the resources known to expressions: azapi_resource.NAME.id and others.
func (m *module) offer() {
	byType := map[string]map[string]cty.Value{}
	for _, address := range m.order {
		b := m.blocks[address]
		if b.typ == "variable" {
			continue
		}
		attributes := map[string]cty.Value{}
		for _, name := range []string{"type", "name", "location", "parent_id"} {
			if text := m.textOf(b, name); text != "" {
				attributes[name] = cty.StringVal(text)
			}
		}
		if !b.id.IsZero() {
			attributes["id"] = cty.StringVal(b.id.String())
		}
		m.offerSubscription(b, attributes)
		typ := strings.TrimSuffix(b.address, "."+b.name)
		if byType[typ] == nil {
			byType[typ] = map[string]cty.Value{}
		}
		byType[typ][b.name] = cty.ObjectVal(attributes)
	}
	data := map[string]cty.Value{}
	for typ, blocks := range byType {
		if name, isData := strings.CutPrefix(typ, "data."); isData {
			data[name] = cty.ObjectVal(blocks)
		} else {
			m.context.Variables[typ] = cty.ObjectVal(blocks)
		}
	}
	m.context.Variables["data"] = cty.ObjectVal(data)
}

// offerSubscription adds what the data sources about the current subscription know.
func (m *module) offerSubscription(b *block, attributes map[string]cty.Value) {
	subscription := m.options.Subscription
	if subscription == "" || !b.isData {
		return
	}
	switch b.typ {
	case "azapi_client_config", "azurerm_client_config", "azurerm_subscription":
		attributes["subscription_id"] = cty.StringVal(subscription)
		attributes["subscription_resource_id"] = cty.StringVal("/subscriptions/" + subscription)
		if b.typ == "azurerm_subscription" {
			attributes["id"] = cty.StringVal("/subscriptions/" + subscription)
		}
	}
}
