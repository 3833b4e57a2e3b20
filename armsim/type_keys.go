package armsim

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
)

// keyRow is an action that lists the keys of a type.
type keyRow struct {
	typePattern, action string // lower case
	// answer is the response as JSON: ${NAME} is a key, ${resource} the name of the
	// resource, ${id} its ID.
	answer string
	// encoded is set where the keys are in base64.
	encoded bool
}

// The forms of answers that several services have.
const (
	twoKeys = `{"primaryKey":"${primary}","secondaryKey":"${secondary}"}`
	// namespaceKeys is the answer of the authorization rules of Event Hubs and Service Bus.
	namespaceKeys = `{"keyName":"${resource}","primaryKey":"${primary}","secondaryKey":"${secondary}",
		"primaryConnectionString":"Endpoint=sb://ns.servicebus.windows.net/;SharedAccessKeyName=${resource};SharedAccessKey=${primary}",
		"secondaryConnectionString":"Endpoint=sb://ns.servicebus.windows.net/;SharedAccessKeyName=${resource};SharedAccessKey=${secondary}"}`
	connectionKeys = `{"primaryKey":"${primary}","secondaryKey":"${secondary}",
		"primaryConnectionString":"Endpoint=https://${resource}.example;AccessKey=${primary};",
		"secondaryConnectionString":"Endpoint=https://${resource}.example;AccessKey=${secondary};"}`
)

// keyRows returns the table. Source: the REST pages of the actions at
// learn.microsoft.com/rest/api, with their sample responses.
func keyRows() []keyRow {
	rows := []keyRow{
		{typePattern: "microsoft.apimanagement/service/gateways", action: "listkeys", answer: `{"primary":"${primary}","secondary":"${secondary}"}`},
		{typePattern: "microsoft.apimanagement/service/subscriptions", action: "listsecrets", answer: twoKeys},
		{typePattern: "microsoft.appconfiguration/configurationstores", action: "listkeys", answer: `{"value":[
			{"id":"a-l0-s0:x","name":"Primary","value":"${primary}","connectionString":"Endpoint=https://${resource}.azconfig.io;Id=a;Secret=${primary}","lastModified":"2026-01-01T00:00:00+00:00","readOnly":false},
			{"id":"b-l0-s0:x","name":"Secondary","value":"${secondary}","connectionString":"Endpoint=https://${resource}.azconfig.io;Id=b;Secret=${secondary}","lastModified":"2026-01-01T00:00:00+00:00","readOnly":false}]}`},
		{typePattern: "microsoft.cognitiveservices/accounts", action: "listkeys", answer: `{"key1":"${key1}","key2":"${key2}"}`},
		{typePattern: "microsoft.communication/communicationservices", action: "listkeys", answer: connectionKeys},
		{typePattern: "microsoft.devices/iothubs", action: "listkeys", answer: `{"value":[
			{"keyName":"iothubowner","primaryKey":"${primary}","secondaryKey":"${secondary}","rights":"RegistryRead, RegistryWrite, ServiceConnect, DeviceConnect"},
			{"keyName":"service","primaryKey":"${serviceprimary}","secondaryKey":"${servicesecondary}","rights":"ServiceConnect"}]}`},
		{typePattern: "microsoft.documentdb/databaseaccounts", action: "listkeys", answer: `{"primaryMasterKey":"${primary}","secondaryMasterKey":"${secondary}",
			"primaryReadonlyMasterKey":"${primaryreadonly}","secondaryReadonlyMasterKey":"${secondaryreadonly}"}`},
		{typePattern: "microsoft.eventgrid/topics", action: "listkeys", answer: `{"key1":"${key1}","key2":"${key2}"}`},
		{typePattern: "microsoft.machinelearningservices/workspaces", action: "listkeys", answer: `{"userStorageKey":"${storage}",
			"appInsightsInstrumentationKey":"${insights}","containerRegistryCredentials":{"location":"westus2","username":"registry","passwords":[{"name":"password","value":"${password}"}]},
			"notebookAccessKeys":{"primaryAccessKey":"${primary}","secondaryAccessKey":"${secondary}"}}`},
		{typePattern: "microsoft.operationalinsights/workspaces", action: "sharedkeys", answer: `{"primarySharedKey":"${primary}","secondarySharedKey":"${secondary}"}`},
		{typePattern: "microsoft.redhatopenshift/openshiftclusters", action: "listcredentials", answer: `{"kubeadminUsername":"kubeadmin","kubeadminPassword":"${password}"}`},
		{typePattern: "microsoft.redhatopenshift/openshiftclusters", action: "listadmincredentials", answer: `{"kubeconfig":"${kubeconfig}"}`, encoded: true},
		{typePattern: "microsoft.search/searchservices", action: "listadminkeys", answer: twoKeys},
		{typePattern: "microsoft.search/searchservices", action: "listquerykeys", answer: `{"value":[{"name":"query","key":"${query}"}]}`},
		{typePattern: "microsoft.signalrservice/signalr", action: "listkeys", answer: connectionKeys},
		{typePattern: storageType, action: "listkeys", answer: `{"keys":[
			{"creationTime":"2026-01-01T00:00:00.0000000Z","keyName":"key1","permissions":"FULL","value":"${key1}"},
			{"creationTime":"2026-01-01T00:00:00.0000000Z","keyName":"key2","permissions":"FULL","value":"${key2}"}]}`},
	}
	for _, typ := range []string{"microsoft.cache/redis", "microsoft.cache/redisenterprise/databases"} {
		rows = append(rows, keyRow{typePattern: typ, action: "listkeys", answer: twoKeys})
	}
	for _, action := range []string{"listclusteradmincredential", "listclusterusercredential"} {
		rows = append(rows, keyRow{typePattern: "microsoft.containerservice/managedclusters", action: action, answer: `{"kubeconfigs":[{"name":"` + strings.TrimPrefix(action, "list") + `","value":"${kubeconfig}"}]}`, encoded: true})
	}
	for _, typ := range []string{
		"microsoft.eventhub/namespaces/authorizationrules", "microsoft.eventhub/namespaces/eventhubs/authorizationrules",
		"microsoft.servicebus/namespaces/authorizationrules", "microsoft.servicebus/namespaces/topics/authorizationrules", "microsoft.servicebus/namespaces/queues/authorizationrules",
		"microsoft.notificationhubs/namespaces/authorizationrules", "microsoft.notificationhubs/namespaces/notificationhubs/authorizationrules",
	} {
		rows = append(rows, keyRow{typePattern: typ, action: "listkeys", answer: namespaceKeys})
	}
	return rows
}

