package starter

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/plan"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
)

// completed returns what a shell is offered for a command line.
func completed(w *world, args ...string) []string {
	w.run(append([]string{"__complete"}, args...)...)
	var offers []string
	for _, line := range strings.Split(w.out.String(), "\n") {
		word, _, _ := strings.Cut(line, "\t")
		if word != "" && !strings.HasPrefix(word, ":") {
			offers = append(offers, word)
		}
	}
	return offers
}

func TestCompletion(t *testing.T) {
	names := []string{"adx", "adx/telemetry"}
	cases := map[string]struct {
		reason string
		args   []string
		want   []string
	}{
		"names":               {reason: "what is managed", args: []string{"describe", ""}, want: names},
		"another name":        {reason: "each once", args: []string{"pause", "adx", ""}, want: []string{"adx/telemetry"}},
		"names of why":        {reason: "in every command", args: []string{"why", ""}, want: names},
		"names of import":     {reason: "in every command", args: []string{"import", ""}, want: names},
		"a label":             {reason: "labels that are there", args: []string{"get", "-l", ""}, want: []string{"stack=prod", "team=data"}},
		"a second label":      {reason: "after a comma, a key once", args: []string{"get", "-l", "stack=prod,"}, want: []string{"stack=prod,team=data"}},
		"a label of freeze":   {reason: "the same syntax", args: []string{"freeze", "-l", ""}, want: []string{"stack=prod", "team=data"}},
		"selector of a prune": {reason: "the same syntax", args: []string{"apply", "-l", ""}, want: []string{"stack=prod", "team=data"}},
		"what is frozen":      {reason: "only that can be taken back", args: []string{"unfreeze", "-l", ""}, want: []string{"stack=prod"}},
		"formats":             {reason: "an enum", args: []string{"plan", "-o", ""}, want: plan.Formats()},
		"goals":               {reason: "an enum", args: []string{"wait", "--for", ""}, want: []string{"ready", "deleted"}},
		"phases":              {reason: "an enum", args: []string{"get", "--phase", ""}, want: phases()},
		"environments":        {reason: "of the project of -f", args: []string{"plan", "-f", "FOLDER", "--env", ""}, want: []string{"dev", "prod"}},
		"targets":             {reason: "names and aliases of -f", args: []string{"apply", "-f", "FOLDER", "--env", "dev", "--target", ""}, want: []string{"data-dev", "data"}},
		"reason of a pause":   {reason: "free text, no files", args: []string{"pause", "adx", "--reason", ""}},
		"shells":              {reason: "an enum", args: []string{"completion", ""}, want: []string{"bash", "zsh", "fish", "powershell"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := sampleWorld(t)
			w.temporal.freezes = []workflows.Freeze{{Selector: "stack=prod", By: "ana"}}
			folder := t.TempDir()
			for file, text := range map[string]string{
				"armature.yaml": "params: {env: {kind: text}}\nenvironments: {dev: {params: {env: dev}}, prod: {params: {env: prod}}}\n",
				"group.yaml":    "type: Microsoft.Resources/resourceGroups\nname: {$text: \"data-${params.env}\"}\nalias: data\nbody: {location: westeurope}\n",
			} {
				if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			args := slices.Clone(tc.args)
			if i := slices.Index(args, "FOLDER"); i >= 0 {
				args[i] = folder
			}
			if diff := cmp.Diff(tc.want, completed(w, args...)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestCompletionNeverFails verifies that a shell gets no error and does not hang
// when Temporal is unreachable.
func TestCompletionNeverFails(t *testing.T) {
	for name, connect := range map[string]func(context.Context, backend.Options) (*connection, error){
		"unreachable": func(context.Context, backend.Options) (*connection, error) {
			return nil, cli.Unreachable("reach Temporal")
		},
		"silent": func(ctx context.Context, _ backend.Options) (*connection, error) {
			if _, bounded := ctx.Deadline(); !bounded {
				t.Error("the completion has no deadline")
				return nil, errors.New("no deadline")
			}
			<-ctx.Done()
			return nil, ctx.Err()
		},
	} {
		for _, args := range [][]string{{"get", ""}, {"get", "-l", ""}, {"unfreeze", "-l", ""}} {
			t.Run(name+" "+strings.Join(args, " "), func(t *testing.T) {
				w := newWorld()
				w.connect = connect
				if offers := completed(w, args...); offers != nil {
					t.Errorf("offers %q", offers)
				}
				if text := w.err.String(); strings.Contains(strings.ToLower(text), "error") || strings.Contains(text, "reach") || strings.Contains(text, "deadline") {
					t.Errorf("stderr is %q", text)
				}
			})
		}
	}
}
