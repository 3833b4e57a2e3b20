// Package histories reads the event histories of Temporal workflows: fetches
// them, decodes their payloads, prints them and writes them for replay tests.
// It knows no workflow of ours, only Temporal's events and the payload codec.
package histories

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// Fetch reads the whole history of one run; an empty runID is the latest run.
func Fetch(ctx context.Context, c client.Client, workflowID, runID string) (*historypb.History, error) {
	history := &historypb.History{}
	events := c.GetWorkflowHistory(ctx, workflowID, runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		if err != nil {
			return nil, fmt.Errorf("read history of %s: %w", workflowID, err)
		}
		history.Events = append(history.Events, event)
	}
	return history, nil
}

// Read reads a history that [Write] or the Temporal CLI wrote.
func Read(r io.Reader) (*historypb.History, error) {
	history, err := client.HistoryFromJSON(r, client.HistoryJSONOptions{})
	if err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	return history, nil
}

// Write writes a history as the replayer reads it: the server's own payloads,
// not decoded, and the same bytes for the same history.
func Write(w io.Writer, history *historypb.History) error {
	compact, err := protojson.Marshal(history)
	if err != nil {
		return fmt.Errorf("marshal history: %w", err)
	}
	// protojson varies its white space on purpose; indenting makes it stable.
	var indented bytes.Buffer
	if err := json.Indent(&indented, compact, "", "  "); err != nil {
		return fmt.Errorf("indent history: %w", err)
	}
	indented.WriteByte('\n')
	if _, err := indented.WriteTo(w); err != nil {
		return fmt.Errorf("write history: %w", err)
	}
	return nil
}

// Counts are the size of a history.
type Counts struct {
	// Events is the number of events.
	Events int `json:"events"`
	// Bytes is the size of all events as protobuf, which is what the server
	// stores and limits.
	Bytes int `json:"bytes"`
	// ByType counts the events of each type, such as ActivityTaskScheduled.
	ByType map[string]int `json:"byType"`
}

// Count counts the events after the first skip ones: those of the passes that
// came later.
func Count(history *historypb.History, skip int) Counts {
	counts := Counts{ByType: map[string]int{}}
	for i, event := range history.GetEvents() {
		if i < skip {
			continue
		}
		counts.Events++
		counts.Bytes += proto.Size(event)
		counts.ByType[event.GetEventType().String()]++
	}
	return counts
}
