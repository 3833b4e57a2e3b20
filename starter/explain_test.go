package starter

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
)

// offlineWorld returns an app that fails the test when a command connects to Temporal.
func offlineWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld()
	w.connect = func(context.Context, backend.Options) (*connection, error) {
		t.Error("the command connects to Temporal")
		return nil, errors.New("no connection")
	}
	return w
}

func TestExplainCommands(t *testing.T) {
	const accounts = "Microsoft.Storage/storageAccounts"
	cases := map[string]struct {
		reason         string
		args           []string
		code           int
		stdout, stderr string
	}{
		"page":               {"what a body may state", []string{"explain", accounts + ".properties.networkAcls"}, cli.ExitOK, "defaultAction", ""},
		"misspelt":           {"not published: exit code 1 with the nearest", []string{"explain", "Microsoft.Storage/storageAcounts"}, cli.ExitFailed, "", "did you mean " + accounts + "?"},
		"broken path":        {"a path that cannot be read: exit code 2", []string{"explain", accounts + ".properties..x"}, cli.ExitBadInput, "", "a name is empty"},
		"nothing":            {"the argument is required", []string{"explain"}, cli.ExitBadInput, "", "explain takes one argument, a type"},
		"versions":           {"all versions, one a line", []string{"explain", accounts, "--versions"}, cli.ExitOK, "\n2023-01-01\n", ""},
		"recursive":          {"all levels", []string{"explain", accounts, "--recursive"}, cli.ExitOK, "    defaultAction  text  required\n", ""},
		"recursive JSON":     {"one of the two", []string{"explain", accounts, "--recursive", "-o", "json"}, cli.ExitBadInput, "", "--recursive cannot be combined with -o json"},
		"reason":             {"its paragraph, in any case of letters", []string{"explain", "paused"}, cli.ExitOK, "do        `armature resume NAME`.", ""},
		"code of Azure":      {"its row of the table", []string{"explain", "QuotaExceeded"}, cli.ExitOK, "It needs a higher quota", ""},
		"reason JSON":        {"the same text", []string{"explain", "Paused", "-o", "json"}, cli.ExitOK, `"acts": "the user who paused it."`, ""},
		"misspelt reason":    {"the nearest", []string{"explain", "Puased"}, cli.ExitBadInput, "", "did you mean Paused?"},
		"wide":               {"read-only properties with their kinds", []string{"explain", accounts, "-o", "wide"}, cli.ExitOK, "read-only", ""},
		"types":              {"a part of the name", []string{"types", "STORAGEACCOUNTS/BLOB"}, cli.ExitOK, accounts + "/blobServices", ""},
		"types by glob":      {"the whole name", []string{"types", "microsoft.storage/storageaccounts*"}, cli.ExitOK, accounts + "/queueServices/queues", ""},
		"wide types":         {"more columns", []string{"types", "-o", "wide", "storageAccounts"}, cli.ExitOK, "PREVIEW", ""},
		"no type":            {"exit code 1 with the nearest", []string{"types", "storageAcounts"}, cli.ExitFailed, "", "did you mean " + accounts},
		"nothing is near":    {"what to do next", []string{"types", "zzzzzzzzz"}, cli.ExitFailed, "", "try a shorter part of the name"},
		"too many arguments": {"one pattern", []string{"types", "a", "b"}, cli.ExitBadInput, "", "accepts at most 1 arg"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := offlineWorld(t)
			if code := w.run(tc.args...); code != tc.code {
				t.Errorf("%s: exit code %d, want %d", tc.reason, code, tc.code)
			}
			if !strings.Contains(w.out.String(), tc.stdout) || !strings.Contains(w.err.String(), tc.stderr) {
				t.Errorf("%s:\nstdout %s\nstderr %s", tc.reason, w.out, w.err)
			}
		})
	}
}

// TestExplainFormats checks the names of JSON that programs read.
func TestExplainFormats(t *testing.T) {
	w := offlineWorld(t)
	w.run("explain", "Microsoft.Storage/storageAccounts@2023-01-01", "-o", "json")
	var page struct {
		Type, Version string
		Resource      struct {
			Scopes   []string
			Versions struct{ All []string }
		}
		Field struct {
			Properties []struct {
				Name, Kind string
				Required   bool
				Values     []string
			}
		}
	}
	if err := json.Unmarshal(w.out.Bytes(), &page); err != nil {
		t.Fatal(err)
	}
	if page.Version != "2023-01-01" || len(page.Resource.Versions.All) < 20 || page.Resource.Scopes[0] != "resource group" {
		t.Errorf("got %+v", page)
	}
	if first := page.Field.Properties[0]; first.Name != "kind" || !first.Required || len(first.Values) != 5 {
		t.Errorf("the first property is %+v", first)
	}
	w = offlineWorld(t)
	w.run("types", "-o", "yaml", "microsoft.kusto/clusters")
	if !strings.Contains(w.out.String(), "newestStable:") || !strings.Contains(w.out.String(), "type: Microsoft.Kusto/clusters\n") {
		t.Errorf("got %s", w.out)
	}
}
