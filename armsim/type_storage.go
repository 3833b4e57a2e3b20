package armsim

import (
	"net/http"
	"regexp"
	"strings"
)

const storageType = "microsoft.storage/storageaccounts"

var accountNamePattern = regexp.MustCompile(`^[a-z0-9]{3,24}$`)

// storageRows returns the rows of storage. A create is 202 with Location and an empty
// body, in the state Creating, then ResolvingDNS; updates and deletes are synchronous.
// A failover is an action: the primary region is unavailable until the secondary one
// replaces it.
func storageRows() []typeRule {
	return []typeRule{{
		typePattern: storageType,
		create:      OperationSpec{Shape: ShapeLocation, Seconds: 20, RetryAfter: []float64{17, 3}, EmptyBody: true},
		update:      OperationSpec{Shape: ShapeSync},
		delete:      OperationSpec{Shape: ShapeSync},
		defaults:    storageDefaults, onRead: showStorage, checkWrite: checkStorage,
		actions: map[string]action{"failover": {provisioningState: "Succeeded", seconds: 600, check: checkFailover, onStart: beginFailover, onEnd: endFailover}},
	}, {typePattern: "microsoft.storage/storageaccounts/*services", noDelete: true}, {typePattern: "microsoft.storage/*"}}
}

func storageDefaults(r *resource, body object) {
	p := properties(body)
	setDefault(body, "tags", object{})
	endpoints := object{}
	for name, host := range map[string]string{"blob": "blob", "dfs": "dfs", "file": "file", "queue": "queue", "table": "table", "web": "z5.web"} {
		endpoints[name] = "https://" + r.name + "." + host + ".core.windows.net/"
	}
	p["primaryEndpoints"] = endpoints
	keepProperty(r, body, "primaryLocation", compactRegion(text(body, "location")))
	keepProperty(r, body, "statusOfPrimary", "available")
	if isGeoRedundant(body) {
		keepProperty(r, body, "secondaryLocation", pairedRegion(text(p, "primaryLocation")))
		keepProperty(r, body, "statusOfSecondary", "available")
	}
	p["creationTime"] = "2026-01-01T00:00:00.0000000Z"
	p["privateEndpointConnections"] = []any{}
	if sku, ok := body["sku"].(object); ok {
		sku["tier"], _, _ = strings.Cut(text(body, "sku.name"), "_")
	}
	setDefault(p, "accessTier", "Hot")
	setDefault(p, "supportsHttpsTrafficOnly", true)
	setDefault(p, "minimumTlsVersion", "TLS1_0")
	setDefault(p, "allowBlobPublicAccess", false)
	setDefault(p, "networkAcls", object{"bypass": "AzureServices", "virtualNetworkRules": []any{}, "ipRules": []any{}, "defaultAction": "Allow"})
	service := object{"keyType": "Account", "enabled": true}
	setDefault(p, "encryption", object{"keySource": "Microsoft.Storage", "services": object{"file": service, "blob": clone(service)}})
}

// checkStorage refuses the name of a new account if it is malformed or taken; names are
// unique in all of Azure.
func checkStorage(s *Simulator, t target, _ object) *response {
	if s.find(t.id) != nil || s.recordings[key(t.id)] != nil {
		return nil
	}
	name := t.name()
	if !accountNamePattern.MatchString(name) {
		return armError(http.StatusBadRequest, "AccountNameInvalid",
			"%s is not a valid storage account name. Storage account name must be between 3 and 24 characters in length and use numbers and lower-case letters only.", name)
	}
	for _, r := range s.below("") {
		if !strings.EqualFold(r.typ, storageType) || !strings.EqualFold(r.name, name) {
			continue
		}
		if other, ok := parseID(r.id); ok && strings.EqualFold(other.subscription, t.subscription) {
			return armError(http.StatusConflict, "StorageAccountInAnotherResourceGroup",
				"The account %s is already in another resource group in this subscription.", name)
		}
		return armError(http.StatusConflict, "StorageAccountAlreadyTaken", "The storage account named %s is already taken.", name)
	}
	return nil
}

// showStorage shows ResolvingDNS in the second half of a creation.
func showStorage(s *Simulator, r *resource, body object) {
	if op := r.op; op != nil && !op.done && op.verb == "create" && s.clock.now().Sub(op.start) >= op.end.Sub(op.start)/2 {
		properties(body)["provisioningState"] = "ResolvingDNS"
	}
}

// isGeoRedundant reports whether an account has a copy in a second region.
func isGeoRedundant(body object) bool { return strings.Contains(text(body, "sku.name"), "G") }

// pairedRegion returns the region in which Azure keeps the copy. The pairs are invented
// except for regions of the tests and examples.
func pairedRegion(region string) string {
	pairs := map[string]string{"westus2": "westcentralus", "westcentralus": "westus2", "westeurope": "northeurope",
		"northeurope": "westeurope", "eastus": "westus", "westus": "eastus", "eastus2": "centralus", "centralus": "eastus2"}
	if pair := pairs[region]; pair != "" {
		return pair
	}
	return region + "2"
}

func checkFailover(r *resource) *response {
	if isGeoRedundant(r.body) {
		return nil
	}
	return armError(http.StatusConflict, "OperationNotAllowedOnAccountType", // there is no secondary region
		"The failover operation is not allowed for the storage account %s: it is not geo-redundant.", r.name)
}

func beginFailover(_ *Simulator, r *resource, _ object) {
	p := properties(r.body)
	p["failoverInProgress"], p["statusOfPrimary"] = true, "unavailable"
}

// endFailover makes the secondary region the primary one; the account has no copy then.
func endFailover(_ *Simulator, r *resource, _ object) {
	p := properties(r.body)
	p["primaryLocation"], p["statusOfPrimary"] = p["secondaryLocation"], "available"
	for _, name := range []string{"failoverInProgress", "secondaryLocation", "statusOfSecondary"} {
		delete(p, name)
	}
	if sku, ok := r.body["sku"].(object); ok {
		sku["name"] = "Standard_LRS"
	}
}
