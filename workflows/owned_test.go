package workflows_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// ownedRow is a type with a value that a switch of Azure owns. Resources in others exist
// beside it.
type ownedRow struct {
	id, version, on, off string
	others               map[string]string
	// path is moved to values, in JSON, by the owner; "" moves are swaps.
	path   string
	values []string
	// patch is the change of the value by a person while the switch is off, "" if the service
	// refuses to take it back.
	patch string
}

const (
	aksCluster   = "Microsoft.ContainerService/managedClusters/k1"
	scaleSet     = "Microsoft.Compute/virtualMachineScaleSets/s1"
	servicePlan  = "Microsoft.Web/serverfarms/p1"
	autoscaleFor = `{"location":"westus2","properties":{"enabled":%t,"targetResourceUri":"` + group + `/providers/%s","profiles":[{"capacity":{"minimum":"1","maximum":"40","default":"2"}}]}}`
)

func ownedRows() map[string]ownedRow {
	setting := func(target string, enabled bool) map[string]string {
		return map[string]string{group + "/providers/Microsoft.Insights/autoscaleSettings/a1": fmt.Sprintf(autoscaleFor, enabled, target)}
	}
	cluster := func(channel string) map[string]string {
		return map[string]string{group + "/providers/" + aksCluster: `{"location":"westus2","properties":{"kubernetesVersion":"1.29.9","autoUpgradeProfile":{"upgradeChannel":"` + channel + `","nodeOSUpgradeChannel":"NodeImage"}}}`}
	}
	same := func(body, on, off string) (string, string) {
		return strings.ReplaceAll(body, "SWITCH", on), strings.ReplaceAll(body, "SWITCH", off)
	}
	rows := map[string]ownedRow{
		"scale set":        {id: scaleSet, version: "2024-03-01", on: `{"location":"westus2","sku":{"name":"Standard_D2s_v3","tier":"Standard","capacity":2},"properties":{}}`, others: setting(scaleSet, true), path: "sku.capacity", values: []string{"7", "5", "9", "10"}},
		"service plan":     {id: servicePlan, version: "2023-12-01", on: `{"location":"westus2","sku":{"name":"P1v3","capacity":2},"properties":{}}`, others: setting(servicePlan, true), path: "sku.capacity", values: []string{"6", "3"}},
		"pool version":     {id: aksCluster + "/agentPools/a", version: "2024-02-01", on: `{"properties":{"count":3,"vmSize":"Standard_D2s_v3","orchestratorVersion":"1.29.9"}}`, others: cluster("stable"), path: "properties.orchestratorVersion", values: []string{`"1.30.1"`}},
		"pool image":       {id: aksCluster + "/agentPools/a", version: "2024-02-01", on: `{"properties":{"count":3,"vmSize":"Standard_D2s_v3","nodeImageVersion":"AKSUbuntu-2204gen2containerd-202510.19.2"}}`, others: cluster("none"), path: "properties.nodeImageVersion", values: []string{`"AKSUbuntu-2204gen2containerd-202511.03.0"`}},
		"scale set, off":   {id: scaleSet, version: "2024-03-01", off: `{"location":"westus2","sku":{"name":"Standard_D2s_v3","tier":"Standard","capacity":2},"properties":{}}`, others: setting(scaleSet, false), path: "sku.capacity", patch: `{"sku":{"capacity":7}}`},
		"disk":             {id: "Microsoft.Compute/disks/d1", version: "2023-10-02", on: `{"location":"westus2","sku":{"name":"Premium_LRS"},"properties":{"creationData":{"createOption":"Empty"},"diskSizeGB":128}}`, path: "properties.diskSizeGB", values: []string{"256"}},
		"database":         {id: "Microsoft.Sql/servers/s1/databases/d1", version: "2021-11-01", on: `{"location":"westus2","sku":{"name":"S0"},"properties":{"maxSizeBytes":107374182400}}`, others: map[string]string{group + "/providers/Microsoft.Sql/servers/s1": `{"location":"westus2"}`}, path: "properties.maxSizeBytes", values: []string{"268435456000"}},
		"app, blue/green":  {id: "Microsoft.App/containerApps/c1", version: "2024-03-01", on: `{"location":"westus2","properties":{"configuration":{"activeRevisionsMode":"Multiple","ingress":{"external":true,"targetPort":80,"traffic":[{"revisionName":"c1--a","weight":100}]}}}}`, path: "properties.configuration.ingress.traffic", values: []string{`[{"revisionName":"c1--a","weight":10},{"revisionName":"c1--b","weight":90}]`}},
		"MySQL storage":    {id: "Microsoft.DBforMySQL/flexibleServers/m1", version: "2023-12-30", on: `{"location":"westus2","properties":{"storage":{"storageSizeGB":128,"autoGrow":"Enabled"}}}`, path: "properties.storage.storageSizeGB", values: []string{"256"}},
		"postgres storage": {id: "Microsoft.DBforPostgreSQL/flexibleServers/p1", version: "2022-12-01", on: `{"location":"westus2","properties":{"storage":{"storageSizeGB":128}}}`, path: "properties.storage.storageSizeGB", values: []string{"256"}},
	}
	add := func(name string, row ownedRow, body, on, off string) {
		row.on, row.off = same(body, on, off)
		rows[name] = row
	}
	add("pool count", ownedRow{id: aksCluster + "/agentPools/a", version: "2024-02-01", others: cluster("none"), path: "properties.count", values: []string{"17", "4"}, patch: `{"properties":{"count":5}}`},
		`{"properties":{"count":3,"vmSize":"Standard_D2s_v3","enableAutoScaling":SWITCH,"minCount":1,"maxCount":20}}`, "true", "false")
	add("cluster version", ownedRow{id: aksCluster, version: "2024-02-01", path: "properties.kubernetesVersion", values: []string{`"1.30.1"`}},
		`{"location":"westus2","properties":{"kubernetesVersion":"1.29.9","dnsPrefix":"k","autoUpgradeProfile":{"upgradeChannel":"SWITCH"}}}`, "stable", "none")
	add("event hubs", ownedRow{id: "Microsoft.EventHub/namespaces/n1", version: "2024-01-01", path: "sku.capacity", values: []string{"11"}, patch: `{"sku":{"capacity":5}}`},
		`{"location":"westus2","sku":{"name":"Standard","tier":"Standard","capacity":2},"properties":{"isAutoInflateEnabled":SWITCH,"maximumThroughputUnits":20}}`, "true", "false")
	add("Kusto", ownedRow{id: "Microsoft.Kusto/clusters/kusto1", version: "2023-08-15", path: "sku.capacity", values: []string{"6", "3"}, patch: `{"sku":{"capacity":5}}`},
		`{"location":"westus2","sku":{"name":"Standard_E8ads_v5","tier":"Standard","capacity":2},"properties":{"optimizedAutoscale":{"isEnabled":SWITCH,"minimum":2,"maximum":8,"version":1}}}`, "true", "false")
	add("MySQL IOPS", ownedRow{id: "Microsoft.DBforMySQL/flexibleServers/m1", version: "2023-12-30", path: "properties.storage.iops", values: []string{"900", "500"}, patch: `{"properties":{"storage":{"iops":700}}}`},
		`{"location":"westus2","properties":{"storage":{"storageSizeGB":128,"iops":360,"autoIoScaling":"SWITCH"}}}`, "Enabled", "Disabled")
	add("postgres zones", ownedRow{id: "Microsoft.DBforPostgreSQL/flexibleServers/p1", version: "2022-12-01", path: "properties.availabilityZone", values: []string{"", ""}},
		`{"location":"westus2","properties":{"availabilityZone":"1","highAvailability":{"mode":"SWITCH","standbyAvailabilityZone":"2"}}}`, "ZoneRedundant", "Disabled")
	add("Cosmos regions", ownedRow{id: "Microsoft.DocumentDB/databaseAccounts/cosmos1", version: "2024-05-15", path: "properties.locations", values: []string{"", ""}},
		`{"location":"westus2","properties":{"databaseAccountOfferType":"Standard","enableAutomaticFailover":SWITCH,"locations":[{"locationName":"West US 2","failoverPriority":0},{"locationName":"East US","failoverPriority":1}]}}`, "true", "false")
	return rows
}

