package manifest

import (
	"net/netip"
	"regexp"
	"strings"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// InvalidAddress is the rule of addresses and ranges that Azure refuses: impossible ones,
// subnets outside of their network, and ranges that overlap.
const InvalidAddress types.Rule = "invalid-address"

// addressSpace leads to the ranges of a network in its body.
var addressSpace = resource.Path{{Name: "properties"}, {Name: "addressSpace"}, {Name: "addressPrefixes"}}

// isNetwork reports whether the published type has an address space, which its children share.
func isNetwork(typ string) bool {
	shape := types.Lookup(typ, types.Newest(typ))
	if shape == nil {
		return false
	}
	found, _ := shape.Find(addressSpace)
	return len(found) > 0
}

// rangeForm is the form of a text that is meant as a range of addresses. Prefixes of rules and
// routes may be names of services, too.
var rangeForm = regexp.MustCompile(`^[0-9a-fA-F]*[.:][0-9a-fA-F.:]*/\d+$`)

// addressRange is a range in a manifest.
type addressRange struct {
	prefix netip.Prefix
	draft  *draft
	at     position
	path   string
}

// checkAddresses reports the addresses of the body that Azure refuses.
func (v validator) checkAddresses(body *node) {
	v.checkAddressesIn(body, resource.Path{{Name: "body"}})
	network, own := v.draft, v.draft.ranges(body, "body")
	isSubnet := len(own) > 0
	if isSubnet && !isNetwork(v.draft.parentType()) {
		return
	}
	if isSubnet {
		network = v.loader.byID[v.draft.desired.ID.Owner().Key()]
	}
	var others []addressRange
	if network != nil {
		others = network.inlineRanges()
	}
	if !isSubnet {
		for i, r := range others {
			v.checkSubnet(r, network, others[:i])
		}
		return
	}
	for _, sibling := range v.loader.drafts {
		if sibling == v.draft {
			break
		}
		if strings.EqualFold(sibling.typ, v.draft.typ) && sibling.desired.ID.Owner().Equal(v.draft.desired.ID.Owner()) {
			others = append(others, sibling.ranges(sibling.root.get("body"), "body")...)
		}
	}
	for _, r := range own {
		v.checkSubnet(r, network, others)
	}
}

// checkSubnet reports a subnet outside of its network, or over another one.
func (v validator) checkSubnet(r addressRange, network *draft, others []addressRange) {
	f := found{rule: InvalidAddress, isFault: true, at: r.at, path: r.path}
	for _, other := range others {
		if other.prefix.Overlaps(r.prefix) {
			v.report(f, "%s overlaps %s of another subnet (%s:%d)", r.prefix, other.prefix, other.draft.file, other.at.line)
			return
		}
	}
	if network == nil {
		return
	}
	space := network.root.get("body")
	for _, step := range addressSpace {
		space = space.get(step.Name)
	}
	if space == nil || space.kind != kindList || len(space.items) == 0 {
		return
	}
	var texts []string
	for _, item := range space.items {
		prefix, err := netip.ParsePrefix(item.text)
		if err != nil || item.kind != kindText {
			return
		}
		if prefix.Masked().Contains(r.prefix.Addr()) && prefix.Bits() <= r.prefix.Bits() {
			return
		}
		texts = append(texts, item.text)
	}
	v.report(f, "%s is outside of its network, which has %s (%s:%d)", r.prefix, strings.Join(texts, ", "), network.file, space.line)
}

// inlineRanges returns the ranges of the children in the body of a network.
func (d *draft) inlineRanges() []addressRange {
	body := d.root.get("body")
	if body.get("properties").get("addressSpace") == nil {
		return nil
	}
	var ranges []addressRange
	for _, inline := range types.InlineLists(d.typ) {
		list, path := body, resource.Path{{Name: "body"}}
		for _, name := range inline.Path {
			list, path = list.get(name), append(path, resource.Step{Name: name})
		}
		if list == nil {
			continue
		}
		for i, item := range list.items {
			ranges = append(ranges, d.ranges(item, append(path, resource.Step{Index: i, IsIndex: true}).String())...)
		}
	}
	return ranges
}

// ranges returns the ranges of one subnet, at a path. A range that is not known yet or
// impossible is left out.
func (d *draft) ranges(subnet *node, path string) []addressRange {
	var ranges []addressRange
	add := func(n *node, path string) {
		if prefix, err := netip.ParsePrefix(n.text); err == nil && n.kind == kindText {
			ranges = append(ranges, addressRange{prefix: prefix, draft: d, at: n.position, path: path})
		}
	}
	properties := subnet.get("properties")
	if single := properties.get("addressPrefix"); single != nil {
		add(single, path+".properties.addressPrefix")
	}
	if several := properties.get("addressPrefixes"); several != nil {
		for _, item := range several.items {
			add(item, path+".properties.addressPrefixes")
		}
	}
	return ranges
}

// checkAddressesIn reports impossible ranges, and ranges of one object that contradict each
// other.
func (v validator) checkAddressesIn(n *node, path resource.Path) {
	for i, item := range n.items {
		v.checkAddressesIn(item, append(path, resource.Step{Index: i, IsIndex: true}))
	}
	for _, f := range n.fields {
		below := append(path, resource.Step{Name: f.name})
		if isRangeName(f.name) {
			v.checkRange(f.value, below)
		}
		v.checkAddressesIn(f.value, below)
	}
	if first, last := address(n, "startIpAddress"), address(n, "endIpAddress"); first.IsValid() && last.IsValid() && last.Less(first) {
		v.reportAddress(n.get("endIpAddress"), append(path, resource.Step{Name: "endIpAddress"}), "%s is before the first address %s", last, first)
	}
	service, serviceErr := netip.ParsePrefix(n.textOf("serviceCidr"))
	if pods, err := netip.ParsePrefix(n.textOf("podCidr")); err == nil && serviceErr == nil && pods.Overlaps(service) {
		v.reportAddress(n.get("podCidr"), append(path, resource.Step{Name: "podCidr"}), "%s overlaps %s of serviceCidr", pods, service)
	}
	if dns := address(n, "dnsServiceIP"); dns.IsValid() && serviceErr == nil && !service.Contains(dns) {
		v.reportAddress(n.get("dnsServiceIP"), append(path, resource.Step{Name: "dnsServiceIP"}), "%s is outside of serviceCidr %s", dns, service)
	}
}

// address returns an address of an object, the zero address if it has none.
func address(n *node, name string) netip.Addr {
	addr, _ := netip.ParseAddr(n.textOf(name))
	return addr
}

// isRangeName reports whether a property has ranges of addresses.
func isRangeName(name string) bool {
	name = strings.ToLower(name)
	for _, end := range []string{"addressprefix", "addressprefixes", "cidr", "cidrs"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// checkRange reports a range, or the items of a list of ranges, that cannot be.
func (v validator) checkRange(n *node, path resource.Path) {
	for i, item := range n.items {
		v.checkRange(item, append(path, resource.Step{Index: i, IsIndex: true}))
	}
	if n.kind != kindText || !rangeForm.MatchString(n.text) {
		return
	}
	prefix, err := netip.ParsePrefix(n.text)
	switch {
	case err != nil:
		v.reportAddress(n, path, "%s is no range of addresses; write it like 10.0.0.0/24", n.text)
	case prefix.Masked() != prefix && (isNetwork(v.draft.typ) || isNetwork(v.draft.parentType())):
		v.reportAddress(n, path, "%s does not begin where a range of its size begins; write %s", n.text, prefix.Masked())
	}
}

func (v validator) reportAddress(at *node, path resource.Path, format string, args ...any) {
	v.report(found{rule: InvalidAddress, isFault: true, at: at.position, path: path.String()}, format, args...)
}
