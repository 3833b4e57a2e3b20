package armsim_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/armature-io/armature/armsim"
)

const (
	scaled    = computeRP + "virtualMachineScaleSets/s"
	namespace = group + "/providers/Microsoft.EventHub/namespaces/n"
	plan      = group + "/providers/Microsoft.Web/serverfarms/p"
	cosmos    = group + "/providers/Microsoft.DocumentDB/databaseAccounts/c"
	setting   = group + "/providers/Microsoft.Insights/autoscaleSettings/a"
	mysql     = group + "/providers/Microsoft.DBforMySQL/flexibleServers/my1"
)

// TestOwners moves a value with its switch on, and checks that nothing moves it with the
// switch off.
func TestOwners(t *testing.T) {
	autoscale := func(target string) (id, on, off string) {
		body := `{"location":"westus2","properties":{"enabled":%s,"targetResourceUri":"` + strings.ToUpper(target) + `","profiles":[{"capacity":{"minimum":"2","maximum":"9","default":"2"}}]}}`
		return setting, fmt.Sprintf(body, "true"), fmt.Sprintf(body, "false")
	}
	setID, setOn, setOff := autoscale(scaled)
	_, planOn, planOff := autoscale(plan)
	flexible := func(properties string) string { return `{"location":"westus2","properties":{` + properties + `}}` }
	for name, test := range map[string]struct {
		id, body      string // the resource with the value
		switched      string // the resource with the switch; "" is the same
		on, off       string // bodies
		path, value   string // value is JSON; "" is none
		read          string // the path to read; "" is path
		before, after any
		reason        string
	}{
		"scale set": {scaled, `{"location":"westus2","sku":{"name":"a","capacity":2}}`, setID, setOn, setOff, "sku.capacity", "7", "", 2, 7, "an autoscale setting"},
		"limit":     {scaled, `{"location":"westus2","sku":{"name":"a","capacity":2}}`, setID, setOn, setOff, "sku.capacity", "70", "", 2, 9, "its maximum"},
		"minimum":   {scaled, `{"location":"westus2","sku":{"name":"a","capacity":4}}`, setID, setOn, setOff, "sku.capacity", "1", "", 4, 2, "its minimum"},
		"plan":      {plan, `{"location":"westus2","sku":{"name":"P1v3","capacity":2}}`, setting, planOn, planOff, "sku.capacity", "6", "", 2, 6, "any type with a capacity"},
		"pool": {pool, "", "", `{"properties":{"count":3,"enableAutoScaling":true,"minCount":1,"maxCount":20}}`, `{"properties":{"count":3,"enableAutoScaling":false}}`,
			"properties.count", "17", "", 3, 17, "the cluster autoscaler"},
		"cluster": {aks, "", "", flexible(`"kubernetesVersion":"1.29.9","autoUpgradeProfile":{"upgradeChannel":"stable"}`), flexible(`"kubernetesVersion":"1.29.9","autoUpgradeProfile":{"upgradeChannel":"none"}`),
			"properties.kubernetesVersion", `"1.30.1"`, "properties.currentKubernetesVersion", "1.29.9", "1.30.1", "the upgrade channel, and the current version follows"},
		"version of a pool": {pool, `{"properties":{"orchestratorVersion":"1.29.9"}}`, aks, flexible(`"autoUpgradeProfile":{"upgradeChannel":"rapid"}`), flexible(""),
			"properties.orchestratorVersion", `"1.30.1"`, "", "1.29.9", "1.30.1", "the cluster's channel"},
		"image of a pool": {pool, `{"properties":{}}`, aks, flexible(`"autoUpgradeProfile":{"nodeOSUpgradeChannel":"NodeImage"}`), flexible(`"autoUpgradeProfile":{"nodeOSUpgradeChannel":"None"}`),
			"properties.nodeImageVersion", `"AKSUbuntu-2204gen2containerd-202511.03.0"`, "", "AKSUbuntu-2204gen2containerd-202510.19.2", "AKSUbuntu-2204gen2containerd-202511.03.0", "weekly images"},
		"namespace": {namespace, "", "", `{"location":"westus2","sku":{"name":"Standard","capacity":2},"properties":{"isAutoInflateEnabled":true,"maximumThroughputUnits":11}}`, `{"location":"westus2","sku":{"name":"Standard","capacity":2}}`,
			"sku.capacity", "40", "", 2, 11, "auto-inflate, up to its maximum"},
		"Kusto": {cluster, "", "", `{"location":"westus2","sku":{"name":"a","capacity":2},"properties":{"optimizedAutoscale":{"isEnabled":true,"minimum":2,"maximum":8,"version":1}}}`, `{"location":"westus2","sku":{"name":"a","capacity":2}}`,
			"sku.capacity", "6", "", 2, 6, "optimized autoscale"},
		"storage": {postgres, "", "", flexible(`"storage":{"storageSizeGB":128,"autoGrow":"Enabled"}`), flexible(`"storage":{"storageSizeGB":128,"autoGrow":"Disabled"}`),
			"properties.storage.storageSizeGB", "256", "", 128, 256, "auto-grow"},
		"zones": {postgres, "", "", flexible(`"availabilityZone":"1","highAvailability":{"mode":"ZoneRedundant","standbyAvailabilityZone":"3"}`), flexible(`"availabilityZone":"1"`),
			"properties.availabilityZone", "", "", 1, 3, "a failover"},
		"standby": {postgres, "", "", flexible(`"availabilityZone":"1","highAvailability":{"mode":"ZoneRedundant","standbyAvailabilityZone":"3"}`), flexible(`"availabilityZone":"1","highAvailability":{"mode":"SameZone","standbyAvailabilityZone":"3"}`),
			"properties.highAvailability.standbyAvailabilityZone", "", "", 3, 1, "the other side of the failover"},
		"IOPS": {mysql, "", "", flexible(`"storage":{"iops":360,"autoIoScaling":"Enabled"}`), flexible(`"storage":{"iops":360,"autoIoScaling":"Disabled"}`),
			"properties.storage.iops", "900", "", 360, 900, "autoscale IOPS"},
		"regions": {cosmos, "", "", flexible(`"enableAutomaticFailover":true,"locations":[{"locationName":"West US 2","failoverPriority":0},{"locationName":"East US","failoverPriority":1}]`),
			flexible(`"locations":[{"locationName":"West US 2","failoverPriority":0},{"locationName":"East US","failoverPriority":1}]`), "properties.locations", "", "", nil,
			[]any{map[string]any{"locationName": "West US 2", "failoverPriority": 1}, map[string]any{"locationName": "East US", "failoverPriority": 0}}, "service-managed failover"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, on := range []bool{false, true} {
				h := newHarness(t, armsim.Options{})
				body := map[bool]string{true: test.on, false: test.off}[on]
				switched := test.switched
				if switched == "" {
					switched = test.id
				} else if err := h.Put(test.id, decode(t, test.body)); err != nil {
					t.Fatal(err)
				}
				if err := h.Put(switched, decode(t, body)); err != nil {
					t.Fatal(err)
				}
				value := test.value
				if value == "" {
					value = "null"
				}
				before := h.do("GET", test.id+version, "")
				got := h.do("POST", "/_sim/act", fmt.Sprintf(`{"id":%q,"path":%q,"value":%s}`, test.id, test.path, value))
				read := test.read
				if read == "" {
					read = test.path
				}
				now := h.do("GET", test.id+version, "")
				if !on {
					if got.status != 400 || now.raw != before.raw {
						t.Errorf("the switch is off, but act answers %d %s and the resource is %s", got.status, got.raw, now.raw)
					}
					continue
				}
				if got.status != 200 {
					t.Fatalf("act is refused although %s owns it: %s", test.reason, got.raw)
				}
				if test.before != nil {
					h.wantAt(before, read, test.before)
				}
				h.wantAt(now, read, test.after)
				if now.header.Get("ETag") != "" && now.header.Get("ETag") == before.header.Get("ETag") {
					t.Error("the ETag is the same")
				}
			}
		})
	}
}

