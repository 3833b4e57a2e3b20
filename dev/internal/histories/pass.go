package histories

import (
	"strings"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Pass returns the events of the last pass that began with a timer and was not
// interrupted by a message: from the fired timer to the start of the next one.
func Pass(history *historypb.History) []*historypb.HistoryEvent {
	var pass, last []*historypb.HistoryEvent
	for _, event := range history.GetEvents() {
		switch event.GetEventType() {
		case enumspb.EVENT_TYPE_TIMER_FIRED:
			pass = []*historypb.HistoryEvent{event}
			continue
		case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED:
			pass = nil
		}
		if pass == nil {
			continue
		}
		if pass = append(pass, event); event.GetEventType() == enumspb.EVENT_TYPE_TIMER_STARTED {
			last, pass = pass, nil
		}
	}
	return last
}

// identityBytes is the size of a worker identity in [Bytes]. Real ones contain a
// process ID and a host name, which differ in length.
const identityBytes = 24

// Bytes returns the size of events as protobuf, which is what the server stores
// and limits, with worker identities of 24 bytes.
func Bytes(events []*historypb.HistoryEvent) int {
	bytes := 0
	for _, event := range events {
		event = proto.CloneOf(event)
		replaceIdentities(event.ProtoReflect())
		bytes += proto.Size(event)
	}
	return bytes
}

// replaceIdentities sets every worker identity in the attributes of an event.
func replaceIdentities(event protoreflect.Message) {
	event.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		if field.Kind() != protoreflect.MessageKind || field.IsList() || field.IsMap() {
			return true
		}
		attributes := value.Message()
		identity := attributes.Descriptor().Fields().ByName("identity")
		if identity != nil && attributes.Has(identity) {
			attributes.Set(identity, protoreflect.ValueOfString(strings.Repeat("w", identityBytes)))
		}
		return true
	})
}
