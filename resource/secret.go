package resource

import (
	"regexp"
	"strings"
)

// credentialForms are texts that hold a credential whatever their property is
// called: connection strings, shared access signatures, private keys.
var credentialForms = regexp.MustCompile(
	`(?i)\b(?:(?:account|sharedaccess|shared|access|primary|secondary)key|password|pwd|sharedaccesssignature)\s*=\s*([^;&\s"']{4,})` +
		`|(?i:[?&;]sig=)([^;&\s"']{4,})` +
		`|-----BEGIN [A-Z ]*PRIVATE KEY-----([\s\S]*?)(?:-----END|$)`)

// HoldsCredential reports whether a text has the form of one that holds a
// credential: a connection string, a shared access signature or a private key.
func HoldsCredential(text string) bool {
	// All of the forms have one of the two; most texts have neither.
	return (strings.Contains(text, "=") || strings.Contains(text, "-----BEGIN")) && credentialForms.MatchString(text)
}

// ReplaceCredentials replaces the credentials in a text that HoldsCredential
// finds, and leaves what stands around them.
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
// name says so, or it is the "value" of an object that stands under such a name
// or whose own label (SecretLabels) is one: {"keyName": "key1", "value": "..."}
// under keys, {"name": "DB_PASSWORD", "value": "..."} among settings. Package
// manifest refuses literals by this rule and package secrets masks by it; if
// they differed, a value could be stated in plain and observed masked.
func SecretProperty(name string, under bool, label string) bool {
	if SecretName(name) {
		return true
	}
	return strings.EqualFold(name, "value") && (under || SecretName(label) && !kindLabel(label))
}

// kindLabel reports whether a label that SecretName picks speaks of the kind of
// a credential: App Service's settings X__credential say "managedidentity".
func kindLabel(label string) bool {
	_, last := lastWords(label)
	return strings.EqualFold(last, "credential") || strings.EqualFold(last, "credentials")
}

// rightsWords are the last words of properties that say what somebody may do.
var rightsWords = []string{"permission", "permissions", "rights", "actions"}

// RightsName reports whether a property says what somebody may do: what stands
// below it are rights on keys and secrets ("permissions": {"keys": ["get"]}), no
// keys and secrets.
func RightsName(name string) bool {
	_, last := lastWords(name)
	for _, word := range rightsWords {
		if strings.EqualFold(last, word) {
			return true
		}
	}
	return false
}

// SecretLabels are the properties with which an object says what its "value"
// is, the first that is present counts.
func SecretLabels() []string { return []string{"name", "keyName"} }

// VaultReference reports whether a text is App Service's reference to a secret
// in a vault, which names the secret and does not hold it.
func VaultReference(text string) bool {
	return strings.HasPrefix(strings.ToLower(text), "@microsoft.keyvault(")
}
