package armsim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"unicode"

	"github.com/armature-io/armature/armsim/published"
)

// bodyRefusal contains the refusals of one provider. A nil function means ARM's words.
type bodyRefusal struct {
	typePattern                   string // glob over the lower-cased type
	unknown, kind, value, missing func(finding) *response
}

// bodyRefusals returns the table of the providers' own words; the first match counts.
func bodyRefusals() []bodyRefusal {
	return []bodyRefusal{{
		// Azure/azure-cli#18855 and #17904 (unknown), Azure/azure-powershell#4001 (missing),
		// recorded virtualMachineScaleSets (value).
		typePattern: "microsoft.compute/*",
		unknown: func(f finding) *response {
			return withTarget(armError(http.StatusBadRequest, "BadRequest", "%s", f.words()), f.path)
		},
		value: func(f finding) *response {
			target := lastNames(f.path, 2)
			return withTarget(armError(http.StatusBadRequest, "InvalidParameter", "The value of parameter %s is invalid.", target), target)
		},
		missing: func(f finding) *response {
			return withTarget(armError(http.StatusBadRequest, "InvalidParameter", "Required parameter '%s' is missing (null).", f.name), f.name)
		},
	}, {
		// Azure/azure-rest-api-specs#40740 (unknown). The kinds are the words of Go's decoder,
		// which that message contains too. Older versions than 2024-01-01 drop unknown
		// properties (Azure/AKS#4060).
		typePattern: "microsoft.containerservice/managedclusters*",
		unknown: func(f finding) *response {
			return errUnmarshal(fmt.Sprintf("json: unknown field %q Check that the field is in the right location, is spelled correctly, and is supported in the API version. Visit aka.ms/aks/apiversions for more API version information.", f.name))
		},
		kind: func(f finding) *response {
			return errUnmarshal(fmt.Sprintf("json: cannot unmarshal %s into Go struct field %s.%s of type %s", kindOf(f.value), f.object, f.path, goType(f.want)))
		},
	}, {
		// Recorded errors of publicIPAddresses and routes: an enumeration in InvalidJson.
		typePattern: "microsoft.network/*",
		unknown:     errNetworkJSON, kind: errNetworkJSON, value: errNetworkJSON,
	}, {
		// hashicorp/terraform-provider-azurerm#8089.
		typePattern: "microsoft.storage/storageaccounts*",
		value: func(f finding) *response {
			return armError(http.StatusBadRequest, "InvalidValuesForRequestParameters",
				"Values for request parameters are invalid: %s.", strings.TrimPrefix(f.path, "properties."))
		},
	}}
}

// refuseBody returns the refusal of a body with findings, in their order. ARM, which refuses
// unknown members of the envelope of every type, and the providers of the table name the
// first one, as a deserializer does. The others name all, each in a detail with its target,
// as Azure/ARO-HCP does.
func refuseBody(q *request, findings []finding) *response {
	first := findings[0]
	if first.kind == unknownMember && first.path == first.name {
		first.object = "ResourceDefinition"
		return errContent("%s", first.words())
	}
	for _, row := range bodyRefusals() {
		if !globMatch(row.typePattern, strings.ToLower(q.resourceType)) {
			continue
		}
		refuse := map[findingKind]func(finding) *response{
			unknownMember: row.unknown, wrongKind: row.kind, wrongValue: row.value, missingMember: row.missing}[first.kind]
		if refuse != nil {
			return refuse(first)
		}
	}
	if len(findings) == 1 {
		return first.contentError()
	}
	var details []any
	for _, f := range findings {
		detail, _ := f.contentError().body.(object)
		details = append(details, detail["error"])
	}
	resp := armError(http.StatusBadRequest, "MultipleErrorsOccurred", "%d errors occurred", len(details))
	resp.body = object{"error": object{"code": resp.code, "message": resp.message, "details": details}}
	return resp
}