// TestOwnersOnlyGrow checks that sizes and versions do not return.
func TestOwnersOnlyGrow(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	if err := h.Put(postgres, decode(t, `{"location":"westus2","properties":{"storage":{"storageSizeGB":128,"autoGrow":"Enabled"}}}`)); err != nil {
		t.Fatal(err)
	}
	if err := h.Put(aks, decode(t, `{"location":"westus2","properties":{"kubernetesVersion":"1.10.1","autoUpgradeProfile":{"upgradeChannel":"stable"}}}`)); err != nil {
		t.Fatal(err)
	}
	if err := h.Act(postgres, "properties.storage.storageSizeGB", 64); err == nil {
		t.Error("auto-grow shrinks")
	}
	if err := h.Act(aks, "properties.kubernetesVersion", "1.9.11"); err == nil {
		t.Error("an upgrade channel downgrades")
	}
	if err := h.Act(aks, "properties.dnsPrefix", "x"); err == nil {
		t.Error("the channel moves a value that it does not own")
	}
	if err := h.Act(aks+"x", "properties.kubernetesVersion", "1.30"); err == nil {
		t.Error("an absent cluster is upgraded")
	}
}

// TestScaledInstances checks that machines follow a capacity that an autoscaler changes.
func TestScaledInstances(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	for id, body := range map[string]string{
		scaled:  `{"location":"westus2","sku":{"name":"a","capacity":2}}`,
		setting: `{"location":"westus2","properties":{"enabled":true,"targetResourceUri":"` + scaled + `"}}`,
	} {
		if err := h.Put(id, decode(t, body)); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.Act(scaled, "sku.capacity", json.Number("4")); err != nil {
		t.Fatal(err)
	}
	if n := len(h.Resources(scaled+"/*", "")); n != 4 {
		t.Errorf("%d machines, want 4", n)
	}
}
