package armsim

import (
	"net/http"
	"strings"
)

const postgresType = "microsoft.dbforpostgresql/flexibleservers"

// flexibleServerRows returns the rows of Azure Database for PostgreSQL (and MySQL)
// flexible servers. A write is 202 with both headers and a body that names the
// operation; a new resource is 404 until it is created; there is no provisioningState
// but a property "state" (recorded).
func flexibleServerRows() []typeRule {
	spec := func(seconds float64, retryAfter float64) OperationSpec {
		return OperationSpec{Shape: ShapeBoth, Status: http.StatusAccepted, Seconds: seconds, RetryAfter: []float64{retryAfter}}
	}
	server := typeRule{
		typePattern: postgresType, create: spec(240, 60), update: spec(60, 60), delete: spec(71, 15),
		noState: true, displayLocation: true, operationBodyName: "UpsertServerManagementOperationV2",
		operationsPath: "azureAsyncOperation", defaults: flexibleServerDefaults, onRead: showServerState, checkWrite: checkServerNotStopped,
		actions: map[string]action{
			"start":   {provisioningState: "Updating", path: "state", runningValue: "Starting", finalValue: "Ready", check: requireState("Stopped", "Start Server can only be performed on Stopped servers.")},
			"stop":    {provisioningState: "Updating", path: "state", runningValue: "Stopping", finalValue: "Stopped", check: requireState("Ready", startedOnly)},
			"restart": {provisioningState: "Updating", path: "state", runningValue: "Restarting", finalValue: "Ready", check: requireState("Ready", startedOnly)},
		},
	}
	server.create.HiddenUntilDone = true
	child := func(suffix, operation string, seconds, retryAfter float64, defaults func(*resource, object)) typeRule {
		row := typeRule{
			typePattern: postgresType + "/" + suffix, create: spec(seconds, retryAfter), update: spec(seconds, retryAfter), delete: spec(seconds, retryAfter),
			noState: true, noLocation: true, operationBodyName: operation, operationsPath: "azureAsyncOperation", defaults: defaults,
			checkWrite: checkServerRuns, checkDelete: func(s *Simulator, r *resource) *response { return s.checkServerState(parentOf(r.id)) },
		}
		row.create.HiddenUntilDone = true
		row.absent = absence{code: "ResourceNotFound", message: "The specified resource {name} was not found."}
		return row
	}
	settings := child("configurations", "UpsertServerParameterManagementOperation", 14, 10, nil)
	settings.noDelete = true
	rows := []typeRule{
		server, settings,
		child("databases", "UpsertServerDatabaseManagementOperation", 4, 10, postgresDatabaseDefaults),
		child("firewallrules", "UpsertServerFirewallRulesManagementOperation", 60, 60, nil),
		child("*", "UpsertServerChildManagementOperation", 15, 15, nil),
	}
	for _, row := range rows[:len(rows):len(rows)] { // MySQL's servers have the same form
		row.typePattern = strings.Replace(row.typePattern, "postgresql", "mysql", 1)
		if strings.HasSuffix(row.typePattern, "/databases") {
			row.defaults = nil
		}
		rows = append(rows, row)
	}
	return rows
}

const startedOnly = "Restart or Stop Server can only be performed on Started servers."

// requireState refuses an action in any other state.
func requireState(state, message string) func(*resource) *response {
	return func(r *resource) *response {
		if current := text(r.body, "properties.state"); current != "" && current != state {
			return armError(http.StatusBadRequest, "ServerIsNotReady", "%s Server Name = %s, Current Server State = %s", message, r.name, current)
		}
		return nil
	}
}

// checkServerRuns refuses a write below a stopped server.
func checkServerRuns(s *Simulator, t target, _ object) *response {
	if s.recordings[key(t.id)] != nil {
		return nil
	}
	return s.checkServerState(t.parentID())
}

// checkServerState refuses changes while a server is stopped, stopping or starting: 400
// by PostgreSQL, 409 by MySQL (public reports).
func (s *Simulator) checkServerState(id string) *response {
	server := s.find(id)
	if server == nil {
		return nil
	}
	state := text(server.body, "properties.state")
	switch strings.ToLower(state) {
	case "stopped", "stopping", "starting":
	default:
		return nil
	}
	if strings.Contains(strings.ToLower(server.typ), "mysql") {
		return armError(http.StatusConflict, "ServerUnavailableForOperation",
			"Operation cannot be performed as server '%s' is currently in state '%s'.", server.name, state)
	}
	return armError(http.StatusBadRequest, "ServerStoppedError",
		"The operation is not allowed on server '%s' in state '%s'. Start the server and try again.", server.name, state)
}

func flexibleServerDefaults(r *resource, body object) {
	p := properties(body)
	p["fullyQualifiedDomainName"] = strings.ToLower(r.name) + ".postgres.database.azure.com"
	if strings.Contains(strings.ToLower(r.typ), "mysql") {
		p["fullyQualifiedDomainName"] = strings.ToLower(r.name) + ".mysql.database.azure.com"
	}
	keepProperty(r, body, "state", "Ready")
	setDefault(p, "version", "13")
	setDefault(p, "minorVersion", "9")
	setDefault(p, "availabilityZone", "1")
	fill := func(name string, defaults object) {
		setDefault(p, name, object{})
		if o, ok := p[name].(object); ok {
			for field, value := range defaults {
				setDefault(o, field, value)
			}
		}
	}
	fill("storage", object{"storageSizeGB": 128})
	fill("backup", object{"backupRetentionDays": 7, "geoRedundantBackup": "Disabled"})
	fill("network", object{"publicNetworkAccess": "Enabled"})
	fill("highAvailability", object{"mode": "Disabled"})
	fill("maintenanceWindow", object{"customWindow": "Disabled", "dayOfWeek": 0, "startHour": 0, "startMinute": 0})
	if high, ok := p["highAvailability"].(object); ok {
		if text(high, "mode") == "ZoneRedundant" {
			keepStandby(r, p, high)
		}
		high["state"] = map[bool]string{true: "NotEnabled", false: "Healthy"}[text(high, "mode") == "Disabled"]
	}
}

// keepStandby keeps the zone of the standby, or chooses one that is not the server's.
func keepStandby(r *resource, p, high object) {
	zone := text(r.body, "properties.highAvailability.standbyAvailabilityZone")
	if zone == "" {
		zone = map[bool]string{true: "2", false: "1"}[text(p, "availabilityZone") == "1"]
	}
	setDefault(high, "standbyAvailabilityZone", zone)
}

// showServerState shows the operation in progress in the server's "state".
func showServerState(_ *Simulator, r *resource, body object) {
	if r.op == nil || r.op.done {
		return
	}
	if state := map[string]string{"create": "Provisioning", "update": "Updating", "delete": "Dropping"}[r.op.verb]; state != "" {
		properties(body)["state"] = state
	}
}

func postgresDatabaseDefaults(_ *resource, body object) {
	p := properties(body)
	setDefault(p, "charset", "UTF8")
	p["charset"] = strings.ToUpper(text(p, "charset"))
	setDefault(p, "collation", "en_US.utf8")
}

// checkServerNotStopped refuses a write of a stopped server.
func checkServerNotStopped(s *Simulator, t target, _ object) *response {
	return s.refuseStopped(t, "properties.state", http.StatusBadRequest, "ServerStoppedError",
		"Operation cannot be performed as the server is currently in state 'Stopped'.")
}
