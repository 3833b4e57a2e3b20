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

// The types whose ranges have to fit together.
const (
	networkType = "Microsoft.Network/virtualNetworks"
	subnetType  = networkType + "/subnets"
)

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
	isNetwork, isSubnet := strings.EqualFold(v.draft.typ, networkType), strings.EqualFold(v.draft.typ, subnetType)
	network := v.draft
	if isSubnet {
		network = v.loader.byID[v.draft.desired.ID.Owner().Key()]
	}
	if !isNetwork && !isSubnet {
		return
	}
	var before []addressRange
	if network != nil {
		before = network.inlineSubnets()
	}
	own := before
	if isSubnet {
		for _, sibling := range v.loader.drafts {
			if sibling == v.draft {
				break
			}
			if strings.EqualFold(sibling.typ, subnetType) && sibling.desired.ID.Owner().Equal(v.draft.desired.ID.Owner()) {
				before = append(before, sibling.ranges(sibling.root.get("body"), "body")...)
			}
		}
		own = v.draft.ranges(body, "body")
	}
	for i, r := range own {
		others := before
		if isNetwork {
			others = before[:i]
		}
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
	space := network.root.get("body").get("properties").get("addressSpace").get("addressPrefixes")
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

// inlineSubnets returns the ranges of the subnets in the body of a network.
func (d *draft) inlineSubnets() []addressRange {
	subnets := d.root.get("body").get("properties").get("subnets")
	if subnets == nil {
		return nil
	}
	var ranges []addressRange
	for i, subnet := range subnets.items {
		path := resource.Path{{Name: "body"}, {Name: "properties"}, {Name: "subnets"}, {Index: i, IsIndex: true}}
		ranges = append(ranges, d.ranges(subnet, path.String())...)
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
	case prefix.Masked() != prefix && strings.HasPrefix(strings.ToLower(v.draft.typ), strings.ToLower(networkType)):
		v.reportAddress(n, path, "%s does not begin where a range of its size begins; write %s", n.text, prefix.Masked())
	}
}

func (v validator) reportAddress(at *node, path resource.Path, format string, args ...any) {
	v.report(found{rule: InvalidAddress, isFault: true, at: at.position, path: path.String()}, format, args...)
}
