package armsim

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// The resources by which Event Grid delivers to a queue: an event subscription of a system
// topic, or one at the scope itself, with the queue of a storage account as destination
// (learn.microsoft.com/azure/event-grid/handler-storage-queues).
const (
	topicSubscriptionType = "microsoft.eventgrid/systemtopics/eventsubscriptions"
	scopeSubscriptionType = "microsoft.eventgrid/eventsubscriptions"
)

// eventDestinations returns the queues with the events of a subscription: those of
// [Simulator.SubscribeQueue], and of the event subscriptions among the resources.
func (s *Simulator) eventDestinations(subscription string) []eventDestination {
	var found []eventDestination
	for _, name := range slices.Sorted(maps.Keys(s.queues)) {
		queue := s.queues[name]
		for _, of := range queue.subscriptions {
			if of == "" || strings.EqualFold(of, subscription) {
				found = append(found, eventDestination{account: queue.account, queue: queue.name})
			}
		}
	}
	if s.reports.subscribed == nil {
		s.reports.subscribed = s.eventSubscriptions()
	}
	for _, destination := range s.reports.subscribed {
		if within(destination.scope, "/subscriptions/"+subscription) {
			found = append(found, destination)
		}
	}
	return found
}

// eventSubscriptions returns the destinations of the event subscriptions. A subscription
// that is not complete, or that wants events in another schema, gets none.
func (s *Simulator) eventSubscriptions() []eventDestination {
	found := []eventDestination{}
	for _, r := range s.below("") {
		scope := ""
		switch strings.ToLower(r.typ) {
		case topicSubscriptionType:
			if topic := s.find(parentOf(r.id)); topic != nil {
				scope = text(topic.body, "properties.source")
			}
		case scopeSubscriptionType:
			t, _ := parseID(r.id) // the ID of a stored resource parses
			scope = t.scope
		}
		p := properties(cloneObject(r.body))
		destination, ok := p["destination"].(object)
		if !ok {
			destination, _ = member(p["deliveryWithResourceIdentity"], "destination").(object)
		}
		schema := cmp.Or(text(p, "eventDeliverySchema"), "EventGridSchema")
		if scope == "" || r.hidden || r.op != nil || !strings.EqualFold(text(destination, "endpointType"), "StorageQueue") || schema != "EventGridSchema" {
			continue
		}
		to := eventDestination{
			account: lastSegment(text(destination, "properties.resourceId")), queue: text(destination, "properties.queueName"), scope: scope,
			prefix: text(p, "filter.subjectBeginsWith"), suffix: text(p, "filter.subjectEndsWith"),
		}
		types, _ := memberAt(p, []string{"filter", "includedEventTypes"}).([]any)
		for _, eventType := range types {
			to.types = append(to.types, plainText(eventType))
		}
		found = append(found, to)
	}
	return found
}

// forgetSubscriptions lets the next event look for event subscriptions again, if a change
// of a type may concern them.
func (s *Simulator) forgetSubscriptions(typ string) {
	if strings.HasPrefix(strings.ToLower(typ), "microsoft.eventgrid/") || strings.EqualFold(typ, groupType) {
		s.reports.subscribed = nil
	}
}

// queueResource returns the resource of a queue of a storage account, nil if there is none.
func (s *Simulator) queueResource(account, name string) *resource {
	for _, r := range s.resources {
		t, ok := parseID(r.id)
		if ok && strings.EqualFold(r.typ, queueType) && !r.hidden && strings.EqualFold(t.names[0], account) && strings.EqualFold(t.name(), name) {
			return r
		}
	}
	return nil
}