// keyRowOf returns the row of an action, nil if there is none.
func keyRowOf(typ, action string) *keyRow {
	rows := keyRows()
	at := slices.IndexFunc(rows, func(row keyRow) bool {
		return globMatch(row.typePattern, typ) && (action == "" || strings.EqualFold(row.action, action))
	})
	if at < 0 {
		return nil
	}
	return &rows[at]
}

// serveKeys serves an action that lists or regenerates keys; nil for any other one.
func (s *Simulator) serveKeys(q *request, r *resource) *response {
	action := strings.ToLower(q.target.action)
	if row := keyRowOf(r.typ, action); row != nil {
		return s.listKeys(r, *row)
	}
	row := keyRowOf(r.typ, "")
	if row == nil || !strings.HasPrefix(action, "regenerate") {
		return nil
	}
	name := strings.TrimSuffix(strings.TrimPrefix(action, "regenerate"), "key") // regeneratePrimaryKey
	if len(q.body) > 0 {
		body, refused := readBody(q)
		if refused != nil {
			return refused
		}
		for _, member := range []string{"keyName", "keyType", "keyKind", "policyKey"} {
			if value := text(body, member); value != "" {
				name = strings.ToLower(strings.TrimSuffix(value, "Key"))
			}
		}
	}
	if !strings.Contains(row.answer, "${"+name+"}") {
		return armError(http.StatusBadRequest, "InvalidParameter", "The key '%s' does not exist.", name)
	}
	s.keyRounds[r.guid+"/"+name]++
	return s.listKeys(r, *row)
}

// listKeys returns the keys of a resource.
func (s *Simulator) listKeys(r *resource, row keyRow) *response {
	filled := os.Expand(row.answer, func(name string) string {
		switch name {
		case "resource":
			return r.name
		case "id":
			return r.id
		}
		value := s.keyValue(r, name)
		if row.encoded {
			value = base64.StdEncoding.EncodeToString([]byte(value))
		}
		return value
	})
	return &response{status: http.StatusOK, header: http.Header{}, raw: json.RawMessage(filled)}
}

// keyValue returns a key, which a regeneration changes.
func (s *Simulator) keyValue(r *resource, name string) string {
	if round := s.keyRounds[r.guid+"/"+name]; round > 0 {
		return s.secretValue(r, fmt.Sprintf("%s %d", name, round))
	}
	return s.secretValue(r, name)
}
