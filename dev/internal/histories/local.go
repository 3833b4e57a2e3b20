package histories

import (
	"encoding/json"

	historypb "go.temporal.io/api/history/v1"
)

// LocalActivity returns the name of the local activity of a marker, "" for other events.
func LocalActivity(event *historypb.HistoryEvent) string {
	marker := event.GetMarkerRecordedEventAttributes()
	if marker.GetMarkerName() != "LocalActivity" {
		return ""
	}
	var data struct{ ActivityType string }
	for _, payload := range marker.GetDetails()["data"].GetPayloads() {
		// The SDK writes plain JSON; anything else has no name.
		_ = json.Unmarshal(payload.GetData(), &data)
	}
	return data.ActivityType
}
