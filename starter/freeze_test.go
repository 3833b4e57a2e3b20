package starter

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/armature-io/armature/internal/signing"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
)

func (f *fakeTemporal) Freeze(_ context.Context, freeze workflows.Freeze) (result workflows.FreezeResult, err error) {
	err = f.Update(context.Background(), workflows.FreezeWorkflowID, backend.Message{Name: workflows.FreezeUpdate, Input: freeze, Result: &result})
	return result, err
}

func (f *fakeTemporal) Unfreeze(_ context.Context, freeze workflows.Freeze, _ *signing.Signer) (result workflows.FreezeResult, err error) {
	err = f.Update(context.Background(), workflows.FreezeWorkflowID, backend.Message{Name: workflows.UnfreezeUpdate, Input: freeze, Result: &result})
	return result, err
}

func (f *fakeTemporal) ConfirmFreeze(context.Context, workflows.Freeze) (backend.Confirmation, error) {
	return f.confirmation, f.confirmErr
}

func (f *fakeTemporal) Freezes(context.Context) ([]workflows.Freeze, bool, error) {
	return f.freezes, f.interrupted, nil
}

func TestFreeze(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   []string
		answer workflows.FreezeResult
		err    error
		exit   int
		want   string
		sent   workflows.Freeze
	}{
		"everything": {
			reason: "without a selector every write stops",
			args:   []string{"freeze", "--reason", "a bad release"}, answer: workflows.FreezeResult{Changed: true},
			want: "everything  frozen: no PUT and no DELETE is sent (within 5 s), reads continue; `armature unfreeze` lifts the freeze",
			sent: workflows.Freeze{By: "ana@laptop", Reason: "a bad release"},
		},
		"labels": {
			reason: "a selector freezes a part, and the end of it needs the same one",
			args:   []string{"freeze", "-l", "stack=prod"},
			answer: workflows.FreezeResult{Changed: true, Frozen: []workflows.Freeze{{Selector: "stack=dev", By: "bob@host", Since: noon()}, {Selector: "stack=prod"}}},
			want:   "`armature unfreeze -l stack=prod` lifts the freeze\n  also frozen: stack=dev, by bob@host (unverified) since 2026-11-21 12:00:00Z",
			sent:   workflows.Freeze{By: "ana@laptop", Selector: "stack=prod"},
		},
		"repeated": {
			reason: "a freeze may be repeated", args: []string{"freeze"}, want: "everything  already frozen",
			sent: workflows.Freeze{By: "ana@laptop"},
		},
		"not a selector": {reason: "nothing is sent", args: []string{"freeze", "-l", "prod"}, exit: cli.ExitBadInput, want: `"prod" is not key=value`},
		"unfreeze": {
			reason: "waiting resources continue", args: []string{"unfreeze"}, answer: workflows.FreezeResult{Changed: true},
			want: "everything  no longer frozen", sent: workflows.Freeze{By: "ana@laptop"},
		},
		"nothing to unfreeze": {
			reason: "without a freeze there is nothing to lift", args: []string{"unfreeze"}, err: backend.ErrNotManaged,
			want: "everything  was not frozen", sent: workflows.Freeze{By: "ana@laptop"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.temporal.answers = map[string]any{workflows.FreezeWorkflowID: c.answer}
			w.temporal.errs = map[string]error{workflows.FreezeWorkflowID: c.err}
			exit := w.run(c.args...)
			if out := w.out.String() + w.err.String(); exit != c.exit || !strings.Contains(out, c.want) {
				t.Errorf("%s: exit %d and\n%s\nwant exit %d and %q", c.reason, exit, out, c.exit, c.want)
			}
			if c.exit != 0 {
				if len(w.temporal.inputs) > 0 {
					t.Errorf("sent %v", w.temporal.inputs)
				}
			} else if len(w.temporal.inputs) != 1 || !reflect.DeepEqual(w.temporal.inputs[0], any(c.sent)) {
				t.Errorf("sent %+v, want %+v", w.temporal.inputs, c.sent)
			}
		})
	}
}

// TestGetNotesFreezes verifies that a list of Ready resources does not hide that writes
// are frozen.
func TestGetNotesFreezes(t *testing.T) {
	w := newWorld()
	w.temporal.freezes = []workflows.Freeze{{Selector: "stack=prod", By: "ada@host", Reason: "INC-42", Since: noon()}}
	w.run("get")
	if want := "note: frozen: stack=prod, by ada@host (unverified) since 2026-11-21 12:00:00Z: INC-42; reads continue, no PUT and no DELETE is sent; `armature unfreeze -l stack=prod` lifts the freeze"; !strings.Contains(w.err.String(), want) {
		t.Errorf("get notes beside the list\n%s\nwant %s", w.err.String(), want)
	}
}

// TestFreezeConfirmed verifies that a freeze names the workers that have not confirmed it,
// and that it is in force all the same.
func TestFreezeConfirmed(t *testing.T) {
	const silent = "7@host (no answer within 3s; last poll 40s ago)"
	for name, tc := range map[string]struct {
		reason       string
		confirmation backend.Confirmation
		err          error
		out, note    string
	}{
		"all":         {reason: "each has read it", confirmation: backend.Confirmation{Workers: 2}, out: "\n  confirmed by 2 workers\n"},
		"none runs":   {reason: "the next one reads it before it writes"},
		"one of them": {reason: "it may be stopped", confirmation: backend.Confirmation{Workers: 2, Silent: []string{silent}}, note: "the freeze is set, and not confirmed by 1 of 2 workers: " + silent},
		"an old server": {
			reason: "nothing can be asked", confirmation: backend.Confirmation{Workers: 2, Unsupported: true}, note: "this Temporal server cannot ask the workers",
		},
		"an error": {reason: "the freeze was set before", err: cli.Unreachable("gone"), note: "whether the workers have read it is unknown: gone"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.temporal.answers = map[string]any{workflows.FreezeWorkflowID: workflows.FreezeResult{Changed: true}}
			w.temporal.confirmation, w.temporal.confirmErr = tc.confirmation, tc.err
			if code := w.run("freeze"); code != cli.ExitOK {
				t.Errorf("%s: exit code %d", tc.reason, code)
			}
			if !strings.Contains(w.out.String(), tc.out) || strings.Contains(w.out.String(), "confirmed") != (tc.out != "") {
				t.Errorf("%s: the output is\n%s", tc.reason, w.out)
			}
			if !strings.Contains(w.err.String(), tc.note) || (tc.note == "") != (w.err.Len() == 0) {
				t.Errorf("%s: the note is %q, want %q", tc.reason, w.err, tc.note)
			}
		})
	}
}
