package starter

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/google/go-cmp/cmp"
	commonpb "go.temporal.io/api/common/v1"
)

// seal encrypts the memos of rows with a key that no command has.
func (f *frontend) seal(t *testing.T, rows ...int) {
	t.Helper()
	keyed, err := payload.New(payload.Options{WriteKey: "lost", Keys: []payload.Key{{ID: "lost", Secret: bytes.Repeat([]byte{1}, payload.KeySize)}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range rows {
		for name, field := range f.rows[i].GetMemo().GetFields() {
			sealed, err := keyed.Codec.Encode([]*commonpb.Payload{field})
			if err != nil {
				t.Fatal(err)
			}
			f.rows[i].Memo.Fields[name] = sealed[0]
		}
	}
}

const missingKey = "encrypted with the key lost, which is not configured here"

// TestUnreadableRow checks that a list shows a workflow that it cannot read as a row, beside
// all others.
func TestUnreadableRow(t *testing.T) {
	cases := map[string]struct {
		args []string
		code int
		want []string
	}{
		"get":         {args: []string{"get"}, want: []string{"d00001", "d00000", "Unreadable", missingKey, "1 workflow is unreadable here and protected", "temporal workflow terminate"}},
		"get by name": {args: []string{"get", "d00000", "d00001"}, want: []string{"d00001", "Unreadable", missingKey}},
		"get JSON":    {args: []string{"get", "-o", "json"}, want: []string{`"unreadable": "` + missingKey, `"policy": "protect"`, `/databases/d00001"`}},
		"get phase":   {args: []string{"get", "--phase", "unreadable"}, want: []string{"d00000"}},
		"describe":    {args: []string{"describe", "d00000"}, want: []string{"Unreadable", missingKey}},
		"why":         {args: []string{"why"}, want: []string{missingKey, "configure its key", "59 of 60 resources are Ready"}},
		"wait":        {args: []string{"wait", "--timeout", "1m"}, code: cli.ExitFailed, want: []string{"it cannot be read here: it is " + missingKey}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f, w := startFrontend(t, "postgres12", 60)
			f.seal(t, 0)
			code := w.run(tc.args...)
			out := w.out.String() + w.err.String()
			if code != tc.code {
				t.Errorf("exit code %d, want %d:\n%s", code, tc.code, out)
			}
			for _, want := range tc.want {
				if !strings.Contains(out, want) {
					t.Errorf("want %q in\n%s", want, out)
				}
			}
		})
	}
}

// TestKeysOfTaskQueue checks that a command sends nothing if it can read no workflow of its
// task queue, and that one that it cannot read stops nothing.
func TestKeysOfTaskQueue(t *testing.T) {
	cases := map[string]struct {
		reason       string
		rows, sealed int
		taskQueue    string
		sent, lists  int
		note         string
	}{
		"all":           {reason: "the spec would be stored in clear", rows: 3, sealed: 3, lists: 1, note: "nothing is sent: this armature can read none of the 3 workflows of task queue armature"},
		"another queue": {reason: "the workflows of others do not count", rows: 3, sealed: 3, taskQueue: "elsewhere", sent: 1, lists: 1},
		"some":          {reason: "one workflow stops nothing", rows: 3, sealed: 1, sent: 1, lists: 1, note: "1 of the newest 3 workflows of task queue armature cannot be read here"},
		"the newest":    {reason: "many forged ones stop nothing while older ones can be read", rows: 300, sealed: 290, sent: 1, lists: 3, note: "cannot be read here"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f, w := startFrontend(t, "postgres12", tc.rows)
			for i := range tc.sealed {
				f.seal(t, i)
				if tc.taskQueue != "" {
					f.rows[i].TaskQueue = tc.taskQueue
				}
			}
			file := manifests(t, map[string]string{"script.yaml": fmt.Sprintf("type: Microsoft.Kusto/clusters/databases/scripts@2023-08-15\nname: s\nowner: %s/databases/d\nbody: {}\n", cluster)})
			code := w.run("apply", "-f", file, "--validation", "off")
			got := map[string]int{"sent": f.sent("ExecuteMultiOperation"), "lists": f.sent("ListWorkflowExecutions")}
			if diff := cmp.Diff(map[string]int{"sent": tc.sent, "lists": tc.lists}, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s%s", tc.reason, diff, w.err)
			}
			if text := w.err.String(); !strings.Contains(text, tc.note) || tc.note == "" && strings.Contains(text, "cannot be read") {
				t.Errorf("%s: want %q in\n%s", tc.reason, tc.note, text)
			}
			if tc.sent == 0 && (code != cli.ExitBadInput || !strings.Contains(w.err.String(), "or --encryption-keys")) {
				t.Errorf("%s: exit code %d, want %d and the remedy:\n%s", tc.reason, code, cli.ExitBadInput, w.err)
			}
		})
	}
}
