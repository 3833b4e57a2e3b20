package armsim

import (
	"net/http"
	"strings"
	"time"
)

// softDelete is a type of which a deleted resource can be recovered for a while.
type softDelete struct {
	typ string // lower-cased
	// collection is the type of the deleted resource below the provider, lower-cased,
	// with {group} where its path contains the resource group.
	collection string
	// holdsName is set if a PUT of a new resource is refused with the code and message
	// while the deleted one holds the name. {name} is replaced.
	holdsName     bool
	code, message string
	// recoverPath and recoverValue are what a PUT says that recovers the resource; ""
	// where only the portal does.
	recoverPath, recoverValue string
	// purge is the action that deletes it for good; "" for a DELETE.
	purge string
	// forceParameter is the parameter of a DELETE, with the value true, after which nothing
	// is kept; "" for none.
	forceParameter string
	// backReference is the property with the ID of the deleted resource.
	backReference string
}

// softDeletes returns the table. Sources: the pages on recovery of each service at
// learn.microsoft.com (storage/common/storage-account-recover,
// key-vault/general/key-vault-recovery, ai-services/recover-purge-resources,
// api-management/soft-delete, azure-app-configuration/concept-soft-delete), and the
// published REST API specifications for the paths. The codes are in the reports
// Azure/azure-dev#7263 and Azure/AppConfiguration#264.
func softDeletes() []softDelete {
	return []softDelete{
		{
			typ: "microsoft.keyvault/vaults", collection: "microsoft.keyvault/locations/deletedvaults", holdsName: true,
			code:        "ConflictError",
			message:     "A vault with the same name already exists in deleted state. You need to either recover or purge existing key vault.",
			recoverPath: "createMode", recoverValue: "recover", purge: "purge", backReference: "vaultId",
		},
		{
			typ: "microsoft.cognitiveservices/accounts", collection: "microsoft.cognitiveservices/locations/resourcegroups/deletedaccounts", holdsName: true,
			code:        "FlagMustBeSetForRestore",
			message:     "An existing resource with ID '{id}' has been soft-deleted. To restore the resource, you must specify 'restore' to be 'true' in the property. If you don't want to restore existing resource, please purge it first.",
			recoverPath: "restore", recoverValue: "true", backReference: "accountId",
		},
		{
			typ: "microsoft.apimanagement/service", collection: "microsoft.apimanagement/locations/deletedservices", holdsName: true,
			code:        "ServiceAlreadyExistsInSoftDeletedState",
			message:     "Api service {name} was soft-deleted. In order to create the new service with the same name, you have to either undelete the service or purge it.",
			recoverPath: "restore", recoverValue: "true", backReference: "serviceId",
		},
		{
			typ: "microsoft.appconfiguration/configurationstores", collection: "microsoft.appconfiguration/locations/deletedconfigurationstores", holdsName: true,
			code:        "NameUnavailable",
			message:     "The specified name is already in use.",
			recoverPath: "createMode", recoverValue: "recover", purge: "purge", backReference: "configurationStoreId",
		},
		{
			// The name is free at once; a new workspace of that name recovers the deleted one.
			// azure-monitor/logs/delete-workspace
			typ: "microsoft.operationalinsights/workspaces", collection: "microsoft.operationalinsights/deletedworkspaces", forceParameter: "force",
		},
		{
			// The name is free at once; a new account of that name ends the recovery.
			typ: storageType, collection: "microsoft.storage/locations/deletedaccounts", backReference: "storageAccountResourceId",
		},
	}
}

// deletedResource is a deleted resource that can be recovered, with what was below it.
type deletedResource struct {
	rule  softDelete
	top   *resource
	below []*resource
	// purged is when its purge is done; zero before one is requested.
	purged time.Time
}

const purgeDuration = 30 * time.Second

func softDeleteOf(typ string) (softDelete, bool) {
	for _, rule := range softDeletes() {
		if strings.EqualFold(rule.typ, typ) {
			return rule, true
		}
	}
	return softDelete{}, false
}

// keepDeleted stores a resource that is about to be removed for its recovery, with
// everything that is still below it. A recording replays one life of a resource and is
// not kept.
func (s *Simulator) keepDeleted(r *resource) {
	if r == nil || r.hidden || r.recording != nil || s.find(r.id) != r {
		return
	}
	rule, ok := softDeleteOf(r.typ)
	forced := rule.forceParameter != "" && strings.EqualFold(r.deleteQuery.Get(rule.forceParameter), "true")
	if ok && !forced && s.deleted[key(r.id)] == nil {
		s.deleted[key(r.id)] = &deletedResource{rule: rule, top: r, below: s.below(r.id)}
	}
}

