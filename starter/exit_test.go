package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/serviceerror"
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
			code: exitBadInput, stderr: []string{"nothing was started", "a.yaml:"},
		},
		"unknown field and missing api-version": {
			reason: "all faults of all files at once",
			files:  map[string]string{"a.yaml": "type: Microsoft.Kusto/clusters\nname: a\nbody: {}\n", "b.yaml": "tpye: x\n"},
			args:   []string{"apply", "-f", "DIR"}, code: exitBadInput, stderr: []string{"a.yaml:1", "b.yaml:1", "tpye"},
		},
		"faults of delete -f": {
			reason: "the same check before a deletion",
			files:  map[string]string{"a.yaml": "tpye: x\n"}, args: []string{"delete", "-f", "DIR"},
			code: exitBadInput, stderr: []string{"nothing was started", "tpye"},
		},
		"subscription that is no GUID": {
			reason: "a flag is checked like a manifest",
			args:   []string{"apply", "-f", good, "--subscription", "prod"}, code: exitBadInput, stderr: []string{"--subscription", "GUID"},
		},
		"apply without -f":         {reason: "says what it needs", args: []string{"apply"}, code: exitBadInput, stderr: []string{"-f PATH"}},
		"unknown command":          {reason: "cobra's own error is bad input", args: []string{"aply"}, code: exitBadInput, stderr: []string{`unknown command "aply"`}},
		"unknown flag":             {reason: "names the help", args: []string{"get", "--nmae"}, code: exitBadInput, stderr: []string{"--nmae", "armature get --help"}},
		"argument too many":        {reason: "cobra's argument checks are bad input", args: []string{"version", "now"}, code: exitBadInput, stderr: []string{"armature version --help"}},
		"unknown output format":    {reason: "names the allowed ones", args: []string{"get", "-o", "xml"}, code: exitBadInput, stderr: []string{"table, wide, json, yaml"}},
		"force without reason":     {reason: "the history must say why", args: []string{"reconcile", "adx", "--force"}, code: exitBadInput, stderr: []string{"--force needs --reason"}},
		"reconcile of nothing":     {reason: "everything is never meant by accident", args: []string{"reconcile"}, code: exitBadInput, stderr: []string{"name the resources"}},
		"delete of nothing":        {reason: "everything is never meant by accident", args: []string{"delete"}, code: exitBadInput, stderr: []string{"name the resources", "-f PATH"}},
		"why in XML":               {reason: "the formats are those of get", args: []string{"why", "-o", "xml"}, code: exitBadInput, stderr: []string{"table, wide, json, yaml"}},
		"why of an unknown name":   {reason: "says how to list names", args: []string{"why", "nobody"}, code: exitFailed, stderr: []string{`"nobody"`}},
		"why of an unknown ID":     {reason: "what to do is told, and the code says that nobody manages it", args: []string{"why", group}, code: exitFailed, stderr: []string{"not managed"}},
		"why by name and selector": {reason: "one or the other", args: []string{"why", "adx", "-l", "a=b"}, code: exitBadInput, stderr: []string{"not by both"}},
		"bad goal":                 {reason: "names the allowed ones", args: []string{"wait", "--for", "happy"}, code: exitBadInput, stderr: []string{"ready, deleted"}},
		"negative timeout":         {reason: "0 is the word for no limit", args: []string{"wait", "--timeout", "-5s"}, code: exitBadInput, stderr: []string{"0 means no limit"}},
		"bad selector":             {reason: "shows the form", args: []string{"get", "-l", "prod"}, code: exitBadInput, stderr: []string{"key=value"}},
		"quote in selector":        {reason: "a selector never becomes part of another query", args: []string{"get", "-l", "a=b' OR ReconcilePhase='Ready"}, code: exitBadInput, stderr: []string{"quotes"}},
		"names and selector":       {reason: "one or the other", args: []string{"get", "adx", "-l", "a=b"}, code: exitBadInput, stderr: []string{"not by both"}},
		"faulty ID":                {reason: "an ID is checked before any request", args: []string{"describe", "/subscriptions/../x"}, code: exitBadInput, stderr: []string{"not allowed"}},
		"unknown name":             {reason: "says how to list names", args: []string{"describe", "nobody"}, code: exitFailed, stderr: []string{`"nobody"`, "armature get"}},
		"unknown ID":               {reason: "says that it is not managed", args: []string{"describe", group}, code: exitFailed, stderr: []string{"not managed"}},
		"delete of an unknown one": {reason: "delete of what is not managed starts nothing", args: []string{"delete", group}, code: exitFailed, stderr: []string{"not managed"}},
		"version":                  {reason: "works without Temporal", args: []string{"version"}, code: exitOK},
		"help":                     {reason: "help is no failure", args: []string{"--help"}, code: exitOK},
		"completion":               {reason: "works without Temporal", args: []string{"completion", "fish"}, code: exitOK},
		"completion of a shell that is none": {
			reason: "an argument out of the list", args: []string{"completion", "cmd"}, code: exitBadInput, stderr: []string{"cmd", "bash, zsh, fish, powershell"}},
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

