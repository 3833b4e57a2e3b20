package armsim

import (
	"encoding/json"
	"net/http"
	"strings"
)

// sqlRows returns the row of SQL databases. The size of a database has the default of its
// tier, and a tier refuses the size of a larger one (400 InvalidMaxSizeTierCombination,
// the code of Databases - Create Or Update at learn.microsoft.com; the words come from
// the server's error 40619, MicrosoftDocs/azure-docs#66298).
func sqlRows() []typeRule {
	return []typeRule{{
		typePattern: "microsoft.sql/servers/databases", etag: true, noState: true,
		defaults: databaseDefaults, checkWrite: checkDatabaseSize,
	}}
}

const gigabyte = 1 << 30

// maxDatabaseSizes returns the largest size of a database by the first letter of its SKU
// or tier, in bytes.
func maxDatabaseSizes() map[byte]int64 {
	return map[byte]int64{'b': 2 * gigabyte, 's': 250 * gigabyte, 'p': 500 * gigabyte}
}

func maxDatabaseSize(body object) int64 {
	name := strings.ToLower(text(body, "sku.name"))
	if name == "" {
		name = "s"
	}
	return maxDatabaseSizes()[name[0]]
}

func databaseDefaults(r *resource, body object) {
	setDefault(body, "sku", object{"name": "S0"})
	p := properties(body)
	if size := maxDatabaseSize(body); size > 0 {
		setDefault(p, "maxSizeBytes", size)
	}
	setDefaults(p, object{"collation": "SQL_Latin1_General_CP1_CI_AS", "zoneRedundant": false, "requestedBackupStorageRedundancy": "Geo"})
	p["databaseId"], p["status"], p["defaultSecondaryLocation"] = r.guid, "Online", "westcentralus"
	p["currentServiceObjectiveName"] = text(body, "sku.name")
}

func checkDatabaseSize(_ *Simulator, _ target, body object) *response {
	number, isNumber := properties(cloneObject(body))["maxSizeBytes"].(json.Number)
	size, err := number.Int64()
	if most := maxDatabaseSize(body); isNumber && err == nil && most > 0 && size > most {
		return armError(http.StatusBadRequest, "InvalidMaxSizeTierCombination",
			"The edition '%s' does not support the database data max size '%d'.", text(body, "sku.name"), size)
	}
	return nil
}
