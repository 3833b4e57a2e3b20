package workflows_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/armature-io/armature/workflows"
)

// TestFreezeMatches checks which resources a freeze stops.
func TestFreezeMatches(t *testing.T) {
	t.Parallel()
	prod := map[string]string{"stack": "prod", "team": "a"}
	for name, c := range map[string]struct {
		reason string
		freeze workflows.Freeze
		want   bool
	}{
		"everything":         {"no selector stops all", workflows.Freeze{}, true},
		"its labels":         {"the selector matches", workflows.Freeze{Selector: "stack=prod"}, true},
		"other labels":       {"the selector does not match", workflows.Freeze{Selector: "stack=dev"}, false},
		"unknown selector":   {"a later version wrote it", workflows.Freeze{Selector: "stack"}, true},
		"released":           {"an exception matches", workflows.Freeze{Except: []string{"stack=dev", "team=a"}}, false},
		"others released":    {"no exception matches", workflows.Freeze{Except: []string{"stack=dev"}}, true},
		"unknown exception":  {"a later version wrote it", workflows.Freeze{Except: []string{"stack"}}, true},
		"exception of all":   {"that would be no freeze", workflows.Freeze{Except: []string{""}}, true},
		"selector and parts": {"released from a freeze by labels", workflows.Freeze{Selector: "stack=prod", Except: []string{"team=a"}}, false},
	} {
		if got := c.freeze.Matches(prod); got != c.want {
			t.Errorf("%s: %s: %t, want %t", name, c.reason, got, c.want)
		}
	}
}

// TestConfirmedFreezes checks which freezes a worker confirms by those that it has read.
func TestConfirmedFreezes(t *testing.T) {
	t.Parallel()
	read := workflows.ConfirmFreezeResult{Frozen: []workflows.Freeze{{Selector: "stack=prod"}, {Except: []string{"stack=dev"}}}}
	for name, c := range map[string]struct {
		reason   string
		selector string
		want     bool
	}{
		"read":     {"the worker has it", "stack=prod", true},
		"unread":   {"the worker does not have it yet", "stack=dev", false},
		"released": {"the worker does not stop what was released", "", false},
	} {
		if got := read.Includes(workflows.Freeze{Selector: c.selector}); got != c.want {
			t.Errorf("%s: %s: %t, want %t", name, c.reason, got, c.want)
		}
	}
}

// TestReadFreezes checks which freezes the memo of the last run leaves in force.
func TestReadFreezes(t *testing.T) {
	t.Parallel()
	const running, terminated, completed = enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED, enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED
	began := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	prod := []workflows.Freeze{{Selector: "stack=prod", Since: began}}
	everything := []workflows.Freeze{{Since: began, Reason: "the workflow that keeps freezes does not say what it freezes"}}
	for name, c := range map[string]struct {
		reason       string
		status       enumspb.WorkflowExecutionStatus
		workflowType string
		memo         map[string]any
		want         []workflows.Freeze
		starts       []string
		unreadable   bool
		interrupted  bool
	}{
		"running":             {reason: "the memo has its freezes", status: running, memo: map[string]any{"frozen": prod, "starts": []string{"a"}}, want: prod, starts: []string{"a"}},
		"terminated":          {reason: "a terminated run lifts nothing", status: terminated, memo: map[string]any{"frozen": prod}, want: prod, interrupted: true},
		"completed":           {reason: "its last freeze was lifted", status: completed, memo: map[string]any{"frozen": prod}},
		"without freezes yet": {reason: "the server removes an empty list", status: running},
		"terminated, without": {reason: "no freeze was in force", status: terminated},
		"another workflow":    {reason: "somebody took the ID", status: running, workflowType: "other", want: everything, unreadable: true},
		"completed, another":  {reason: "it ended", status: completed, workflowType: "other"},
		"unreadable":          {reason: "the memo is no list of freezes", status: running, memo: map[string]any{"frozen": "x"}, want: everything, unreadable: true},
		"unreadable starts":   {reason: "nor are these starts", status: running, memo: map[string]any{"frozen": prod, "starts": 1}, want: everything, unreadable: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			info := &workflowpb.WorkflowExecutionInfo{
				Status: c.status, TaskQueue: "q", StartTime: timestamppb.New(began), Type: &commonpb.WorkflowType{Name: workflows.HoldFreezeWorkflow},
				Memo: &commonpb.Memo{Fields: map[string]*commonpb.Payload{}},
			}
			if c.workflowType != "" {
				info.Type.Name = c.workflowType
			}
			data := converter.GetDefaultDataConverter()
			for key, value := range c.memo {
				var err error
				if info.Memo.Fields[key], err = data.ToPayload(value); err != nil {
					t.Fatal(err)
				}
			}
			got := workflows.ReadFreezes(info, data)
			if diff := cmp.Diff(c.want, got.Frozen); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
			if !slices.Equal(c.starts, got.Starts) || got.Status != c.status || got.TaskQueue != "q" || got.Unreadable != c.unreadable {
				t.Errorf("%s: %+v", c.reason, got)
			}
			if got.Interrupted() != c.interrupted {
				t.Errorf("%s: interrupted is %t", c.reason, got.Interrupted())
			}
		})
	}
}

