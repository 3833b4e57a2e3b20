package resource

import "strings"

// SecretProperty reports whether the string value of a property is a secret: its
// name says so, or it is the "value" of an object that stands under such a name
// or whose own label (SecretLabels) is one: {"keyName": "key1", "value": "..."}
// under keys, {"name": "DB_PASSWORD", "value": "..."} among settings. Package
// manifest refuses literals by this rule and package secrets masks by it; if
// they differed, a value could be stated in plain and observed masked.
func SecretProperty(name string, under bool, label string) bool {
	if SecretName(name) {
		return true
	}
	return strings.EqualFold(name, "value") && (under || SecretName(label))
}

// SecretLabels are the properties with which an object says what its "value"
// is, the first that is present counts.
func SecretLabels() []string { return []string{"name", "keyName"} }

// VaultReference reports whether a text is App Service's reference to a secret
// in a vault, which names the secret and does not hold it.
func VaultReference(text string) bool {
	return strings.HasPrefix(strings.ToLower(text), "@microsoft.keyvault(")
}
