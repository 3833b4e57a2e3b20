package armsim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sort"
	"strconv"
	"strings"
)

const instanceType = scaleSetType + "/virtualmachines"

// instances returns the machines of a scale set, in order of their numbers.
func (s *Simulator) instances(set *resource) []*resource {
	list := s.children(set.id, "virtualMachines")
	sort.Slice(list, func(i, j int) bool { return instanceNumber(list[i]) < instanceNumber(list[j]) })
	return list
}

func instanceNumber(r *resource) int {
	n, err := strconv.Atoi(r.name)
	if err != nil {
		return -1 // stored out of band under a name that is no number
	}
	return n
}

// capacity returns the configured number of machines; false for a set in Flexible mode,
// which has no machines below it.
func capacity(set *resource) (int, bool) {
	sku, _ := set.body["sku"].(object)
	n, err := strconv.Atoi(number(sku["capacity"]))
	return n, err == nil && !strings.EqualFold(text(set.body, "properties.orchestrationMode"), "Flexible")
}

// startCapacityChange creates the machines that a write adds (Creating), and marks
// those that it removes, the newest first, as Deleting until its operation is done.
func startCapacityChange(s *Simulator, set *resource) {
	desired, uniform := capacity(set)
	if !uniform {
		return
	}
	list := s.instances(set)
	for i := len(list) - 1; i >= desired; i-- {
		list[i].setState("Deleting")
	}
	for n := len(list); n < desired; n++ {
		s.createInstance(set)
	}
}

func (s *Simulator) createInstance(set *resource) {
	for _, r := range s.instances(set) {
		set.serial = max(set.serial, instanceNumber(r)+1)
	}
	t, ok := parseID(set.id + "/virtualMachines/" + strconv.Itoa(set.serial))
	if !ok {
		return
	}
	r := s.newResource(t)
	r.model = model(set)
	profile, _ := clone(properties(set.body)["virtualMachineProfile"]).(object)
	p := object{"vmId": r.guid, "provisioningState": "Creating", "modelDefinitionApplied": "VirtualMachineScaleSet"}
	for _, name := range []string{"storageProfile", "networkProfile"} {
		if profile[name] != nil {
			p[name] = profile[name]
		}
	}
	p["osProfile"] = object{"computerName": fmt.Sprintf("%s%06d", text(profile, "osProfile.computerNamePrefix"), set.serial)}
	r.body = object{"location": set.body["location"], "sku": clone(set.body["sku"]), "instanceId": r.name, "properties": p}
	if sku, ok := r.body["sku"].(object); ok {
		delete(sku, "capacity")
	}
	s.resources[key(r.id)] = r
	set.serial++
}

// finishCapacityChange runs at the end of a write of the set, and after an out-of-band
// change.
func finishCapacityChange(s *Simulator, set *resource) {
	desired, uniform := capacity(set)
	if !uniform {
		return
	}
	startCapacityChange(s, set)
	latest := !strings.EqualFold(text(set.body, "properties.upgradePolicy.mode"), "Manual")
	for i, r := range s.instances(set) {
		switch {
		case i >= desired:
			s.remove(r.id)
			continue
		case r.op == nil && !terminal(r.state()):
			r.setState("Succeeded")
		}
		if latest {
			r.model = model(set)
		}
	}
}

// model returns the set's description of its machines, for comparison: a machine with
// another model is not up to date.
func model(set *resource) string {
	encoded, err := json.Marshal([]any{properties(set.body)["virtualMachineProfile"], text(set.body, "sku.name")})
	if err != nil {
		return ""
	}
	return string(encoded)
}

func showInstance(s *Simulator, r *resource, body object) {
	set := s.find(parentOf(r.id))
	if set == nil {
		return
	}
	body["name"] = set.name + "_" + r.name
	properties(body)["latestModelApplied"] = r.model == model(set)
}

// parentOf returns the ID of the parent, "" for an ID that does not parse.
func parentOf(id string) string {
	t, ok := parseID(id)
	if !ok {
		return ""
	}
	return t.parentID()
}

// checkInstance refuses a PUT of a machine that does not exist: only the set's capacity
// creates machines.
func checkInstance(s *Simulator, t target, _ object) *response {
	set := s.find(t.parentID())
	if set == nil || s.find(t.id) != nil {
		return nil
	}
	if _, uniform := capacity(set); !uniform {
		return nil
	}
	return armError(http.StatusNotFound, "NotFound", "The entity was not found in this Azure location.")
}

// shrinkCapacity reduces the capacity after the DELETE of one machine, which is not
// replaced.
func shrinkCapacity(s *Simulator, r *resource) {
	set := s.find(parentOf(r.id))
	if set == nil {
		return
	}
	if n, uniform := capacity(set); uniform && n > 0 {
		if sku, ok := set.body["sku"].(object); ok {
			sku["capacity"] = json.Number(strconv.Itoa(n - 1))
			set.version++
		}
	}
}

// selectInstances returns the machines that the body of an action names; "*" selects
// all.
func (s *Simulator) selectInstances(set *resource, body object) []*resource {
	ids, _ := body["instanceIds"].([]any)
	var out []*resource
	for _, r := range s.instances(set) {
		for _, id := range ids {
			if id == "*" || id == r.name {
				out = append(out, r)
				break
			}
		}
	}
	return out
}

// scaleSetActions returns the actions of machines, and those on selected machines of
// the set.
func scaleSetActions() map[string]action {
	out := machineActions()
	out["delete"] = action{provisioningState: "Updating", onEnd: func(s *Simulator, set *resource, body object) {
		for _, r := range s.selectInstances(set, body) {
			s.finishDelete(r)
		}
	}}
	out["manualupgrade"] = action{provisioningState: "Updating", onEnd: func(s *Simulator, set *resource, body object) {
		for _, r := range s.selectInstances(set, body) {
			r.model = model(set)
		}
	}}
	return out
}
