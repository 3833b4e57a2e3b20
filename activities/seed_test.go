package activities

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/armature-io/armature/resource"
)

// seed is one row of the table of seed systems: a type in a state, and what the
// activity of one step decides about it.
type seed struct {
	// step is CheckOwner, PreCheck or PostCheck.
	step string
	// id is the resource; shown is the body of what the step reads: the owner
	// for CheckOwner, else the resource. desired is the manifest's.
	id, shown, desired string
	action             resource.Action
	severity           resource.Severity
	reason             resource.Reason
	message            string
}

// blocked, passed and so on are the verdicts of the table.
func (s seed) blocked(message string) seed {
	s.action, s.severity, s.reason, s.message = resource.ActionBlock, resource.SeverityWarning, resource.ReasonReconciliationBlocked, message
	return s
}

// leftStopped is the block of a stopped resource, with its own reason and a longer
// message than the state.
func (s seed) leftStopped(word string) seed {
	if word == "Stopped" {
		s.reason = resource.ReasonStopped
	}
	return s
}

func (s seed) failed(message string) seed {
	s.action, s.severity, s.reason, s.message = resource.ActionFailure, resource.SeverityWarning, resource.ReasonPostReconciliationFailure, message
	return s
}

// needsPerson marks a failure that no retry fixes.
func (s seed) needsPerson() seed {
	s.severity = resource.SeverityError
	return s
}

func (s seed) passed(action resource.Action, reason resource.Reason) seed {
	s.action, s.reason = action, reason
	return s
}

const seedProvider = groupText + "/providers/"

// state is a body with one property of properties.
func state(name, word string) string { return fmt.Sprintf(`{"properties":{%q:%q}}`, name, word) }

// ownerSeeds are rows of CheckOwner: the states that block, with a message, and
// those that pass.
func ownerSeeds(rows map[string]seed, id, property, message string, block, pass []string) {
	for _, word := range block {
		rows[fmt.Sprintf("%s owner %s=%s", id[len(seedProvider):], property, word)] =
			seed{step: "CheckOwner", id: id, shown: state(property, word)}.blocked(fmt.Sprintf(message, word))
	}
	for _, word := range pass {
		rows[fmt.Sprintf("%s owner %s=%s", id[len(seedProvider):], property, word)] =
			seed{step: "CheckOwner", id: id, shown: state(property, word)}.passed(resource.ActionProceed, "")
	}
}

// selfSeeds are rows of PreCheck of a resource that differs from its manifest.
func selfSeeds(rows map[string]seed, id, property, message string, block, pass []string) {
	const differs = `{"tags":{"a":"1"}}`
	for _, word := range block {
		if strings.Contains(message, "%q") {
			rows[fmt.Sprintf("%s self %s=%s", id[len(seedProvider):], property, word)] =
				seed{step: "PreCheck", id: id, shown: state(property, word), desired: differs}.blocked(fmt.Sprintf(message, word)).leftStopped(word)
			continue
		}
		rows[fmt.Sprintf("%s self %s=%s", id[len(seedProvider):], property, word)] =
			seed{step: "PreCheck", id: id, shown: state(property, word), desired: differs}.blocked(message)
	}
	for _, word := range pass {
		rows[fmt.Sprintf("%s self %s=%s", id[len(seedProvider):], property, word)] =
			seed{step: "PreCheck", id: id, shown: state(property, word), desired: differs}.passed(resource.ActionProceed, resource.ReasonDrift)
	}
}