// TestLastFreezesSince checks which freeze a signed unfreeze names.
func TestLastFreezesSince(t *testing.T) {
	t.Parallel()
	prod, everything := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	last := workflows.LastFreezes{HoldFreezeInput: workflows.HoldFreezeInput{Frozen: []workflows.Freeze{{Since: everything}, {Selector: "stack=prod", Since: prod}}}}
	for name, c := range map[string]struct {
		reason   string
		unfreeze workflows.Freeze
		want     time.Time
	}{
		"lifted":               {"the freeze with its selector", workflows.Freeze{Selector: "stack=prod"}, prod},
		"lifted, not released": {"what it may lift comes first", workflows.Freeze{Selector: "stack=prod", Release: true}, prod},
		"released":             {"the freeze of everything", workflows.Freeze{Selector: "stack=dev", Release: true}, everything},
		"neither":              {"nothing has the selector", workflows.Freeze{Selector: "stack=dev"}, time.Time{}},
	} {
		if got := last.Since(c.unfreeze); !got.Equal(c.want) {
			t.Errorf("%s: %s: %s, want %s", name, c.reason, got, c.want)
		}
	}
}

// TestFreezeMemo checks that the memo of a start has the freezes, and starts only if there are any.
func TestFreezeMemo(t *testing.T) {
	t.Parallel()
	frozen := []workflows.Freeze{{Selector: "stack=prod"}}
	for name, c := range map[string]struct {
		reason string
		starts []string
		want   map[string]any
	}{
		"user":  {"a user froze it", nil, map[string]any{"frozen": frozen}},
		"start": {"a start froze it", []string{"a"}, map[string]any{"frozen": frozen, "starts": []string{"a"}}},
	} {
		got := workflows.FreezeStartOptions(workflows.HoldFreezeInput{Frozen: frozen, Starts: c.starts}, "q").Memo
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, c.reason, diff)
		}
	}
}

// sealer encrypts with a key, or not at all if it is "".
type sealer string

// sealedBy is a value that was encrypted with a key.
type sealedBy struct {
	Key   sealer
	Value json.RawMessage
}

func (s sealer) Seal(value any) ([]byte, error) {
	if s == "" {
		return nil, nil
	}
	text, err := json.Marshal(value)
	if s == "broken" || err != nil {
		return nil, errors.New("no key")
	}
	return json.Marshal(sealedBy{s, text})
}

func (s sealer) Unseal(sealed []byte, value any) error {
	var by sealedBy
	if err := json.Unmarshal(sealed, &by); err != nil || by.Key != s {
		return errors.New("another key")
	}
	return json.Unmarshal(by.Value, value)
}

// TestFreezeSeal checks who can read the author of a freeze.
func TestFreezeSeal(t *testing.T) {
	t.Parallel()
	freeze := workflows.Freeze{Selector: "stack=prod", By: "ada@host", Reason: "incident"}
	for name, c := range map[string]struct {
		reason   string
		seals    sealer
		opens    sealer
		isSealed bool
		want     workflows.Freeze
	}{
		"no encryption": {"the author stays clear", "", "k", false, freeze},
		"same key":      {"it was encrypted and decrypted", "k", "k", true, freeze},
		"another key": {
			"the freeze counts without its author", "k", "other", true,
			workflows.Freeze{Selector: "stack=prod", Reason: "author and reason are encrypted with a key that is not configured here"},
		},
	} {
		sealed, err := freeze.Seal(c.seals)
		if err != nil || (len(sealed.Sealed) > 0) != c.isSealed || c.isSealed && sealed.By+sealed.Reason != "" {
			t.Errorf("%s: %s: sealed as %+v, %v", name, c.reason, sealed, err)
		}
		if diff := cmp.Diff([]workflows.Freeze{c.want}, workflows.OpenAll([]workflows.Freeze{sealed}, c.opens)); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, c.reason, diff)
		}
	}
	if _, err := freeze.Seal(sealer("broken")); err == nil {
		t.Error("an author that cannot be encrypted is sent")
	}
}
