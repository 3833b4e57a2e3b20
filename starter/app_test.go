package starter

import (
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/spf13/cobra"
)

func TestExitCodes(t *testing.T) {
	good := adx(t)
	cases := map[string]struct {
		reason string
		files  map[string]string
		args   []string
		code   int
		stderr []string
	}{
		"broken YAML": {
			reason: "nothing is started, file and line are named",
			files:  map[string]string{"a.yaml": "type: [\n"}, args: []string{"apply", "-f", "DIR"},
			code: cli.ExitBadInput, stderr: []string{"nothing was started", "a.yaml:"},
		},
		"unknown field and missing api-version": {
			reason: "all issues of all files at once",
			files:  map[string]string{"a.yaml": "type: Microsoft.Kusto/clusters\nname: a\nbody: {}\n", "b.yaml": "tpye: Microsoft.Kusto/clusters\n"},
			args:   []string{"apply", "-f", "DIR"}, code: cli.ExitBadInput, stderr: []string{"a.yaml:1", "b.yaml:1", "tpye"},
		},
		"issues of delete -f": {
			reason: "the same check before a deletion",
			files:  map[string]string{"a.yaml": "tpye: Microsoft.Kusto/clusters\n"}, args: []string{"delete", "-f", "DIR"},
			code: cli.ExitBadInput, stderr: []string{"nothing was started", "tpye"},
		},
		"subscription that is no GUID": {
			reason: "a flag is checked like a manifest",
			args:   []string{"apply", "-f", good, "--subscription", "prod"}, code: cli.ExitBadInput, stderr: []string{"--subscription", "GUID"},
		},
		"apply without -f":         {reason: "the message names what it needs", args: []string{"apply"}, code: cli.ExitBadInput, stderr: []string{"-f PATH"}},
		"unknown command":          {reason: "cobra's own error is bad input", args: []string{"aply"}, code: cli.ExitBadInput, stderr: []string{`unknown command "aply"`}},
		"command of another tool":  {reason: "names the own one, also if another is spelt alike", args: []string{"diff"}, code: cli.ExitBadInput, stderr: []string{"(did you mean plan?)"}},
		"list":                     {reason: "names the own one", args: []string{"list"}, code: cli.ExitBadInput, stderr: []string{"(did you mean get?)"}},
		"status":                   {reason: "names both that show it", args: []string{"status"}, code: cli.ExitBadInput, stderr: []string{"(did you mean describe or get?)"}},
		"destroy":                  {reason: "names the own one", args: []string{"destroy"}, code: cli.ExitBadInput, stderr: []string{"(did you mean delete?)"}},
		"unknown flag":             {reason: "names the help", args: []string{"get", "--nmae"}, code: cli.ExitBadInput, stderr: []string{"--nmae", "armature get --help"}},
		"argument too many":        {reason: "cobra's argument checks are bad input", args: []string{"version", "now"}, code: cli.ExitBadInput, stderr: []string{"armature version --help"}},
		"unknown output format":    {reason: "names the allowed ones", args: []string{"get", "-o", "xml"}, code: cli.ExitBadInput, stderr: []string{"table, wide, json, yaml"}},
		"force without reason":     {reason: "the history records the reason", args: []string{"reconcile", "adx", "--force"}, code: cli.ExitBadInput, stderr: []string{"--force needs --reason"}},
		"reconcile of nothing":     {reason: "no command selects everything by accident", args: []string{"reconcile"}, code: cli.ExitBadInput, stderr: []string{"name the resources"}},
		"delete of nothing":        {reason: "no command selects everything by accident", args: []string{"delete"}, code: cli.ExitBadInput, stderr: []string{"name the resources", "-f PATH"}},
		"why in XML":               {reason: "the formats are those of get", args: []string{"why", "-o", "xml"}, code: cli.ExitBadInput, stderr: []string{"table, wide, json, yaml"}},
		"why of an unknown name":   {reason: "the message names the command that lists names", args: []string{"why", "nobody"}, code: cli.ExitFailed, stderr: []string{`"nobody"`}},
		"why of an unknown ID":     {reason: "the output has the next action; the code is the one of unmanaged resources", args: []string{"why", group}, code: cli.ExitFailed, stderr: []string{"not managed"}},
		"why by name and selector": {reason: "one or the other", args: []string{"why", "adx", "-l", "a=b"}, code: cli.ExitBadInput, stderr: []string{"cannot be combined"}},
		"bad goal":                 {reason: "names the allowed ones", args: []string{"wait", "--for", "happy"}, code: cli.ExitBadInput, stderr: []string{"ready, deleted"}},
		"negative timeout":         {reason: "0 is the word for no limit", args: []string{"wait", "--timeout", "-5s"}, code: cli.ExitBadInput, stderr: []string{"0 means no limit"}},
		"bad selector":             {reason: "shows the form", args: []string{"get", "-l", "prod"}, code: cli.ExitBadInput, stderr: []string{"key=value"}},
		"quote in selector":        {reason: "a selector never becomes part of another query", args: []string{"get", "-l", "a=b' OR ReconcilePhase='Ready"}, code: cli.ExitBadInput, stderr: []string{"quotes"}},
		"names and selector":       {reason: "one or the other", args: []string{"get", "adx", "-l", "a=b"}, code: cli.ExitBadInput, stderr: []string{"cannot be combined"}},
		"invalid ID":               {reason: "an ID is checked before any request", args: []string{"describe", "/subscriptions/../x"}, code: cli.ExitBadInput, stderr: []string{"not allowed"}},
		"unknown name":             {reason: "the message names the command that lists names", args: []string{"describe", "nobody"}, code: cli.ExitFailed, stderr: []string{`"nobody"`, "armature get"}},
		"unknown ID":               {reason: "the message states that it is not managed", args: []string{"describe", group}, code: cli.ExitFailed, stderr: []string{"not managed"}},
		"delete of an unknown one": {reason: "delete of what is not managed starts nothing", args: []string{"delete", group}, code: cli.ExitFailed, stderr: []string{"not managed"}},
		"version":                  {reason: "works without Temporal", args: []string{"version"}, code: cli.ExitOK},
		"help":                     {reason: "help is no failure", args: []string{"--help"}, code: cli.ExitOK},
		"completion":               {reason: "works without Temporal", args: []string{"completion", "fish"}, code: cli.ExitOK},
		"completion of a shell that is none": {
			reason: "an argument out of the list", args: []string{"completion", "cmd"}, code: cli.ExitBadInput, stderr: []string{"cmd", "bash, zsh, fish, powershell"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			folder := manifests(t, tc.files)
			for i, arg := range tc.args {
				tc.args[i] = strings.ReplaceAll(arg, "DIR", folder)
			}
			if code := w.run(tc.args...); code != tc.code {
				t.Errorf("%s: exit code %d, want %d\n%s", tc.reason, code, tc.code, w.err)
			}
			for _, text := range tc.stderr {
				if !strings.Contains(w.err.String(), text) {
					t.Errorf("%s: stderr lacks %q:\n%s", tc.reason, text, w.err)
				}
			}
			if n := len(w.temporal.sent) + len(w.temporal.started); n > 0 {
				t.Errorf("%s: %d messages were sent", tc.reason, n)
			}
		})
	}
}

