package armsim

import "strings"

// ownChild is a child that a service creates with its parent.
type ownChild struct {
	parent string // lower-cased type
	path   string // types and names below the parent
	body   object
}

// ownChildren are children that exist as soon as their parent does. Sources: the pages of
// the services at learn.microsoft.com (the master database of a logical server, the
// default consumer group and the root access rule of a namespace, the records at the
// apex of a zone, the services of a storage account).
var ownChildren = []ownChild{
	{"microsoft.sql/servers", "databases/master", object{"location": "westus2", "kind": "v12.0,system", "properties": object{"status": "Online"}}},
	{"microsoft.eventhub/namespaces", "authorizationRules/RootManageSharedAccessKey", object{"properties": object{"rights": []any{"Listen", "Manage", "Send"}}}},
	{"microsoft.eventhub/namespaces/eventhubs", "consumergroups/$Default", object{"properties": object{}}},
	{"microsoft.servicebus/namespaces", "authorizationRules/RootManageSharedAccessKey", object{"properties": object{"rights": []any{"Listen", "Manage", "Send"}}}},
	{"microsoft.servicebus/namespaces/topics/subscriptions", "rules/$Default", object{"properties": object{"filterType": "SqlFilter"}}},
	{"microsoft.network/dnszones", "SOA/@", object{"properties": object{"TTL": 3600.0}}},
	{"microsoft.network/dnszones", "NS/@", object{"properties": object{"TTL": 172800.0}}},
	{"microsoft.network/privatednszones", "SOA/@", object{"properties": object{"ttl": 3600.0}}},
	{"microsoft.storage/storageaccounts", "blobServices/default", object{"properties": object{}}},
	{"microsoft.storage/storageaccounts", "fileServices/default", object{"properties": object{}}},
	{"microsoft.storage/storageaccounts", "queueServices/default", object{"properties": object{}}},
	{"microsoft.storage/storageaccounts", "tableServices/default", object{"properties": object{}}},
	{"microsoft.apimanagement/service", "groups/administrators", object{"properties": object{"builtIn": true}}},
	{"microsoft.apimanagement/service", "subscriptions/master", object{"properties": object{"state": "active"}}},
	{"microsoft.dbforpostgresql/flexibleservers", "databases/postgres", object{"properties": object{"charset": "UTF8"}}},
	{"microsoft.dbforpostgresql/flexibleservers", "databases/azure_maintenance", object{"properties": object{"charset": "UTF8"}}},
}

// createOwnChildren creates the children that a service creates with a resource.
func (s *Simulator) createOwnChildren(r *resource) {
	for _, child := range ownChildren {
		if !strings.EqualFold(child.parent, r.typ) || s.find(r.id+"/"+child.path) != nil {
			continue
		}
		t, ok := parseID(r.id + "/" + child.path)
		if !ok {
			continue
		}
		made := s.newResource(t)
		made.body = cloneObject(child.body)
		made.setState("Succeeded")
		s.resources[key(made.id)] = made
		s.touch(made)
	}
}

// isOwnChild reports whether a service created a child with its parent.
func isOwnChild(parent, child *resource) bool {
	for _, own := range ownChildren {
		if strings.EqualFold(own.parent, parent.typ) && strings.EqualFold(child.id, parent.id+"/"+own.path) {
			return true
		}
	}
	return false
}
