package extensionhost

import (
	"regexp"
	"strings"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// recreationRules decide about the types that no entry states. They read what Azure
// publishes about a type: that Azure keeps deleted ones, members for a restore, actions
// that return keys, members that name a principal, a purchase or an expiry. Where a
// type says nothing, its last segment does. A type that matches no rule is recreated.
type recreationRules struct {
	deleted, recovery, restoreValue, keyAction, principal, money, expiry *regexp.Regexp
	rightsName, credentialName, runName, dataName, moneyProvider         *regexp.Regexp
}

// published are the rules. Names are in lower case.
var published = recreationRules{
	deleted: regexp.MustCompile(`^(deleted|softdeleted|restorable|restorabledropped)`),
	recovery: regexp.MustCompile(`^properties\.(resource\.)?(restore(parameters|pointintime|timestamp|pointid)?|recover|recoverableitemid|pointintimeutc` +
		`|enablesoftdelete|softdelete\w*|(enable)?purgeprotection|deleteretentionpolicy|immutabilit\w*|immutablestorage\w*|backup|backuppolicy|\w*backupretention\w*|backupid|snapshotid|earliestrestore\w*|geobackup\w*)$`),
	restoreValue:   regexp.MustCompile(`(?i)restor|recover`),
	keyAction:      regexp.MustCompile(`^(list|get|regenerate|generate|rotate|reset)\w*?(key|secret|credential|token|connectionstring|password)s?$|^listcallbackurl$`),
	principal:      regexp.MustCompile(`^properties\.(principals?|principalids?|principalname|principaltype|granteeprincipalid)$`),
	money:          regexp.MustCompile(`^properties\.(marketplace\w*|offerdetails?|billingscope\w*|saas\w*|billingaccountid|azuresubscriptiondetails)$`),
	expiry:         regexp.MustCompile(`^properties\.(expir\w*|retentioninterval|cleanuppreference|autodeleteonidle|deleteafter\w*|timetolive)$`),
	rightsName:     regexp.MustCompile(`(roleassignments?|principalassignments|accesspolic(y|ies)|accesspolicyassignments|administrators|authorizationrules|permissions|(permission|role|identity)bindings|roledefinitions|denyassignments|registrationassignments|schedulerequests|userdefinitions)$|/(users|roles)$`),
	credentialName: regexp.MustCompile(`(keys|keysets|secrets|certificates|credentials|tokens|passwords|/webhooks|/authorizations)$`),
	runName:        regexp.MustCompile(`(runs|executions|runcommands|jobs|/migrations|/commits|launch\w*operations)$`),
	dataName: regexp.MustCompile(`/(\w*databases|\w*clusters|\w*virtualmachines|\w*filesystems|\w*fileshares|managedinstances|servers|flexibleservers|sqlservers` +
		`|virtualmachineinstances|virtualmachinescalesets|blobs|containers|shares|volumes|volumegroups|capacitypools|disks|snapshots|backups|queues|topics|eventhubs` +
		`|tables|collections|graphs|\w*keyspaces|ledgers|\w*vaults|images|workspaces|registries|storageaccounts|datasets|datastores|restorepoints|restorepointcollections` +
		`|caches|dnszones|privatednszones|keyvalues|protecteditems|backupinstances|streams|models|files|notebooks|runbooks|experiments|labs|fhirservices|dicomservices|repositories)$`),
	moneyProvider: regexp.MustCompile(`^microsoft\.(billing|billingbenefits|capacity|subscription|saas|saashub|marketplace|marketplaceordering|domainregistration|certificateregistration)/`),
}

// publishedRecreation returns what the rules state about a type; Default is "" where
// none matches.
func publishedRecreation(resourceType string) extensions.Recreation {
	never := func(loss extensions.Loss, restore string) extensions.Recreation {
		return extensions.Recreation{Default: resource.RecreateNever, Loss: loss, Restore: restore}
	}
	name := strings.ToLower(resourceType)
	provider, _, _ := strings.Cut(name, "/")
	last := name[strings.LastIndexByte(name, '/')+1:]
	if published.moneyProvider.MatchString(name) {
		return never(extensions.LossMoney, "")
	}
	if kept := deletedType(provider, last); kept != "" {
		return never(extensions.LossData, "look for it in "+kept+", where Azure keeps deleted ones, and recover it there")
	}
	if shape := types.Lookup(resourceType, types.Newest(resourceType)); shape != nil {
		if loss := published.lossOf(shape); loss != "" {
			return never(loss, "")
		}
	}
	switch {
	case published.rightsName.MatchString(name):
		return never(extensions.LossRights, "")
	case published.credentialName.MatchString(name):
		return never(extensions.LossCredentials, "")
	case published.runName.MatchString(name):
		return never(extensions.LossRuns, "")
	case published.dataName.MatchString(name):
		return never(extensions.LossData, "")
	}
	return extensions.Recreation{}
}

// deletedType returns the published type in which a provider keeps deleted resources of
// a kind, "" for none.
func deletedType(provider, kind string) string {
	for _, name := range types.Names(false) {
		if len(name) <= len(provider) || name[len(provider)] != '/' || !strings.EqualFold(name[:len(provider)], provider) {
			continue
		}
		lower := strings.ToLower(name)
		last := lower[strings.LastIndexByte(lower, '/')+1:]
		prefix := published.deleted.FindString(last)
		if rest := last[len(prefix):]; prefix != "" && strings.TrimSuffix(rest, "s") == strings.TrimSuffix(kind, "s") {
			return name
		}
	}
	return ""
}

// lossOf returns the loss that the shape of a type suggests, "" for none.
func (r recreationRules) lossOf(shape *types.Shape) extensions.Loss {
	found := map[extensions.Loss]bool{}
	for _, action := range shape.Actions {
		found[extensions.LossCredentials] = found[extensions.LossCredentials] || r.keyAction.MatchString(strings.ToLower(action.Name))
	}
	shape.Walk(func(path []string, p types.Property) bool {
		text := strings.Join(path, ".")
		readOnly := p.Has(types.ReadOnly)
		switch {
		case r.recovery.MatchString(text), path[len(path)-1] == "createmode" && r.restores(p):
			found[extensions.LossData] = true
		case readOnly:
		case r.principal.MatchString(text):
			found[extensions.LossRights] = true
		case r.money.MatchString(text):
			found[extensions.LossMoney] = true
		case r.expiry.MatchString(text):
			found[extensions.LossExpires] = true
		}
		return len(path) < 3
	})
	for _, loss := range []extensions.Loss{extensions.LossData, extensions.LossMoney, extensions.LossRights, extensions.LossCredentials, extensions.LossExpires} {
		if found[loss] {
			return loss
		}
	}
	return ""
}

// restores reports whether one of the published values of a property restores
// something.
func (r recreationRules) restores(p types.Property) bool {
	values, _ := p.Type.Values()
	for _, value := range values {
		if r.restoreValue.MatchString(value) {
			return true
		}
	}
	return false
}