// TestOwnedValues lets the owners of values move them: with the switch on, no interval corrects
// a value, and the status names its owner; with the switch off, it is corrected once.
//
//guard:values-of-other-owners
func TestOwnedValues(t *testing.T) {
	rows := ownedRows()
	passed := 0
	for name, row := range rows {
		ok := t.Run(name, func(t *testing.T) {
			if row.on != "" {
				row.run(t, row.on, true)
			}
			if row.off != "" && row.patch != "" {
				row.run(t, row.off, false)
			}
		})
		if ok {
			passed++
		}
	}
	fmt.Printf("score owned %d/%d\n", passed, len(rows))
}

func (row ownedRow) run(t *testing.T, body string, on bool) {
	spec := specOf(row.id, row.version, body)
	spec.Interval = time.Hour
	spec.Owner = spec.ID.Owner()
	s := newSimulated(t, spec)
	for id, other := range row.others {
		must(t, s.sim.Put(id, decodedJSON(t, other).(map[string]any)))
	}
	s.apply(spec)
	at := 2 * time.Hour
	if on {
		for _, value := range row.values {
			s.after(at, func(sim *armsim.Simulator) { row.move(t, sim, spec.ID, value) })
			at += 3 * time.Hour
		}
	} else {
		s.after(at, func(sim *armsim.Simulator) {
			must(t, sim.Patch(spec.ID.String(), decodedJSON(t, row.patch).(map[string]any)))
		})
	}
	last := s.statusAt(at + 5*time.Hour)
	s.start(at + 5*time.Hour + time.Minute)
	want := map[bool]int{true: 1, false: 2}[on]
	if got := s.requests("PUT", spec.ID); got != want || !last.Condition.Ready {
		t.Errorf("switch on %t: %d PUTs, want %d; %s %s", on, got, want, last.Condition.Reason, last.Condition.Message)
	}
	named := strings.Contains(strings.Join(last.Owned, " "), " belongs to ")
	if moved := on && row.values[len(row.values)-1] != ""; moved && !named || !on && named || len(last.Kept) > 0 {
		t.Errorf("switch on %t: owned %v, kept %v", on, last.Owned, last.Kept)
	}
}