// contentError returns ARM's refusal in the name of a provider.
func (f finding) contentError() *response {
	resp := errContent("%s", f.words())
	resp.gateway = false
	resp.header.Del("X-Ms-Failure-Cause")
	return withTarget(resp, f.path)
}

// words returns the message of Json.NET, which ARM and most providers quote
// (Azure/azure-sdk-for-net#3487: an unknown member of the envelope;
// Azure/azure-powershell#7556: a missing one).
func (f finding) words() string {
	at := fmt.Sprintf("Path '%s', line %d, position %d.", f.path, f.line, f.column)
	switch f.kind {
	case unknownMember:
		return fmt.Sprintf("Could not find member '%s' on object of type '%s'. %s", f.name, f.object, at)
	case missingMember:
		parent := strings.TrimSuffix(strings.TrimSuffix(f.path, f.name), ".")
		return fmt.Sprintf("Required property '%s' not found in JSON. Path '%s', line %d, position %d.", f.name, parent, f.line, f.column)
	}
	given := map[string]string{"object": `object (e.g. {"name":"value"})`, "array": "array (e.g. [1,2,3])"}[kindOf(f.value)]
	if given != "" {
		return fmt.Sprintf("Cannot deserialize the current JSON %s into type '%s' because the type requires a JSON %s to deserialize correctly. %s",
			given, dotnetType(f), requiredJSON(f.want), at)
	}
	value, err := json.Marshal(f.value)
	if err != nil {
		value = []byte("value")
	}
	return fmt.Sprintf("Error converting value %s to type '%s'. %s", value, dotnetType(f), at)
}

// requiredJSON returns the kind of JSON in the words of Json.NET.
func requiredJSON(n *published.Node) string {
	switch n.Kind {
	case published.Object, published.Variants:
		return `object (e.g. {"name":"value"})`
	case published.List:
		return "array (e.g. [1,2,3])"
	}
	return "primitive value (e.g. string, number, boolean, null)"
}

// dotnetType returns the name of a type as a .NET provider has it. The names of its
// enumerations are not published; they resemble the codes of the properties.
func dotnetType(f finding) string {
	switch f.want.Kind {
	case published.Integer:
		return "System.Int64"
	case published.Boolean:
		return "System.Boolean"
	case published.Choice:
		runes := []rune(f.name)
		runes[0] = unicode.ToUpper(runes[0])
		return string(runes)
	case published.Object, published.Variants:
		return f.want.Name
	case published.List:
		return "System.Collections.Generic.List"
	}
	return "System.String"
}

// goType and kindOf return the names in the messages of Go's JSON decoder.
func goType(n *published.Node) string {
	switch n.Kind {
	case published.Integer:
		return "int"
	case published.Boolean:
		return "bool"
	case published.Object, published.Variants:
		return n.Name
	case published.List:
		return "[]" + goType(n.Item)
	}
	return "string"
}

func kindOf(value any) string {
	switch value.(type) {
	case object:
		return "object"
	case []any:
		return "array"
	case bool:
		return "bool"
	case string:
		return "string"
	}
	return "number"
}

func errNetworkJSON(f finding) *response {
	return armErrorDetail(http.StatusBadRequest, "InvalidRequestFormat", "Cannot parse the request.", "InvalidJson", f.words())
}

// errUnmarshal returns an error of the Kubernetes provider, without ARM's envelope as
// the provider sends it.
func errUnmarshal(cause string) *response {
	resp := armError(http.StatusBadRequest, "UnmarshalError", "UnmarshalEntity encountered error: %s.", cause)
	resp.body = object{"code": resp.code, "details": nil, "message": resp.message, "subcode": ""}
	return resp
}

func withTarget(resp *response, target string) *response {
	resp.body = object{"error": object{"code": resp.code, "message": resp.message, "target": target}}
	return resp
}

// lastNames returns the last names of a path.
func lastNames(path string, count int) string {
	names := strings.Split(path, ".")
	return strings.Join(names[max(0, len(names)-count):], ".")
}
