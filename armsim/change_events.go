package armsim

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"
)

// raiseEvent delivers the event of a change to the queues that are subscribed to it. A
// change by Azure itself has none: events are of requests to Resource Manager
// (learn.microsoft.com/azure/event-grid/event-schema-subscriptions).
func (s *Simulator) raiseEvent(change Change) {
	t, ok := parseID(change.ID)
	if s.actor.System || !ok || t.subscription == "" {
		return
	}
	resource := change.ID
	if key(s.actor.resource) == key(resource) {
		resource = s.actor.resource // as the request spells it
	}
	var event object
	for _, destination := range s.eventDestinations(t.subscription) {
		if !destination.wants(eventTypeOf(change), resource) {
			continue
		}
		if event == nil {
			event = s.eventOf(change, resource, t)
		}
		event["topic"] = cmp.Or(destination.scope, "/subscriptions/"+t.subscription)
		s.deliver(destination, event, change.Time)
	}
}

// eventTypeOf returns the type of the event of a change.
func eventTypeOf(change Change) string {
	kind := map[string]string{changeDelete: "Delete", changeAction: "Action"}[change.ChangeType]
	outcome := "Success"
	if change.Status != "Succeeded" {
		outcome = "Failure"
	}
	return "Microsoft.Resources.Resource" + cmp.Or(kind, "Write") + outcome
}

// eventOf returns an event in Event Grid's own schema. The request is part of the events of
// updates, deletions and actions (event-schema-subscriptions).
func (s *Simulator) eventOf(change Change, resource string, t target) object {
	tenant := cmp.Or(s.options.TenantID, text(s.actor.claims, "tid"), "00000000-0000-0000-0000-000000000000")
	principal := cmp.Or(text(s.actor.claims, "oid"), s.reports.newGUID())
	principalType := "ServicePrincipal"
	if change.ChangedByType == "User" {
		principalType = "User"
	}
	data := object{
		"authorization": object{"scope": resource, "action": change.Operation, "evidence": object{
			"role": "Contributor", "roleAssignmentScope": "/subscriptions/" + t.subscription,
			"roleAssignmentId": "3b6e5e3a1f5c4c7e9d1f0a2b4c6d8e90", "roleDefinitionId": "b24988ac618042a0ab8820f7382dd24c",
			"principalId": strings.ReplaceAll(principal, "-", ""), "principalType": principalType,
		}},
		"claims": s.actor.eventClaims(tenant, principal), "correlationId": change.CorrelationID,
		"resourceProvider": cmp.Or(t.namespace, "Microsoft.Resources"), "resourceUri": resource, "operationName": change.Operation,
		"status": change.Status, "subscriptionId": t.subscription, "tenantId": tenant,
	}
	if s.actor.request != nil && change.ChangeType != changeCreate {
		data["httpRequest"] = s.actor.request
	}
	return object{
		"id": s.reports.newGUID(), "subject": resource, "eventType": eventTypeOf(change),
		"eventTime": s.realTime(change.Time).UTC().Format("2006-01-02T15:04:05.9999999Z07:00"),
		"data":      data, "dataVersion": "2", "metadataVersion": "1",
	}
}

// eventClaims returns the claims of a token as events show them: some with a short name,
// others with that of their schema. The claims of published events and activity logs
// (event-schema-subscriptions; claims of users have upn and name, those of applications
// neither).
func (by actor) eventClaims(tenant, principal string) object {
	const microsoft, soap = "http://schemas.microsoft.com/", "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/"
	claims := object{
		"aud": cmp.Or(text(by.claims, "aud"), "https://management.core.windows.net/"), "iss": "https://sts.windows.net/" + tenant + "/",
		"iat": "1796050800", "nbf": "1796050800", "exp": "1796054700", "aio": "AXQAi/8ZAAAA", "uti": "x1y2z3", "ver": "1.0", "rh": "1.AAAA.",
		microsoft + "identity/claims/tenantid": tenant, microsoft + "identity/claims/objectidentifier": principal,
		soap + "nameidentifier": principal,
	}
	switch by.kind() {
	case "User":
		name, _, _ := strings.Cut(by.Name, "@")
		for claim, value := range map[string]string{
			"appid": cmp.Or(text(by.claims, "appid"), "c44b4083-3bb0-49c1-b47d-974e53cbdf3c"), "appidacr": "0", "name": cmp.Or(text(by.claims, "name"), name),
			"idtyp": "user", "ipaddr": "203.0.113.1", "puid": "1003200000000000", "groups": principal,
			soap + "name": by.Name, soap + "upn": by.Name, soap + "surname": name, soap + "givenname": name,
			microsoft + "identity/claims/scope": "user_impersonation", microsoft + "claims/authnmethodsreferences": "pwd,mfa",
			microsoft + "claims/authnclassreference": "1",
		} {
			claims[claim] = value
		}
	case "Application":
		claims["appid"], claims["appidacr"], claims["idtyp"] = by.Name, "1", "app"
		claims[microsoft+"identity/claims/identityprovider"] = claims["iss"]
	}
	return claims
}

// eventDestination is a queue that is subscribed to events.
type eventDestination struct {
	account, queue string
	types          []string // of events; none for all
	prefix, suffix string   // of the subject
	scope          string   // whose events it gets
}

func (d eventDestination) wants(eventType, subject string) bool {
	lower := strings.ToLower(subject)
	return (d.scope == "" || within(subject, d.scope)) && (len(d.types) == 0 || containsFold(d.types, eventType)) &&
		strings.HasPrefix(lower, strings.ToLower(d.prefix)) && strings.HasSuffix(lower, strings.ToLower(d.suffix))
}

// deliver puts an event in a queue after its delays, as one object in base64 (README of
// Azure.Messaging.EventGrid: a queue's message is one event, a webhook's a list). Copies
// have one ID. An event is lost if its queue is absent, or refuses it as too large
// (learn.microsoft.com/azure/event-grid/delivery-and-retry).
func (s *Simulator) deliver(to eventDestination, event object, at time.Time) {
	queue := s.findQueue(to.account, to.queue)
	encoded, err := json.Marshal(event)
	message := base64.StdEncoding.EncodeToString(encoded)
	if queue == nil || err != nil || len(message) > maxQueueMessage {
		return
	}
	for _, delay := range s.options.Changes.Events.delays(s.reports.random) {
		s.addMessage(queue, message, at.Add(delay), messageLifetime)
	}
}
