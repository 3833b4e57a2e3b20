package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
)

// pastRun is the history of one run of a workflow; runID is "" where a file does not
// say it.
type pastRun struct {
	runID   string
	history *historypb.History
}

// historian reads histories.
type historian interface {
	// history is that of the latest run.
	history(ctx context.Context, workflowID string) (pastRun, error)
}

func (t *temporalClient) history(ctx context.Context, workflowID string) (pastRun, error) {
	deadline, cancel := context.WithTimeout(ctx, dryTimeout)
	defer cancel()
	history := &historypb.History{}
	events := t.client.GetWorkflowHistory(deadline, workflowID, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		if err != nil {
			return pastRun{}, t.translateRead(ctx, err)
		}
		history.Events = append(history.Events, event)
	}
	return pastRun{runID: startOf(history).GetOriginalExecutionRunId(), history: history}, nil
}

// startOf are the attributes of the first event, nil in a history without one.
func startOf(history *historypb.History) *historypb.WorkflowExecutionStartedEventAttributes {
	if len(history.GetEvents()) == 0 {
		return nil
	}
	return history.GetEvents()[0].GetWorkflowExecutionStartedEventAttributes()
}

// historySource is one history that can be read.
type historySource struct {
	name, workflowID string
	read             func(ctx context.Context) (pastRun, error)
}

// historyFiles are the files, and the *.json files of folders.
func historyFiles(paths []string) ([]historySource, error) {
	var sources []historySource
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, badInput("read histories: %w", err)
		}
		found := []string{path}
		if info.IsDir() {
			if found, err = filepath.Glob(filepath.Join(globEscape(path), "*.json")); err != nil || len(found) == 0 {
				return nil, badInput("read histories: folder %s holds no *.json file; write one with temporal workflow show --output json", path)
			}
		}
		for _, file := range found {
			sources = append(sources, historySource{name: file, read: func(context.Context) (pastRun, error) { return readHistory(file) }})
		}
	}
	return sources, nil
}

// globEscape makes a path match itself only.
func globEscape(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

func readHistory(file string) (pastRun, error) {
	reader, err := os.Open(file)
	if err != nil {
		return pastRun{}, err
	}
	defer func() { _ = reader.Close() }()
	history, err := client.HistoryFromJSON(reader, client.HistoryJSONOptions{})
	if err != nil {
		return pastRun{}, fmt.Errorf("it is no history in JSON (temporal workflow show --output json): %w", err)
	}
	return pastRun{runID: startOf(history).GetOriginalExecutionRunId(), history: history}, nil
}