// TestUnreachable is the real connection to a port where nobody listens.
func TestUnreachable(t *testing.T) {
	w := newWorld()
	w.connect = connectTemporal
	w.environ = []string{"TEMPORAL_ADDRESS=127.0.0.1:1", "TEMPORAL_CONFIG_FILE=" + t.TempDir() + "/none.toml"}
	begun := time.Now()
	code := w.run("get")
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
	if code != exitUnreachable {
		t.Errorf("exit code %d, want %d", code, exitUnreachable)
	}
	for _, text := range []string{"127.0.0.1:1", "nobody listens", "TEMPORAL_ADDRESS"} {
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
	w.environ = []string{"TEMPORAL_PROFILE=nobody", "TEMPORAL_CONFIG_FILE=" + t.TempDir() + "/none.toml"}
	if code := w.run("get"); code != exitBadInput {
		t.Errorf("exit code %d, want %d: %s", code, exitBadInput, w.err)
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
			w.environ = tc.environ
			if code := w.run(tc.args...); code != exitOK || w.taskQueue != tc.want {
				t.Errorf("%s: code %d, queue %q, want %q", tc.reason, code, w.taskQueue, tc.want)
			}
		})
	}
}

func TestTranslate(t *testing.T) {
	client := &temporalClient{namespace: "default", taskQueue: "q1"}
	cases := map[string]struct {
		reason string
		err    error
		code   int
		text   string
	}{
		"deadline":          {reason: "nobody took the update", err: serviceerror.NewDeadlineExceeded("x"), code: exitUnreachable, text: "no worker answers on task queue q1"},
		"context deadline":  {reason: "the SDK gave up", err: context.DeadlineExceeded, code: exitUnreachable, text: "no worker answers on task queue q1"},
		"no poller":         {reason: "the server knows that nobody polls", err: serviceerror.NewFailedPrecondition("no poller"), code: exitUnreachable, text: "no worker answers"},
		"away":              {reason: "the server went away", err: serviceerror.NewUnavailable("gone"), code: exitUnreachable, text: "reach Temporal"},
		"not found":         {reason: "no workflow runs", err: serviceerror.NewNotFound("x"), code: exitFailed, text: "not managed"},
		"namespace":         {reason: "configuration", err: serviceerror.NewNamespaceNotFound("default"), code: exitBadInput, text: "TEMPORAL_NAMESPACE"},
		"denied":            {reason: "rights", err: serviceerror.NewPermissionDenied("no", ""), code: exitFailed, text: "rights"},
		"search attributes": {reason: "names the command", err: serviceerror.NewInvalidArgument("Namespace default has no mapping defined for search attribute ArmType"), code: exitFailed, text: "armature setup"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := asFault(client.translate(context.Background(), tc.err))
			if exitCode(err) != tc.code || !strings.Contains(err.Error(), tc.text) {
				t.Errorf("%s: code %d, %v; want code %d, %q", tc.reason, exitCode(err), err, tc.code, tc.text)
			}
		})
	}
}
