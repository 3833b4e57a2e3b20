package drift

import "strings"

// typeRow is a fact about one property of one type. A row needs evidence: a
// published default or a documented form. What is only observed often belongs in
// the baseline.
type typeRow struct {
	resourceType string
	// path as pattern writes it.
	path string
	// omitted is a default that the GET does not return.
	omitted string
	// alias reports whether observed is another form of desired.
	alias func(desired, observed string) bool
	// writeOnly is set when the GET never returns the property although the published
	// shape does not mark it.
	writeOnly bool
	// children is set when the elements of the list are resources themselves.
	children bool
	// oneShot is set when only a creation uses the property (one_shot.go).
	oneShot bool
}

// typeRows are the known facts about types.
var typeRows = [...]typeRow{
	// "Type of API": http by default; the GET returns null.
	{resourceType: "microsoft.apimanagement/service/apis", path: "properties.type", omitted: "http"},
	// "Revision of the API": a number; the portal writes v1, the GET returns 1.
	{resourceType: "microsoft.apimanagement/service/apis", path: "properties.apirevision", alias: withoutLetterV},
	// The specifications have two models of the body: ServerForCreate with createMode,
	// and Server, which the GET returns, without it.
	{resourceType: "microsoft.dbformariadb/servers", path: "properties.createmode", writeOnly: true},
	{resourceType: "microsoft.dbformysql/servers", path: "properties.createmode", writeOnly: true},
	{resourceType: "microsoft.dbforpostgresql/servers", path: "properties.createmode", writeOnly: true},
	// "The name of the sample schema to apply when creating this database".
	{resourceType: "microsoft.sql/servers/databases", path: "properties.samplename", oneShot: true},
	// Required "if createMode is RestoreExternalBackup": the backups to restore.
	{resourceType: "microsoft.sql/managedinstances/databases", path: "properties.storagecontaineruri", oneShot: true},
	{resourceType: "microsoft.sql/managedinstances/databases", path: "properties.storagecontainersastoken", oneShot: true},
	{resourceType: "microsoft.sql/managedinstances/databases", path: "properties.storagecontaineridentity", oneShot: true},
	{resourceType: "microsoft.sql/managedinstances/databases", path: "properties.lastbackupname", oneShot: true},
	{resourceType: "microsoft.sql/managedinstances/databases", path: "properties.autocompleterestore", oneShot: true},
	// Agent pools are managedClusters/agentPools; the cluster returns them without IDs.
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

// isAlias reports whether the type returns the value in another form.
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

// isOmittedDefault reports whether the value is a default of the type that the GET
// does not return.
func isOmittedDefault(p cursor) bool {
	text, isText := p.desired.(string)
	for _, row := range p.subject.typeRows {
		if isText && row.omitted != "" && strings.EqualFold(row.omitted, text) && row.path == pattern(p.path) {
			return true
		}
	}
	return false
}

func withoutLetterV(desired, observed string) bool {
	number, found := strings.CutPrefix(strings.ToLower(desired), "v")
	return found && number == observed
}
