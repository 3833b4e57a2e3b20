package armsim

import (
	"net/http"
	"slices"
	"strings"
)

// placeholder is what some services show in place of a secret.
const placeholder = "****************"

// secretRow is a secret of a type that its GET does not show.
type secretRow struct {
	typePattern string // glob over the lower-cased type
	// path is the dotted path of the object that has the secret, or of the list of
	// such objects.
	path, name string
	// masked is set where a GET shows a placeholder.
	masked bool
	// action is the POST that lists the secrets, lower-cased; "" if there is none. It
	// returns the named members: of the object, or of each item in "value".
	action  string
	members []string
	// required is set where a write is refused (400) in which an item has neither the
	// secret nor instead.
	required bool
	instead  string
}

// secretRows returns the table. Sources: the REST pages of the list actions at
// learn.microsoft.com (Container Apps, Jobs, Dapr Components, Authorization Server: List
// Secrets; Virtual Network Gateways, Vpn Server Configurations: List Radius Secrets) and
// the examples of NetApp Accounts. The refusal is in pulumi/pulumi-azure-native#3243.
// What a PUT leaves out is gone.
func secretRows() []secretRow {
	var rows []secretRow
	for _, typ := range []string{"microsoft.app/containerapps", "microsoft.app/jobs"} {
		rows = append(rows, secretRow{
			typePattern: typ, path: "properties.configuration.secrets", name: "value",
			action: "listsecrets", members: []string{"name", "value", "identity", "keyVaultUrl"}, required: true, instead: "keyVaultUrl",
		})
	}
	for _, typ := range []string{"microsoft.network/virtualnetworkgateways", "microsoft.network/vpnserverconfigurations"} {
		path := "properties.radiusServers"
		if strings.HasSuffix(typ, "gateways") {
			path = "properties.vpnClientConfiguration.radiusServers"
		}
		rows = append(rows, secretRow{
			typePattern: typ, path: path, name: "radiusServerSecret",
			action: "listradiussecrets", members: []string{"radiusServerAddress", "radiusServerSecret"},
		})
	}
	return append(rows, secretRow{
		typePattern: "microsoft.app/*environments/daprcomponents", path: "properties.secrets", name: "value",
		action: "listsecrets", members: []string{"name", "value"},
	}, secretRow{
		typePattern: "microsoft.apimanagement/service/authorizationservers", path: "properties", name: "clientSecret",
		action: "listsecrets", members: []string{"clientSecret", "resourceOwnerUsername", "resourceOwnerPassword"},
	}, secretRow{
		typePattern: "microsoft.netapp/netappaccounts", path: "properties.activeDirectories", name: "password", masked: true,
	})
}

// holders returns the objects of a body that may have the secret.
func (row secretRow) holders(body object) (holders []object, listed bool) {
	var at any = body
	for _, name := range strings.Split(row.path, ".") {
		o, ok := at.(object)
		if !ok {
			return nil, false
		}
		at = o[name]
	}
	switch v := at.(type) {
	case object:
		return []object{v}, false
	case []any:
		for _, item := range v {
			if o, ok := item.(object); ok {
				holders = append(holders, o)
			}
		}
	}
	return holders, true
}

// hide replaces the secret by what a GET shows.
func (row secretRow) hide(body object) {
	holders, _ := row.holders(body)
	for _, holder := range holders {
		if _, has := holder[row.name]; has && row.masked {
			holder[row.name] = placeholder
		} else {
			delete(holder, row.name)
		}
	}
}

// logSecrets logs the secrets that a client sent.
func (s *Simulator) logSecrets(resourceType string, body object) {
	copied := cloneObject(body)
	for _, row := range secretRows() {
		if !globMatch(row.typePattern, resourceType) {
			continue
		}
		holders, _ := row.holders(copied)
		for _, holder := range holders {
			if value, ok := holder[row.name].(string); ok && value != "" {
				s.log.addSecrets([]string{value})
			}
		}
	}
	s.log.addSecrets(dropNamed(copied))
}

// checkSecrets refuses a body in which an item lacks its secret.
func checkSecrets(resourceType string, body object) *response {
	for _, row := range secretRows() {
		if !row.required || !globMatch(row.typePattern, resourceType) {
			continue
		}
		holders, _ := row.holders(body)
		for _, holder := range holders {
			if holder[row.name] == nil && holder[row.instead] == nil {
				return armError(http.StatusBadRequest, "ContainerAppSecretInvalid",
					"Invalid Request: Container app secret(s) with name(s) '%s' are invalid: value or keyVaultUrl and identity should be provided.", text(holder, "name"))
			}
		}
	}
	return nil
}

// listSecrets serves an action that lists secrets; nil for any other one.
func (s *Simulator) listSecrets(r *resource, action string) *response {
	rows := secretRows()
	at := slices.IndexFunc(rows, func(row secretRow) bool {
		return row.action != "" && strings.EqualFold(row.action, action) && globMatch(row.typePattern, r.typ)
	})
	if at < 0 {
		return nil
	}
	row := rows[at]
	holders, listed := row.holders(cloneObject(r.body))
	items := []any{}
	for _, holder := range holders {
		item := object{}
		for _, name := range row.members {
			if value, has := holder[name]; has {
				item[name] = value
			}
		}
		items = append(items, item)
	}
	switch {
	case listed:
		return newResponse(http.StatusOK, object{"value": items})
	case len(items) == 0:
		return newResponse(http.StatusOK, object{})
	}
	return newResponse(http.StatusOK, items[0])
}