// TestUnreachable is the real connection to a port where connection refused.
func TestUnreachable(t *testing.T) {
	w := newWorld()
	w.connect = connectTemporal
	w.environment = []string{"TEMPORAL_ADDRESS=127.0.0.1:1", "TEMPORAL_CONFIG_FILE=" + t.TempDir() + "/none.toml"}
	begun := time.Now()
	code := w.run("get")
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
	if code != cli.ExitUnreachable {
		t.Errorf("exit code %d, want %d", code, cli.ExitUnreachable)
	}
	for _, text := range []string{"127.0.0.1:1", "connection refused", "TEMPORAL_ADDRESS"} {
		if !strings.Contains(w.err.String(), text) {
			t.Errorf("stderr lacks %q: %s", text, w.err)
		}
	}
	if strings.Count(w.err.String(), "\n") != 1 {
		t.Errorf("stderr is not one sentence: %q", w.err)
	}
}

func TestBadTemporalConfiguration(t *testing.T) {
	w := newWorld()
	w.connect = connectTemporal
	w.environment = []string{"TEMPORAL_PROFILE=nobody", "TEMPORAL_CONFIG_FILE=" + t.TempDir() + "/none.toml"}
	if code := w.run("get"); code != cli.ExitBadInput {
		t.Errorf("exit code %d, want %d: %s", code, cli.ExitBadInput, w.err)
	}
}

func TestTaskQueueVariable(t *testing.T) {
	for name, tc := range map[string]struct {
		reason  string
		environ []string
		args    []string
		want    string
	}{
		"default":  {reason: "the workers' default", args: []string{"version"}, want: "armature"},
		"variable": {reason: "the variable beats the default", environ: []string{"ARMATURE_TASK_QUEUE=q1"}, args: []string{"version"}, want: "q1"},
		"flag":     {reason: "the flag beats the variable", environ: []string{"ARMATURE_TASK_QUEUE=q1"}, args: []string{"version", "--task-queue", "q2"}, want: "q2"},
		"foreign":  {reason: "other variables are the worker's business", environ: []string{"ARMATURE_AZURE_CLOUD=public"}, args: []string{"version"}, want: "armature"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.environment = tc.environ
			if code := w.run(tc.args...); code != cli.ExitOK || w.taskQueue != tc.want {
				t.Errorf("%s: code %d, queue %q, want %q", tc.reason, code, w.taskQueue, tc.want)
			}
		})
	}
}

func TestNoColor(t *testing.T) {
	for name, tc := range map[string]struct {
		reason  string
		environ []string
		want    bool
	}{
		"unset": {reason: "colors on a terminal", want: true},
		"set":   {reason: "any value turns them off", environ: []string{"NO_COLOR=0"}},
		"empty": {reason: "an empty one does not", environ: []string{"NO_COLOR="}, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (&app{environment: tc.environ}).wantsColor(); got != tc.want {
				t.Errorf("%s: %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}

// TestHelp verifies the help of every command; a command that is new has none yet.
func TestHelp(t *testing.T) {
	var all func(c *cobra.Command)
	all = func(c *cobra.Command) {
		words := strings.Fields(c.CommandPath())[1:]
		if len(words) > 0 && words[0] == "help" {
			return
		}
		t.Run(c.CommandPath(), func(t *testing.T) {
			w := newWorld()
			if code := w.run(append(words, "--help")...); code != cli.ExitOK {
				t.Errorf("exit code %d", code)
			}
			golden(t, strings.Join(append([]string{"help"}, words...), "-")+".txt", w.out.String())
		})
		for _, below := range c.Commands() {
			all(below)
		}
	}
	all(newWorld().rootCommand())
}
