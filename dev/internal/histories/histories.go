// Package histories reads event histories of Temporal workflows: it fetches
// them, decodes their payloads, measures them, and encodes them for replay tests.
// It knows Temporal's events and the payload codec, but no workflow.
//
// To read a history outside of tests, use the Temporal CLI with the codec server:
//
//	temporal workflow show --workflow-id ID --codec-endpoint http://127.0.0.1:8234
package histories

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/proxy"
	"go.temporal.io/api/temporalproto"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/armature-io/armature/internal/payload"
)

// Fetch returns the whole history of one run; an empty runID means the latest run.
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

// Marshal returns a history as JSON for the replayer: payloads as the server stores
// them, not decoded, and the same bytes for the same history.
func Marshal(history *historypb.History) ([]byte, error) {
	compact, err := protojson.Marshal(history)
	if err != nil {
		return nil, fmt.Errorf("marshal history: %w", err)
	}
	// protojson varies its white space on purpose; indenting it again makes it stable.
	var indented bytes.Buffer
	if err := json.Indent(&indented, compact, "", "  "); err != nil {
		return nil, fmt.Errorf("indent history: %w", err)
	}
	indented.WriteByte('\n')
	return indented.Bytes(), nil
}

// Lines returns a history for reading and searching, one line of JSON for each
// event, with payloads decoded and quotes inside of strings not escaped.
func Lines(ctx context.Context, history *historypb.History) ([]string, error) {
	var lines []string
	codec := payload.Codec()
	plain := temporalproto.CustomJSONMarshalOptions{Metadata: map[string]any{commonpb.EnablePayloadShorthandMetadataKey: true}}
	decode := proxy.VisitPayloadsOptions{Visitor: func(_ *proxy.VisitPayloadsContext, payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
		decoded, err := codec.Decode(payloads)
		for _, p := range decoded {
			// The type of a search attribute: a payload with it is not printed as plain JSON.
			delete(p.GetMetadata(), "type")
		}
		return decoded, err
	}}
	for _, event := range history.GetEvents() {
		event = proto.CloneOf(event)
		if err := proxy.VisitPayloads(ctx, event, decode); err != nil {
			return nil, fmt.Errorf("decode event %d: %w", event.GetEventId(), err)
		}
		line, err := plain.Marshal(event)
		if err != nil {
			return nil, fmt.Errorf("print event %d: %w", event.GetEventId(), err)
		}
		lines = append(lines, strings.ReplaceAll(string(line), `\"`, `"`))
	}
	return lines, nil
}