// seeds is every state of the enums of every seed system.
func seeds() map[string]seed {
	rows := map[string]seed{}
	aksShut := []string{"Creating", "Updating", "Deleting", "Upgrading", "Scaling", "Starting", "Stopping", "Migrating", "uPgRaDiNg"}
	aksOpen := []string{"Succeeded", "Failed", "Canceled", "Running", "succeeded"}
	const aks, pool = seedProvider + "Microsoft.ContainerService/managedClusters/aks1", seedProvider + "Microsoft.ContainerService/managedClusters/aks1/agentPools/p1"
	ownerSeeds(rows, pool, "provisioningState", `Managed cluster "aks1" is in provisioning state %q`, aksShut, aksOpen)
	selfSeeds(rows, pool, "provisioningState", `Managed cluster agent pool is in provisioning state %q`, aksShut, aksOpen)
	selfSeeds(rows, aks, "provisioningState", `Managed cluster is in provisioning state %q`, aksShut, aksOpen)

	kustoShut, kustoOpen := []string{"Creating", "Deleting", "Moving", "Updating"}, []string{"Canceled", "Failed", "Running", "Succeeded"}
	kustoOff, kustoOn := []string{"Creating", "Deleting", "Starting", "Stopped", "Stopping", "Updating"}, []string{"Running", "Unavailable"}
	ownerSeeds(rows, databaseText, "provisioningState", `Owning cluster is in provisioning state %q`, kustoShut, kustoOpen)
	ownerSeeds(rows, databaseText, "state", `Owning cluster is in state %q`, kustoOff, kustoOn)
	selfSeeds(rows, clusterText, "provisioningState", `Cluster is in provisioning state %q`, kustoShut, kustoOpen)
	selfSeeds(rows, clusterText, "state", `Cluster is in state %q`, kustoOff, kustoOn)

	pgShut := []string{"Disabled", "Dropping", "Inaccessible", "Provisioning", "Restarting", "Starting", "Stopped", "Stopping", "Updating"}
	pgOpen := []string{"Ready", "Succeeded", "Failed", "Canceled", "READY"}
	const server = seedProvider + "Microsoft.DBforPostgreSQL/flexibleServers/pg1"
	ownerSeeds(rows, server+"/databases/d1", "state", `Owning FlexibleServer is in state %q`, pgShut, pgOpen)
	ownerSeeds(rows, server+"/firewallRules/r1", "state", `Owning FlexibleServer is in state %q`, pgShut, pgOpen)
	selfSeeds(rows, server, "state", `Flexible Server is in state %q`, pgShut, pgOpen)

	ownerSeeds(rows, seedProvider+"Microsoft.DocumentDB/cassandraClusters/cs1/dataCenters/dc1", "provisioningState",
		`Owning CassandraCluster is in provisioning state %q`, []string{"Canceled", "Creating", "Deleting", "Failed", "Updating"}, []string{"Succeeded"})
	selfSeeds(rows, seedProvider+"Microsoft.DocumentDB/databaseAccounts/cosmos1", "provisioningState",
		"reconcile blocked while account is at status deleting", []string{"Deleting", "deleting"}, []string{"Succeeded", "Failed"})
	selfSeeds(rows, seedProvider+"Microsoft.RedHatOpenShift/hcpOpenShiftClusters/hcp1", "provisioningState",
		"reconcile blocked while hcpOpenShiftCluster is at status deleting", []string{"Deleting", "DELETING"}, []string{"Succeeded", "Failed"})
	ownerSeeds(rows, seedProvider+"Microsoft.Compute/virtualMachineScaleSets/ss1/virtualMachines/0", "provisioningState",
		`Owning scale set is in provisioning state %q`, []string{"Updating", "Deallocating", "Deleting"}, []string{"Running", "Succeeded"})
	restingSeeds(rows, server)
	postSeeds(rows)
	return rows
}

// restingSeeds are the rows of stopped resources in sync: no write and no error.
func restingSeeds(rows map[string]seed, server string) {
	for _, word := range []string{"Stopped", "Disabled", "Inaccessible"} {
		rows["in sync while "+word] = seed{step: "PreCheck", id: server, shown: state("state", word), desired: `{}`}.passed(resource.ActionSkip, resource.ReasonInSync)
	}
	rows["Kusto in sync while Stopped"] = seed{step: "PreCheck", id: clusterText, shown: state("state", "Stopped"), desired: `{}`}.passed(resource.ActionSkip, resource.ReasonInSync)
}

