package armsim

import "net/http"

// computeRows returns the rows of virtual machines, scale sets and disks. Retry-After
// grows while machines start and is absent elsewhere (recorded).
func computeRows() []typeRule {
	machine := typeRule{
		typePattern: machineType,
		create:      OperationSpec{Shape: ShapeAsync, Seconds: 40, RetryAfter: []float64{10, 35, 30}},
		update:      OperationSpec{Shape: ShapeAsync, Seconds: 16},
		delete:      OperationSpec{Shape: ShapeBoth, Seconds: 45, RetryAfter: []float64{10, 30}},
		defaults:    machineDefaults, actions: machineActions(), onDeleted: deleteWithMachine,
	}
	set := typeRule{
		typePattern: scaleSetType,
		create:      OperationSpec{Shape: ShapeAsync, Seconds: 67, RetryAfter: []float64{10, 61, 30}},
		update:      OperationSpec{Shape: ShapeAsync, Seconds: 48, RetryAfter: []float64{10, 37, 30}},
		delete:      OperationSpec{Shape: ShapeBoth, Seconds: 61, RetryAfter: []float64{10, 10, 30}},
		defaults:    scaleSetDefaults, actions: scaleSetActions(), etag: true, onAccepted: startCapacityChange, onDone: finishCapacityChange,
		inline: []inlineRule{{collection: "extensions", property: "virtualMachineProfile.extensionProfile.extensions",
			keepAbsent: func(string) bool { return true }}}, // this provider treats a PUT as a PATCH, except for lists
	}
	part := func(pattern string) typeRule {
		return typeRule{
			typePattern: pattern,
			create:      OperationSpec{Shape: ShapeAsync, Seconds: 19},
			update:      OperationSpec{Shape: ShapeAsync, Seconds: 19},
			delete:      OperationSpec{Shape: ShapeBoth, Seconds: 26},
			absent:      absence{code: "NotFound", message: "The entity was not found in this Azure location."},
		}
	}
	disk := typeRule{
		create: OperationSpec{Shape: ShapeBoth, Status: http.StatusAccepted, Seconds: 3, RetryAfter: []float64{2}, State: "Updating"},
		update: OperationSpec{Shape: ShapeBoth, Status: http.StatusAccepted, Seconds: 3, RetryAfter: []float64{2}},
		delete: OperationSpec{Shape: ShapeBoth, Seconds: 6},
	}
	var rows []typeRule
	for _, name := range []string{"disks", "snapshots", "diskencryptionsets", "diskaccesses"} {
		row := disk
		row.typePattern = "microsoft.compute/" + name
		rows = append(rows, row)
	}
	instance := part(instanceType)
	instance.onRead, instance.checkWrite, instance.onDeleted, instance.actions = showInstance, checkInstance, shrinkCapacity, machineActions()
	return append(rows, machine, set, instance, part(machineType+"/*"), part(scaleSetType+"/*"), part("microsoft.compute/images"))
}

// machineActions returns POSTs that change no property in the end.
func machineActions() map[string]action {
	out := map[string]action{}
	for _, name := range []string{"start", "poweroff", "deallocate", "restart", "redeploy", "reimage"} {
		out[name] = action{provisioningState: "Updating"}
	}
	return out
}

func machineDefaults(r *resource, body object) {
	p := properties(body)
	p["vmId"], p["timeCreated"] = r.guid, "2026-01-01T00:00:00.0000000+00:00"
	setMachineDefaults(p)
}

func scaleSetDefaults(r *resource, body object) {
	p := properties(body)
	p["uniqueId"], p["timeCreated"] = r.guid, "2026-01-01T00:00:00.0000000+00:00"
	setDefault(p, "singlePlacementGroup", true)
	setDefault(p, "orchestrationMode", "Uniform")
	setDefault(p, "overprovision", true)
	setDefault(p, "doNotRunExtensionsOnOverprovisionedVMs", false)
	if sku, ok := body["sku"].(object); ok {
		setDefault(sku, "tier", "Standard")
	}
	if profile, ok := p["virtualMachineProfile"].(object); ok {
		setMachineDefaults(profile)
	}
}

// setMachineDefaults sets the defaults that machines and scale sets share.
func setMachineDefaults(p object) {
	if os, ok := p["osProfile"].(object); ok {
		setDefaults(os, object{"secrets": []any{}, "allowExtensionOperations": true, "requireGuestProvisionSignal": true})
		if linux, ok := os["linuxConfiguration"].(object); ok {
			setDefault(linux, "provisionVMAgent", true)
		}
	}
	if storage, ok := p["storageProfile"].(object); ok {
		setDefault(storage, "osDisk", object{})
		if disk, ok := storage["osDisk"].(object); ok {
			setDefaults(disk, object{"osType": "Linux", "createOption": "FromImage", "caching": "None", "diskSizeGB": 30})
		}
	}
}
