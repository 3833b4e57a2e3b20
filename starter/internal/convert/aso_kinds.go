package convert

import (
	"regexp"
	"slices"
	"strings"

	"github.com/armature-io/armature/types"
)

// asoVersion matches the version of a kind: v1api20201101, v20250801, v1beta20220120preview.
// Source: https://azure.github.io/azure-service-operator/reference/.
var asoVersion = regexp.MustCompile(`^v(?:1api|1beta|1alpha1api)?([0-9]{4})([0-9]{2})([0-9]{2})(preview)?$`)

// asoGroups are the API groups whose name is not that of the provider behind "Microsoft.".
var asoGroups = map[string]string{
	"network.frontdoor": "Microsoft.Network",
	"entra":             "",
	"redis":             "Microsoft.Cache",
}

// asoKinds are the kinds whose names are not made of the segments of their types.
// Source: https://azure.github.io/azure-service-operator/reference/cdn/.
var asoKinds = map[string]string{
	"microsoft.cdn/afdcustomdomain": "Microsoft.Cdn/profiles/customDomains",
	"microsoft.cdn/afdorigin":       "Microsoft.Cdn/profiles/originGroups/origins",
	"microsoft.cdn/afdorigingroup":  "Microsoft.Cdn/profiles/originGroups",
}

// asoGroup returns the provider of an API group like network.azure.com; "" if it is none of
// ASO, or not in ARM.
func asoGroup(group string) string {
	name, found := strings.CutSuffix(group, ".azure.com")
	if !found {
		return ""
	}
	if provider, known := asoGroups[name]; known {
		return provider
	}
	return "Microsoft." + name
}

// apiVersionOf returns the api-version of a version of ASO, "" if it has none.
func apiVersionOf(version string) string {
	parts := asoVersion.FindStringSubmatch(version)
	if parts == nil {
		return ""
	}
	date := strings.Join(parts[1:4], "-")
	if parts[4] != "" {
		date += "-preview"
	}
	return date
}

// asoType returns the resource types that a kind of a provider may stand for: a kind is made
// of the segments of the type, each in the plural or the singular. Types of which all
// segments are in the kind come alone; otherwise those that leave out the fewest.
func asoType(provider, kind string) []string {
	if typ, known := asoKinds[strings.ToLower(provider+"/"+kind)]; known {
		return []string{typ}
	}
	best, found := -1, []string{}
	for _, name := range typesOf(provider) {
		segments := strings.Split(name, "/")[1:]
		for skipped := range segments {
			if !kindMatches(strings.ToLower(kind), segments[skipped:]) {
				continue
			}
			switch {
			case best < 0 || skipped < best:
				best, found = skipped, []string{name}
			case skipped == best:
				found = append(found, name)
			}
			break
		}
	}
	return found
}

// typesOf returns the published types of a provider that a PUT can create.
func typesOf(provider string) []string {
	prefix := strings.ToLower(provider) + "/"
	return slices.DeleteFunc(types.Names(true), func(name string) bool { return !strings.HasPrefix(strings.ToLower(name), prefix) })
}

// kindMatches reports whether a kind in lower case is made of the segments.
func kindMatches(kind string, segments []string) bool {
	if len(segments) == 0 {
		return kind == ""
	}
	for _, form := range numbers(strings.ToLower(segments[0])) {
		if rest, found := strings.CutPrefix(kind, form); found && kindMatches(rest, segments[1:]) {
			return true
		}
	}
	return false
}

// numbers returns the forms of a word in the plural: itself and its singular.
func numbers(word string) []string {
	forms := []string{word}
	switch {
	case strings.HasSuffix(word, "ies"):
		forms = append(forms, strings.TrimSuffix(word, "ies")+"y")
	case strings.HasSuffix(word, "sses"), strings.HasSuffix(word, "xes"), strings.HasSuffix(word, "ches"), strings.HasSuffix(word, "shes"):
		forms = append(forms, strings.TrimSuffix(word, "es"))
	}
	if strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") {
		forms = append(forms, strings.TrimSuffix(word, "s"))
	}
	if len(word) <= 5 {
		// Records of DNS: the kind of dnsZones/A is DnsZonesARecord.
		forms = append(forms, word+"record")
	}
	return forms
}
