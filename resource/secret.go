package resource

import (
	"regexp"
	"strings"
)

// credentialForms match texts that contain a credential, whatever the name of their
// property: connection strings, shared access signatures, private keys.
var credentialForms = regexp.MustCompile(
	`(?i)\b(?:(?:account|sharedaccess|shared|access|primary|secondary)key|password|pwd|sharedaccesssignature)\s*=\s*([^;&\s"']{4,})` +
		`|(?i:[?&;]sig=)([^;&\s"']{4,})` +
		`|-----BEGIN [A-Z ]*PRIVATE KEY-----([\s\S]*?)(?:-----END|$)`)

// ContainsCredential reports whether a text has the form of a connection string, a
// shared access signature or a private key.
func ContainsCredential(text string) bool {
	// Every form contains one of the two; most texts contain neither.
	return (strings.Contains(text, "=") || strings.Contains(text, "-----BEGIN")) && credentialForms.MatchString(text)
}

// ReplaceCredentials replaces the credentials in a text that ContainsCredential
// finds, and keeps the text around them.
func ReplaceCredentials(text, by string) string {
	var b strings.Builder
	end := 0
	for _, match := range credentialForms.FindAllStringSubmatchIndex(text, -1) {
		for group := 2; group < len(match); group += 2 {
			if match[group] >= 0 {
				b.WriteString(text[end:match[group]] + by)
				end = match[group+1]
			}
		}
	}
	return b.String() + text[end:]
}

// SecretProperty reports whether the string value of a property is a secret: its
// name is secret, or it is the "value" of an object below such a name or with such
// a label (SecretLabels): {"keyName": "key1", "value": "..."} under keys, {"name":
// "DB_PASSWORD", "value": "..."} in settings. Package manifest refuses literals by
// this rule and package secrets masks by it; if they differed, a manifest could
// state a value in plain that is observed masked.
func SecretProperty(name string, under bool, label string) bool {
	if SecretName(name) {
		return true
	}
	return strings.EqualFold(name, "value") && (under || SecretName(label) && !kindLabel(label))
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