// postSeeds are the rows of PostCheck.
func postSeeds(rows map[string]seed) {
	const endpoint, backup = seedProvider + "Microsoft.Network/privateEndpoints/pe1", seedProvider + "Microsoft.DataProtection/backupVaults/bv1/backupInstances/bi1"
	connection := func(list, status string) string {
		return fmt.Sprintf(`{"properties":{%q:[{"id":"/c1","properties":{"privateLinkServiceConnectionState":{"status":%q}}}]}}`, list, status)
	}
	const approval = `Private connection(s) '["/c1"]' to the PrivateEndpoint requires approval`
	post := func(id, shown string) seed { return seed{step: "PostCheck", id: id, shown: shown, desired: `{}`} }
	const manual = "manualPrivateLinkServiceConnections"
	rows["endpoint Pending"] = post(endpoint, connection(manual, "Pending")).failed(approval)
	rows["endpoint Rejected"] = post(endpoint, connection(manual, "Rejected")).failed(approval + `: "/c1" is Rejected`).needsPerson()
	rows["endpoint Disconnected"] = post(endpoint, connection(manual, "Disconnected")).failed(approval + `: "/c1" is Disconnected`).needsPerson()
	rows["endpoint automatic Pending"] = post(endpoint, connection("privateLinkServiceConnections", "Pending")).failed(approval)
	rows["endpoint Approved"] = post(endpoint, connection(manual, "Approved")).passed(resource.ActionSuccess, resource.ReasonSucceeded)
	rows["endpoint without connections"] = post(endpoint, `{"properties":{}}`).passed(resource.ActionSuccess, resource.ReasonSucceeded)
	rows["endpoint without a state"] = post(endpoint, `{"properties":{"manualPrivateLinkServiceConnections":[{"id":"/c1","properties":{"privateLinkServiceConnectionState":null}}]}}`).passed(resource.ActionSuccess, resource.ReasonSucceeded)
	protection := func(word string) string {
		return fmt.Sprintf(`{"properties":{"protectionStatus":{"status":%q}}}`, word)
	}
	for _, word := range []string{
		"ConfiguringProtectionFailed", "Invalid", "NotProtected", "ProtectionConfigured", "SoftDeleted", "ProtectionStopped",
		"BackupSchedulesSuspended", "RetentionSchedulesSuspended",
	} {
		rows["backup "+word] = post(backup, protection(word)).passed(resource.ActionSuccess, resource.ReasonSucceeded)
	}
	for _, word := range []string{"ConfiguringProtection", "UpdatingProtection", "ProtectionError"} {
		rows["backup "+word] = post(backup, protection(word)).failed(fmt.Sprintf("Backup Instance is in non terminal state %q", word))
	}
	rows["backup without a state"] = post(backup, `{"properties":{"protectionStatus":null}}`).passed(resource.ActionSuccess, resource.ReasonSucceeded)
	rows["backup UserError"] = post(backup, `{"properties":{"protectionStatus":{"status":"ProtectionError","errorDetails":{"code":"UserErrorMissingRole"}}}}`).
		failed(`Backup Instance is in non terminal state "ProtectionError" (UserErrorMissingRole): a synchronisation was started; fix the cause that the code names`)
}

// verdictOf runs the step of a row: the state is put into the simulator, read
// back by the activities and judged.
func (s seed) verdictOf(t *testing.T, w *world) resource.Verdict {
	if s.desired == "" {
		s.desired = `{}`
	}
	d := desired(t, s.id, s.desired)
	if s.step == "CheckOwner" {
		w.put(d.Owner.String(), s.shown)
		got := local(w, w.acts.CheckOwner, CheckOwnerInput{Desired: d})
		if requests := w.requests(); len(requests) != 1 || requests[0] != "GET "+d.Owner.Name() {
			t.Errorf("requests %v: the resource itself must not be touched", requests)
		}
		return got.Verdict
	}
	w.put(s.id, s.shown)
	read, err := run(w, w.acts.GetResource, GetResourceInput{Target: resource.Target{ID: d.ID, APIVersion: d.APIVersion}})
	must(t, err)
	if s.step == "PreCheck" {
		return local(w, w.acts.PreCheck, PreCheckInput{Desired: d, Observed: json.RawMessage(read.Observed)}).Verdict
	}
	return local(w, w.acts.PostCheck, PostCheckInput{Desired: d, Observed: json.RawMessage(read.Observed)}).Verdict
}

// seedServer adds the action "sync", which the simulator does not know.
func seedServer() func(http.Handler) http.Handler {
	return func(sim http.Handler) http.Handler {
		return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/sync") {
				rw.WriteHeader(http.StatusAccepted)
				return
			}
			sim.ServeHTTP(rw, r)
		})
	}
}

// TestSeed is the table of the seed systems, through the real activities, the
// real ARM client and the simulator.
func TestSeed(t *testing.T) {
	rows, right := seeds(), 0
	total := len(rows)
	counted := func(name string, judge func(t *testing.T)) {
		total++
		if t.Run(name, judge) {
			right++
		}
	}
	for _, row := range errorSeeds() {
		counted("error "+row.resourceType+" "+row.code, row.judge)
	}
	for name, judge := range actorSeeds() {
		counted(name, judge)
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(s *setup) { s.handler = seedServer() })
			got := row.verdictOf(t, w)
			if got.Action != row.action || got.Severity != row.severity || got.Reason != row.reason {
				t.Fatalf("got %s %q %s (%s), want %s %q %s", got.Action, got.Severity, got.Reason, got.Message, row.action, row.severity, row.reason)
			}
			if row.message != "" && got.Message != row.message && (row.reason != resource.ReasonStopped || !strings.HasPrefix(got.Message, row.message+": ")) {
				t.Fatalf("message\n%q, want\n%q", got.Message, row.message)
			}
			right++
		})
	}
	fmt.Printf("score seeds %d/%d\n", right, total)
}
