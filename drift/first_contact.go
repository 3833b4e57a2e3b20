package drift

import "strings"

// typeRow is what is known of one property of one type. A row needs evidence: a published default, a documented
// form. What is merely often seen belongs into the memory.
type typeRow struct {
	resourceType string
	// path as pattern writes it.
	path string
	// leftOut is a default that the GET leaves out.
	leftOut string
	// alias reports whether observed is another form of desired.
	alias func(desired, observed string) bool
	// children says that the list's elements are resources of their own, too.
	children bool
}

// typeRows is the table.
var typeRows = [...]typeRow{
	// "Type of API": http unless another one is stated; the GET shows null.
	{resourceType: "microsoft.apimanagement/service/apis", path: "properties.type", leftOut: "http"},
	// "Revision of the API": a number; the portal writes v1, the GET shows 1.
	{resourceType: "microsoft.apimanagement/service/apis", path: "properties.apirevision", alias: withoutLetterV},
	// Agent pools are managedClusters/agentPools; the cluster shows them without IDs.
	{resourceType: "microsoft.containerservice/managedclusters", path: "properties.agentpoolprofiles", children: true},
}

func typeRowsOf(resourceType string) []typeRow {
	var rows []typeRow
	for _, row := range typeRows {
		if strings.EqualFold(row.resourceType, resourceType) {
			rows = append(rows, row)
		}
	}
	return rows
}

// isAlias: the type shows the value in another form.
func isAlias(p cursor) bool {
	if len(p.subject.typeRows) == 0 {
		return false
	}
	desired, observed, ok := texts(p)
	for _, row := range p.subject.typeRows {
		if ok && row.alias != nil && row.path == pattern(p.path) && row.alias(desired, observed) {
			return true
		}
	}
	return false
}

// isDefaultLeftOut: the value is the default of the type, which the GET leaves
// out.
func isDefaultLeftOut(p cursor) bool {
	text, isText := p.desired.(string)
	for _, row := range p.subject.typeRows {
		if isText && row.leftOut != "" && strings.EqualFold(row.leftOut, text) && row.path == pattern(p.path) {
			return true
		}
	}
	return false
}

func withoutLetterV(desired, observed string) bool {
	number, found := strings.CutPrefix(strings.ToLower(desired), "v")
	return found && number == observed
}
