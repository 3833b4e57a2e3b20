package replay

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/armature-io/armature/internal/regular"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
)

// maxFileBytes bounds a history: Temporal ends a workflow at 50 MB, and JSON is a
// multiple of that.
const maxFileBytes = 512 << 20

// Source is one history that can be read. WorkflowID is "" if only the history
// knows it.
type Source struct {
	Name, WorkflowID string
	Read             func(ctx context.Context) (*historypb.History, error)
}

// Files returns the sources of JSON files; a folder means its *.json files.
func Files(paths []string) ([]Source, error) {
	var sources []Source
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("read histories: %w", err)
		}
		files := []string{path}
		if info.IsDir() {
			if files, err = filepath.Glob(filepath.Join(escapeGlob(path), "*.json")); err != nil || len(files) == 0 {
				return nil, fmt.Errorf("read histories: folder %s has no *.json file; write one with temporal workflow show --output json", path)
			}
		}
		for _, file := range files {
			sources = append(sources, Source{Name: file, Read: func(context.Context) (*historypb.History, error) { return readFile(file) }})
		}
	}
	return sources, nil
}

// escapeGlob returns a pattern that matches exactly the path.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

func readFile(path string) (*historypb.History, error) {
	raw, err := regular.Read(path, maxFileBytes)
	if err != nil {
		return nil, err
	}
	history, err := client.HistoryFromJSON(bytes.NewReader(raw), client.HistoryJSONOptions{})
	if err != nil {
		return nil, fmt.Errorf("not a history in JSON (temporal workflow show --output json): %w", err)
	}
	return history, nil
}
