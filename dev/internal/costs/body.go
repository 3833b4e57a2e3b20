package costs

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
)

// Body returns a desired body of at least size bytes of JSON, the same in every
// run: a list of rules with repeated names and varied values (etags, IDs,
// settings). 20 KB of it compress to a fifth; recorded bodies of 8 to 10 KB
// compress to a third (sites) or a sixth (gateways).
func Body(size int) json.RawMessage {
	values := rand.New(rand.NewPCG(1, uint64(size))) // #nosec G404 -- no secret
	body := map[string]any{"location": "westus2", "tags": map[string]any{"purpose": "costs"}}
	var rules []any
	for used := 0; used < size; {
		rule := rule(values, len(rules))
		rules = append(rules, rule)
		text, _ := json.Marshal(rule) // texts and numbers
		used += len(text) + 1
	}
	body["properties"] = map[string]any{"rules": rules}
	text, _ := json.Marshal(body)
	return text
}

func rule(values *rand.Rand, i int) map[string]any {
	name := fmt.Sprintf("rule-%d", i)
	return map[string]any{
		"name": name, "etagOfSource": fmt.Sprintf("W/\"%08x-%04x-%012x\"", values.Uint32(), values.Uint32N(1<<16), values.Uint64N(1<<48)),
		"properties": map[string]any{
			"priority": 100 + i, "access": []string{"Allow", "Deny"}[values.IntN(2)], "direction": "Inbound", "protocol": "Tcp",
			"sourceAddressPrefix":      fmt.Sprintf("10.%d.%d.0/24", values.IntN(256), values.IntN(256)),
			"destinationAddressPrefix": fmt.Sprintf("10.%d.%d.%d", values.IntN(256), values.IntN(256), values.IntN(256)),
			"resourceGuid":             guid(values), "applicationSecurityGroup": guid(values),
			"destinationPortRange": fmt.Sprint(1024 + values.IntN(60000)), "description": "Traffic of " + name + " to the service behind it",
		},
	}
}

func guid(values *rand.Rand) string {
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", values.Uint32(), values.Uint32N(1<<16), values.Uint32N(1<<16), values.Uint32N(1<<16), values.Uint64N(1<<48))
}