// checkDeleted refuses to create a resource whose name a deleted one holds, and
// recovers the deleted one where the body says so. Where the name is free, the deleted
// one is gone for good.
func (s *Simulator) checkDeleted(t target, body object) *response {
	held := s.deletedByName(t)
	if held == nil {
		return nil
	}
	if held.rule.recoverPath != "" && strings.EqualFold(plainText(properties(cloneObject(body))[held.rule.recoverPath]), held.rule.recoverValue) && key(held.top.id) == key(t.id) {
		return nil
	}
	if held.rule.holdsName {
		message := strings.NewReplacer("{name}", t.name(), "{id}", held.top.id).Replace(held.rule.message)
		return armError(http.StatusConflict, held.rule.code, "%s", message)
	}
	return nil
}

// takeDeleted ends the time in which a deleted resource can be recovered: a resource of
// that name was created. If the body recovers it, its contents return.
func (s *Simulator) takeDeleted(t target) {
	held := s.deletedByName(t)
	if held == nil {
		return
	}
	delete(s.deleted, key(held.top.id))
	if held.rule.holdsName {
		s.restoreBelow(held)
	}
}

func (s *Simulator) restoreBelow(held *deletedResource) {
	for _, child := range held.below {
		s.resources[key(child.id)] = child
	}
}

// deletedByName returns the deleted resource of the type and name of a target: names
// are unique in all of Azure for these types.
func (s *Simulator) deletedByName(t target) *deletedResource {
	for id, held := range s.deleted {
		if !held.purged.IsZero() && !s.clock.now().Before(held.purged) {
			delete(s.deleted, id)
			continue
		}
		if strings.EqualFold(held.top.typ, t.resourceType()) && strings.EqualFold(held.top.name, t.name()) {
			return held
		}
	}
	return nil
}

// Recover brings a deleted resource back with everything that was below it, as the
// portal or the service's command does. It reports whether there was one.
func (s *Simulator) Recover(id string) bool {
	defer s.As(Author{}).lock()()
	held := s.deleted[key(id)]
	if held == nil || s.find(id) != nil || !held.purged.IsZero() {
		return false
	}
	delete(s.deleted, key(id))
	held.top.op = nil
	held.top.setState("Succeeded")
	s.resources[key(id)] = held.top
	s.restoreBelow(held)
	s.recordWrite(held.top, "Succeeded")
	return true
}

// Recoverable reports whether a deleted resource can be recovered.
func (s *Simulator) Recoverable(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := s.deleted[key(id)]
	return held != nil && held.purged.IsZero()
}

// handleDeleted serves the deleted resources of a provider; nil for any other request.
func (s *Simulator) handleDeleted(q *request) *response {
	rule, found := softDelete{}, false
	for _, candidate := range softDeletes() {
		if strings.EqualFold(q.resourceType, candidate.collection) {
			rule, found = candidate, true
		}
	}
	if !found || len(q.target.names) == 0 {
		return nil
	}
	held := s.deletedByName(target{kind: kindResource, namespace: q.target.namespace, types: []string{strings.SplitN(rule.typ, "/", 2)[1]}, names: []string{q.target.name()}})
	located := held != nil && sameLocation(text(held.top.body, "location"), q.target.names[0])
	if held == nil || !located || held.rule.typ != rule.typ {
		return armError(http.StatusNotFound, "ResourceNotFound", "The deleted resource '%s' was not found.", q.target.name())
	}
	purges := q.target.kind == kindAction && strings.EqualFold(q.target.action, rule.purge) || rule.purge == "" && q.r.Method == http.MethodDelete
	switch {
	case purges:
		return s.purge(held)
	case q.target.kind == kindResource && q.r.Method == http.MethodGet:
		return newResponse(http.StatusOK, object{
			"id": q.target.id, "name": held.top.name, "type": q.resourceType,
			"properties": object{
				rule.backReference: held.top.id, "location": text(held.top.body, "location"),
				"purgeProtectionEnabled": properties(cloneObject(held.top.body))["enablePurgeProtection"],
			},
		})
	}
	return errMethod(q.r.Method)
}

func (s *Simulator) purge(held *deletedResource) *response {
	if properties(cloneObject(held.top.body))["enablePurgeProtection"] == true {
		return armError(http.StatusBadRequest, "MethodNotAllowed", "Operation 'DeletedVaultPurge' is not allowed.")
	}
	if !held.purged.IsZero() {
		return armError(http.StatusConflict, "Conflict", "The purge of '%s' is in progress.", held.top.name)
	}
	held.purged = s.clock.now().Add(purgeDuration)
	return newResponse(http.StatusAccepted, nil)
}

// plainText returns a value as text: "" for none.
func plainText(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case bool:
		if v {
			return "true"
		}
		return "false"
	}
	return ""
}
