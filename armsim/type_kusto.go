package armsim

import (
	"net/http"
	"strings"
)

const kustoClusterType = "microsoft.kusto/clusters"

// kustoRows returns the rows of Azure Data Explorer. A create is 201 Creating; an
// update is 200 Accepted, then Updating; the operation's status is Running; deletes
// have both headers; there is no Retry-After (recorded).
func kustoRows() []typeRule {
	slow := func(create, update, remove float64) typeRule {
		return typeRule{
			create:     OperationSpec{Shape: ShapeAsync, Seconds: create, StatusWord: "Running"},
			update:     OperationSpec{Shape: ShapeAsync, Seconds: update, StatusWord: "Running", FirstState: "Accepted"},
			delete:     OperationSpec{Shape: ShapeBoth, Seconds: remove, StatusWord: "Running"},
			titleTypes: true, displayLocation: true, fullName: true, operationsPath: "operationResults",
		}
	}
	cluster := slow(600, 200, 210)
	cluster.typePattern, cluster.etag, cluster.defaults = kustoClusterType, true, kustoClusterDefaults
	cluster.actions = map[string]action{
		"start": {provisioningState: "Updating", path: "state", runningValue: "Starting", finalValue: "Running"},
		"stop":  {provisioningState: "Updating", path: "state", runningValue: "Stopping", finalValue: "Stopped"},
	}
	database := slow(5, 5, 10)
	database.typePattern, database.defaults = kustoClusterType+"/databases", kustoDatabaseDefaults
	child := slow(7, 7, 10)
	child.typePattern = kustoClusterType + "/*"
	return []typeRule{cluster, database, child}
}

func kustoClusterDefaults(r *resource, body object) {
	p := properties(body)
	region := compactRegion(text(body, "location"))
	setDefault(body, "tags", object{})
	p["uri"] = "https://" + strings.ToLower(r.name) + "." + region + ".kusto.windows.net"
	p["dataIngestionUri"] = "https://ingest-" + strings.ToLower(r.name) + "." + region + ".kusto.windows.net"
	setDefaults(p, object{
		"enableDiskEncryption": false, "enableStreamingIngest": false, "enablePurge": false, "enableDoubleEncryption": false,
		"enableAutoStop": true, "engineType": "V3", "publicNetworkAccess": "Enabled", "publicIPType": "IPv4",
		"restrictOutboundNetworkAccess": "Disabled", "trustedExternalTenants": []any{}, "acceptedAudiences": []any{},
		"allowedFqdnList": []any{}, "allowedIpRangeList": []any{}, "privateEndpointConnections": []any{},
		"languageExtensions": object{"value": []any{}},
	})
	for _, name := range []string{"optimizedAutoscale", "virtualNetworkConfiguration", "keyVaultProperties", "migrationCluster"} {
		if _, given := p[name]; !given {
			p[name] = nil
		}
	}
	p["stateReason"] = ""
	// The server sets "state": it survives a PUT, and becomes Running once the create
	// is done.
	switch old := text(r.body, "properties.state"); {
	case old == "" || old == "Creating" && p["provisioningState"] != "Succeeded":
		p["state"] = "Creating"
	case old == "Creating":
		p["state"] = "Running"
	default:
		p["state"] = old
	}
}

func kustoDatabaseDefaults(_ *resource, body object) {
	setDefault(body, "kind", "ReadWrite")
	p := properties(body)
	setDefault(p, "isFollowed", false)
	setDefault(p, "statistics", object{"size": 0.0})
}

// checkParentState refuses any request, GETs too, for something below a Kusto cluster
// that is being changed or does not run (409, as Azure does), and a write while its
// family is busy.
func (s *Simulator) checkParentState(q *request, verb string) *response {
	t := q.target
	if len(t.types) > 1 && strings.EqualFold(t.namespace+"/"+t.types[0], kustoClusterType) {
		if resp := s.checkCluster(t); resp != nil {
			return resp
		}
	}
	if verb == "write" || verb == "delete" {
		return s.checkFamily(q)
	}
	return nil
}

func (s *Simulator) checkCluster(t target) *response {
	cluster := s.find(t.scope + "/providers/" + t.namespace + "/" + t.types[0] + "/" + t.names[0])
	if cluster == nil {
		return nil
	}
	what := ""
	switch state := text(cluster.body, "properties.state"); strings.ToLower(state) {
	case "", "running":
	default:
		what = "state '" + state + "'"
	}
	if !terminal(cluster.state()) {
		what = "provisioning state '" + cluster.state() + "'"
	}
	if what == "" {
		return nil
	}
	return armError(http.StatusConflict, "Conflict",
		"[Conflict] Cluster '%s' is in %s. The request cannot be served until the cluster is running and no operation is in progress.", cluster.name, what)
}