// move lets Azure move the value, or a person if no switch has to be on.
func (row ownedRow) move(t *testing.T, sim *armsim.Simulator, id resource.ID, value string) {
	if value == "" {
		must(t, sim.Act(id.String(), row.path, nil))
		return
	}
	if err := sim.Act(id.String(), row.path, decodedJSON(t, value)); err == nil {
		return
	}
	patch := map[string]any{}
	inner, names := patch, strings.Split(row.path, ".")
	for _, name := range names[:len(names)-1] {
		next := map[string]any{}
		inner[name], inner = next, next
	}
	inner[names[len(names)-1]] = decodedJSON(t, value)
	must(t, sim.Patch(id.String(), patch))
}

func decodedJSON(t *testing.T, text string) any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	must(t, decoder.Decode(&value))
	return value
}

// TestSwitchChanges follows a namespace of Event Hubs through what people and other tools do to
// the switch and to its value.
//
//guard:values-of-other-owners
func TestSwitchChanges(t *testing.T) {
	const body = `{"location":"westus2","sku":{"name":"Standard","tier":"Standard","capacity":2},"properties":{"isAutoInflateEnabled":true,"maximumThroughputUnits":20}}`
	without := strings.Replace(body, `"isAutoInflateEnabled":true,`, "", 1)
	off := strings.Replace(strings.Replace(body, `"isAutoInflateEnabled":true`, `"isAutoInflateEnabled":false`, 1), `"capacity":2`, `"capacity":4`, 1)
	scaled := strings.Replace(body, `"capacity":2`, `"capacity":9`, 1)
	for name, c := range map[string]struct {
		reason, manifest, existing string
		// others changes Azure after two hours, edit the manifest after four.
		others, edit string
		reconcile    bool
		puts         int
		capacity     string
		why          resource.Reason
		message      string
	}{
		"adoption":                {reason: "the count of the autoscaler stays", manifest: body, existing: scaled, capacity: "9", why: resource.ReasonSucceeded},
		"turned off, stated":      {reason: "the switch is corrected, and the value stays", manifest: body, others: `{"sku":{"capacity":9},"properties":{"isAutoInflateEnabled":false}}`, puts: 2, capacity: "9", why: resource.ReasonSucceeded},
		"turned off, not stated":  {reason: "the value waits for a user", manifest: without, existing: scaled, others: `{"sku":{"capacity":8},"properties":{"isAutoInflateEnabled":false}}`, capacity: "8", why: resource.ReasonHeld, message: "belonged to properties.isAutoInflateEnabled"},
		"turned off, user":        {reason: "a user decides", manifest: without, existing: scaled, others: `{"sku":{"capacity":8},"properties":{"isAutoInflateEnabled":false}}`, reconcile: true, puts: 1, capacity: "2", why: resource.ReasonSucceeded},
		"switch and value edited": {reason: "the first PUT changes the switch, the next the value", manifest: body, others: `{"sku":{"capacity":9}}`, edit: off, puts: 3, capacity: "4", why: resource.ReasonSucceeded},
		"value edited":            {reason: "an edit of the manifest counts", manifest: body, others: `{"sku":{"capacity":9}}`, edit: strings.Replace(body, `"capacity":2`, `"capacity":5`, 1), puts: 2, capacity: "5", why: resource.ReasonSucceeded},
		"another value edited":    {reason: "the PUT carries the count", manifest: body, others: `{"sku":{"capacity":9}}`, edit: strings.Replace(body, `{"location"`, `{"tags":{"a":"b"},"location"`, 1), puts: 2, capacity: "9", why: resource.ReasonSucceeded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := specOf("Microsoft.EventHub/namespaces/n1", "2024-01-01", c.manifest)
			spec.Interval, spec.Owner = time.Hour, spec.ID.Owner()
			s := newSimulated(t, spec)
			if c.existing != "" {
				must(t, s.sim.Put(spec.ID.String(), decodedJSON(t, c.existing).(map[string]any)))
			}
			s.apply(spec)
			if c.others != "" {
				s.after(2*time.Hour, func(sim *armsim.Simulator) {
					must(t, sim.Patch(spec.ID.String(), decodedJSON(t, c.others).(map[string]any)))
				})
			}
			if c.edit != "" {
				edited := spec
				edited.Body = json.RawMessage(c.edit)
				s.at(4*time.Hour, workflows.ApplyUpdate, workflows.ApplyInput{Desired: edited, By: "ada@host"})
			}
			if c.reconcile {
				s.at(5*time.Hour, workflows.ReconcileUpdate, workflows.ReconcileInput{By: "ada@host"})
			}
			last := s.statusAt(8 * time.Hour)
			s.start(8*time.Hour + time.Minute)
			stored := s.sim.Resources(spec.ID.String(), "")[0].Body
			sku, _ := stored["sku"].(map[string]any)
			if got := s.requests("PUT", spec.ID); got != c.puts || fmt.Sprint(sku["capacity"]) != c.capacity {
				t.Errorf("%s: %d PUTs, want %d; capacity %v, want %s", c.reason, got, c.puts, sku["capacity"], c.capacity)
			}
			if last.Condition.Reason != c.why || !strings.Contains(last.Condition.Message, c.message) {
				t.Errorf("%s: %s %s, kept %v", c.reason, last.Condition.Reason, last.Condition.Message, last.Owned)
			}
		})
	}
}

// TestSettingsForbidden checks that a value stays if the list of its possible owners cannot be
// read, and that the status says so.
func TestSettingsForbidden(t *testing.T) {
	spec := specOf(servicePlan, "2023-12-01", `{"location":"westus2","sku":{"name":"P1v3","capacity":2},"properties":{}}`)
	spec.Interval, spec.Owner = time.Hour, spec.ID.Owner()
	s := newSimulated(t, spec)
	s.sim.AddFault(armsim.Fault{Method: "GET", Type: "Microsoft.Insights/autoscaleSettings", Status: 403, Code: "AuthorizationFailed"})
	s.apply(spec)
	s.after(2*time.Hour, func(sim *armsim.Simulator) {
		must(t, sim.Patch(spec.ID.String(), map[string]any{"sku": map[string]any{"capacity": json.Number("6")}}))
	})
	last := s.statusAt(6 * time.Hour)
	s.start(7 * time.Hour)
	if got, owned := s.requests("PUT", spec.ID), strings.Join(last.Owned, " "); got != 1 || !strings.Contains(owned, "autoscaleSettings, whose list cannot be read") {
		t.Errorf("%d PUTs, owned %q", got, owned)
	}
}
