package armsim

import (
	"net/http"
	"strings"
)

const kustoClusterType = "microsoft.kusto/clusters"

// kustoRows: Azure Data Explorer. A create answers 201 Creating, an update 200
// Accepted and then Updating; the operation says Running; deletes carry both
// headers; there is no Retry-After (recorded).
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
	cluster.pattern, cluster.etag, cluster.defaults = kustoClusterType, true, kustoClusterDefaults
	database := slow(5, 5, 10)
	database.pattern, database.defaults = kustoClusterType+"/databases", kustoDatabaseDefaults
	child := slow(7, 7, 10)
	child.pattern = kustoClusterType + "/*"
	return []typeRule{cluster, database, child}
}

func kustoClusterDefaults(r *resource, body object) {
	p := properties(body)
	region := strings.ToLower(strings.ReplaceAll(text(body, "location"), " ", ""))
	setDefault(body, "tags", object{})
	p["uri"] = "https://" + strings.ToLower(r.name) + "." + region + ".kusto.windows.net"
	p["dataIngestionUri"] = "https://ingest-" + strings.ToLower(r.name) + "." + region + ".kusto.windows.net"
	for name, value := range (object{
		"enableDiskEncryption": false, "enableStreamingIngest": false, "enablePurge": false, "enableDoubleEncryption": false,
		"enableAutoStop": true, "engineType": "V3", "publicNetworkAccess": "Enabled", "publicIPType": "IPv4",
		"restrictOutboundNetworkAccess": "Disabled", "trustedExternalTenants": []any{}, "acceptedAudiences": []any{},
		"allowedFqdnList": []any{}, "allowedIpRangeList": []any{}, "privateEndpointConnections": []any{},
		"languageExtensions": object{"value": []any{}},
	}) {
		setDefault(p, name, value)
	}
	for _, name := range []string{"optimizedAutoscale", "virtualNetworkConfiguration", "keyVaultProperties", "migrationCluster"} {
		if _, given := p[name]; !given {
			p[name] = nil
		}
	}
	p["stateReason"] = ""
	// "state" is the server's own: kept over a PUT, Running once the create is done.
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

// blockedByParent refuses any request for something below a Kusto cluster that
// is under change or not running (409, as Azure does, GETs too), and a change
// of a network child while its family is busy.
func (s *Simulator) blockedByParent(q *request) *answer {
	t := q.target
	if len(t.types) > 1 && strings.EqualFold(t.namespace+"/"+t.types[0], kustoClusterType) {
		if a := s.blockedByCluster(t); a != nil {
			return a
		}
	}
	if q.r.Method != http.MethodGet && q.r.Method != http.MethodHead && s.ruleFor(q.resourceType).lockFamily {
		return s.blockedByFamily(q)
	}
	return nil
}

func (s *Simulator) blockedByCluster(t target) *answer {
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

// kustoAction starts and stops a cluster: a long-running operation that ends
// with the state Running or Stopped.
func (s *Simulator) kustoAction(q *request, r *resource) *answer {
	during, after := "Starting", "Running"
	if strings.EqualFold(q.target.action, "stop") {
		during, after = "Stopping", "Stopped"
	}
	if a := s.busy(q, r); a != nil {
		return a
	}
	spec := s.specFor(r.typ, r.id, "update")
	spec.Shape, spec.FirstState = ShapeBoth, spec.State
	properties(r.body)["state"] = during
	op := s.begin(q.target, r, "action", spec, q)
	op.finalState = after
	a := newAnswer(http.StatusAccepted, nil)
	s.announce(a, op, q)
	return a
}
