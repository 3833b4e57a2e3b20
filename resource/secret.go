package resource

import "strings"

// SecretProperty reports whether the string value of a property is a secret: its
// name is secret (plainProperties are the exceptions), or it is the "value" of an object below such a name or with such
// a label (SecretLabels): {"keyName": "key1", "value": "..."} under keys, {"name":
// "DB_PASSWORD", "value": "..."} in settings. Package manifest refuses literals by
// this rule and package secrets masks by it; if they differed, a manifest could
// state a value in plain that is observed masked.
func SecretProperty(name string, around Surroundings) bool {
	if SecretName(name) {
		return !around.makePlain(name)
	}
	return strings.EqualFold(name, "value") && (around.Under || SecretName(around.Label) && !kindLabel(around.Label))
}

// Surroundings are what encloses a property: they decide about names that are not clear
// by themselves.
type Surroundings struct {
	// Under is set below a property with a secret's name.
	Under bool
	// Label is the text by which the object names its "value" (SecretLabels).
	Label string
	// Parent is the property that contains the object, or the list that it is an item of.
	Parent string
	// Has reports whether the object has a member, ignoring case; nil means no member is
	// known.
	Has func(member string) bool
}

// plainProperty is a property with the name of a secret and a plain value,
// beside a member or in a parent.
type plainProperty struct{ name, beside, parent, source string }

// plainProperties are the only exceptions from the names of secrets. Published types mark
// more secrets, and never take one away.
func plainProperties() []plainProperty {
	return []plainProperty{
		{name: "key", beside: "operatorType", source: "published types, Microsoft.EventGrid/*/eventSubscriptions: filter.advancedFilters[].key is the field to compare"},
		{name: "key", beside: "operator", source: "published types, Microsoft.ContainerService: label selectors and tolerations of Kubernetes"},
		{name: "key", beside: "values", source: "published types, Microsoft.ExtendedLocation/customLocations/resourceSyncRules: matchExpressions[].key is a label"},
		{name: "key", beside: "effect", source: "published types, Microsoft.ContainerService: taints and tolerations of Kubernetes"},
		{name: "key", beside: "value", source: "published types, Microsoft.Devices/IotHubs: routing.enrichments[].key names the value beside it"},
		{name: "key", beside: "valueExpression", source: "published types, Microsoft.ContainerService/managedClusters/jwtAuthenticators: claimMappings.extra[].key"},
		{name: "key", beside: "label", parent: "filters", source: "published types, Microsoft.AppConfiguration/configurationStores/snapshots: the filter of key-values"},
		{name: "keys", parent: "key", source: "published types, Microsoft.DocumentDB/databaseAccounts/mongodbDatabases/collections: resource.indexes[].key.keys are the fields of an index"},
		{name: "keys", beside: "keyType", source: "published types, Microsoft.IoTOperations/instances/brokers: stateStoreResources[].keys are patterns"},
	}
}

// makePlain reports whether a property with a secret's name is plain here.
func (s Surroundings) makePlain(name string) bool {
	if len(name) > len("keys") {
		return false // the longest name in the table
	}
	for _, row := range plainProperties() {
		if strings.EqualFold(name, row.name) && (row.parent == "" || strings.EqualFold(s.Parent, row.parent)) &&
			(row.beside == "" || s.Has != nil && s.Has(row.beside)) && (row.parent != "" || !s.Under) {
			return true
		}
	}
	return false
}

// kindLabel reports whether a label that SecretName matches names the kind of a
// credential: App Service's settings X__credential contain "managedidentity".
func kindLabel(label string) bool {
	_, last := lastWords(label)
	return strings.EqualFold(last, "credential") || strings.EqualFold(last, "credentials")
}

// rightsWords are the last words of properties that list permissions.
var rightsWords = []string{"permission", "permissions", "rights", "actions"}

// RightsName reports whether a property lists permissions: values below it are
// rights on keys and secrets ("permissions": {"keys": ["get"]}), not keys and
// secrets.
func RightsName(name string) bool {
	_, last := lastWords(name)
	for _, word := range rightsWords {
		if strings.EqualFold(last, word) {
			return true
		}
	}
	return false
}

// SecretLabels returns the properties with which an object labels its "value"; the
// first one present counts.
func SecretLabels() []string { return []string{"name", "keyName"} }

// VaultReference reports whether a text is App Service's reference to a secret in a
// vault, which does not contain the secret.
func VaultReference(text string) bool {
	return strings.HasPrefix(strings.ToLower(text), "@microsoft.keyvault(")
}
