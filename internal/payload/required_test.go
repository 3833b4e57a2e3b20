package payload_test

import (
	"context"
	"strings"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/armature-io/armature/internal/payload"
)

// since is the time from which on the tests require encryption.
var since = time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)

// required returns converters that refuse clear payloads of runs from since on.
func required(t *testing.T, codecs ...converter.PayloadCodec) *payload.Converters {
	t.Helper()
	return embedded(t, payload.Options{Keys: []payload.Key{key("a", 1)}, WriteKey: "a", Require: since, Codecs: codecs})
}

const inClear = "in clear, and encryption.require refuses clear payloads since 2026-12-01T00:00:00Z"

// TestRequiredMemo checks that the start of a run decides whether its memo may be clear.
func TestRequiredMemo(t *testing.T) {
	t.Parallel()
	clear, err := payload.Clear().Data.ToPayload("a")
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		c      *payload.Converters
		id     string
		began  *timestamppb.Timestamp
		want   bool
	}{
		"before":       {"it was written in clear rightly", required(t), "adx", timestamppb.New(since.Add(-time.Second)), false},
		"at":           {"all encrypt from this time on", required(t), "adx", timestamppb.New(since), true},
		"later":        {"the same", required(t), "adx", timestamppb.New(since.Add(time.Hour)), true},
		"embedder":     {"a codec of an embedder leaves alone what it did not encode", required(t, reversing{name: "outer"}), "adx", timestamppb.New(since), true},
		"unknown":      {"nothing says that it is younger", required(t), "adx", nil, false},
		"freeze":       {"a freeze needs no key", required(t), payload.ClearWorkflowID, timestamppb.New(since), false},
		"not required": {"the setting is empty", converters(t, key("a", 1)), "adx", timestamppb.New(since), false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			info := &workflowpb.WorkflowExecutionInfo{Execution: &commonpb.WorkflowExecution{WorkflowId: tc.id}, StartTime: tc.began, Memo: &commonpb.Memo{Fields: map[string]*commonpb.Payload{"id": clear}}}
			err := tc.c.CheckMemo("prod", info)
			if (err != nil) != tc.want || tc.want && (!payload.IsUnreadable(err) || !strings.Contains(err.Error(), inClear)) {
				t.Errorf("%s: got %v, want an error: %t", tc.reason, err, tc.want)
			}
			if tc.id == payload.ClearWorkflowID {
				return
			}
			sealed, err := payload.At(payload.Place{Namespace: "prod", WorkflowID: tc.id}, tc.c.Data).ToPayload("a")
			if err != nil {
				t.Fatal(err)
			}
			info.Memo.Fields["id"] = sealed
			if err := tc.c.CheckMemo("prod", info); err != nil {
				t.Errorf("an encrypted memo is refused: %v", err)
			}
		})
	}
}

// TestRequireNeedsKey checks that no program requires what it does not do itself.
func TestRequireNeedsKey(t *testing.T) {
	t.Parallel()
	if _, err := payload.New(payload.Options{Keys: []payload.Key{key("a", 1)}, Require: since}); err == nil || !strings.Contains(err.Error(), "no key for writing") {
		t.Errorf("without a key for writing: %v", err)
	}
}

// clearly is a data converter of a sender without keys for some payloads, by their text.
type clearly struct{ converter.DataConverter }

func (c clearly) WithSerializationContext(ctx converter.SerializationContext) converter.DataConverter {
	return clearly{converter.WithDataConverterSerializationContext(c.DataConverter, ctx)}
}

func (c clearly) WithWorkflowContext(ctx workflow.Context) converter.DataConverter {
	if aware, ok := c.DataConverter.(workflow.ContextAware); ok {
		return clearly{aware.WithWorkflowContext(ctx)}
	}
	return c
}

func (c clearly) WithContext(ctx context.Context) converter.DataConverter {
	if aware, ok := c.DataConverter.(workflow.ContextAware); ok {
		return clearly{aware.WithContext(ctx)}
	}
	return c
}

func (c clearly) ToPayloads(values ...any) (*commonpb.Payloads, error) {
	for _, value := range values {
		if text, ok := value.(string); ok && strings.HasPrefix(text, "clear") {
			return converter.GetDefaultDataConverter().ToPayloads(values...)
		}
	}
	return c.DataConverter.ToPayloads(values...)
}

// conversation is a workflow that returns what it got, and sends each text to a step.
func conversation(ctx workflow.Context, input string) ([]string, error) {
	got := []string{input}
	err := workflow.SetUpdateHandler(ctx, "tell", func(_ workflow.Context, text string) error {
		got = append(got, text)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := workflow.SetQueryHandler(ctx, "ask", func(text string) (string, error) { return text, nil }); err != nil {
		return nil, err
	}
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
	for _, text := range []string{"clear step", "sealed step", "result"} {
		var result string
		if err := workflow.ExecuteActivity(ctx, "Step", text).Get(ctx, &result); err != nil {
			result = "failed: " + err.Error()
		}
		got = append(got, result)
	}
	for {
		var text string
		if more := workflow.GetSignalChannel(ctx, "signal").Receive(ctx, &text); !more || text == "sealed end" {
			return got, nil
		}
		got = append(got, text)
	}
}

// TestRequiredMessages sends each kind of payload in clear and encrypted to a run that began
// before, and to one that began after encryption was required.
//
//guard:what-is-encrypted-stays-whole
func TestRequiredMessages(t *testing.T) {
	t.Parallel()
	for name, began := range map[string]time.Time{"before": since.Add(-time.Hour), "after": since.Add(time.Hour)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refused := began.After(since)
			suite := &testsuite.WorkflowTestSuite{}
			env := suite.NewTestWorkflowEnvironment()
			env.SetStartTime(began)
			env.SetDataConverter(clearly{payload.At(runPlace, required(t).Data)})
			env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{payload.NewInterceptor()}})
			env.RegisterWorkflow(conversation)
			outcomes := map[string]error{}
			update := func(text string) {
				env.UpdateWorkflow("tell", text, &testsuite.TestUpdateCallback{
					OnReject:   func(err error) { outcomes[text] = err },
					OnAccept:   func() {},
					OnComplete: func(any, error) { outcomes[text] = nil },
				}, text)
			}
			env.RegisterDelayedCallback(func() {
				update("clear update")
				update("sealed update")
				env.SignalWorkflow("signal", "clear signal")
				env.SignalWorkflow("signal", "sealed signal")
				for _, text := range []string{"clear query", "sealed query"} {
					_, outcomes[text] = env.QueryWorkflow("ask", text)
				}
				env.SignalWorkflow("signal", "sealed end")
			}, time.Minute)
			env.RegisterActivityWithOptions(func(_ context.Context, text string) (string, error) {
				if text == "result" {
					return "clear result", nil
				}
				return "did " + text, nil
			}, activityName("Step"))
			env.ExecuteWorkflow(conversation, "sealed input")
			if err := env.GetWorkflowError(); err != nil {
				t.Fatal(err)
			}
			var got []string
			if err := env.GetWorkflowResult(&got); err != nil {
				t.Fatal(err)
			}
			all := strings.Join(got, "; ")
			for _, text := range []string{"sealed input", "did sealed step", "sealed update", "sealed signal"} {
				if !strings.Contains(all, text) {
					t.Errorf("the run did not get %q: %s", text, all)
				}
			}
			for _, text := range []string{"did clear step", "; clear result", "clear update", "clear signal"} {
				if strings.Contains(all, text) == refused {
					t.Errorf("the run got %q: %t, want %t: %s", text, !refused, refused, all)
				}
			}
			for _, text := range []string{"clear update", "clear query"} {
				if err := outcomes[text]; (err != nil) != refused || refused && !strings.Contains(err.Error(), inClear) {
					t.Errorf("%s returned %v", text, err)
				}
				if err := outcomes[strings.Replace(text, "clear", "sealed", 1)]; err != nil {
					t.Errorf("%s, encrypted, returned %v", text, err)
				}
			}
		})
	}
}

// TestRequiredSteps reads clear payloads in an activity. The time at which it was scheduled
// decides about its own, and about no results of other workflows that it reads as a client.
func TestRequiredSteps(t *testing.T) {
	t.Parallel()
	clear, err := payload.Clear().Data.ToPayload("a")
	if err != nil {
		t.Fatal(err)
	}
	suite := &testsuite.WorkflowTestSuite{}
	env := suite.NewTestActivityEnvironment()
	step := func(ctx context.Context) error {
		scheduled := activity.GetInfo(ctx).ScheduledTime
		places := map[string]converter.SerializationContext{
			"of a workflow": converter.ActivitySerializationContext{Namespace: "prod", WorkflowID: "adx", ActivityType: "Step"},
			"standalone":    converter.ActivitySerializationContext{Namespace: "prod", ActivityType: "Step"},
			"a client":      converter.WorkflowSerializationContext{Namespace: "prod", WorkflowID: "other"},
			"the brake":     converter.ActivitySerializationContext{Namespace: "prod", ActivityType: payload.ClearActivity},
		}
		for name, place := range places {
			for _, require := range []time.Time{scheduled, scheduled.Add(time.Second)} {
				c := embedded(t, payload.Options{Keys: []payload.Key{key("a", 1)}, WriteKey: "a", Require: require})
				at, _ := converter.WithDataConverterSerializationContext(c.Data, place).(workflow.ContextAware)
				var got string
				err := at.WithContext(ctx).FromPayload(clear, &got)
				want := require.Equal(scheduled) && (name == "of a workflow" || name == "standalone")
				if refused := payload.IsUnreadable(err); refused != want || !want && got != "a" {
					t.Errorf("%s, scheduled %s before: read %q with %v", name, require.Sub(scheduled), got, err)
				}
			}
		}
		return nil
	}
	env.RegisterActivity(step)
	if _, err := env.ExecuteActivity(step); err != nil {
		t.Fatal(err)
	}
}

// TestRequiredInput starts a run with a clear input, and continues one with it.
func TestRequiredInput(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason    string
		began     time.Time
		continued string
		ran, ends bool
	}{
		"before":    {reason: "it is read as ever", began: since.Add(-time.Hour), ran: true},
		"started":   {reason: "a sender without keys gets no run", began: since.Add(time.Hour), ends: true},
		"continued": {reason: "a worker without a key for writing continued it: the task fails, and the run stays", began: since.Add(time.Hour), continued: "former"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			suite := &testsuite.WorkflowTestSuite{}
			env := suite.NewTestWorkflowEnvironment()
			env.SetStartTime(tc.began)
			env.SetDataConverter(clearly{payload.At(runPlace, required(t).Data)})
			env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{payload.NewInterceptor()}})
			env.SetContinuedExecutionRunID(tc.continued)
			ran := false
			reads := func(workflow.Context, string) error { ran = true; return nil }
			env.RegisterWorkflow(reads)
			env.ExecuteWorkflow(reads, "clear input")
			err := env.GetWorkflowError()
			if ran != tc.ran || (err == nil) != tc.ran || err != nil && !strings.Contains(err.Error(), inClear) {
				t.Errorf("%s: the run took its input: %t, and ended with %v", tc.reason, ran, err)
			}
			// The SDK fails the workflow by an error of its own, and the task by the one that was thrown.
			if ends := err != nil && strings.Contains(err.Error(), "unable to decode the workflow function input"); ends != tc.ends {
				t.Errorf("%s: the run ends: %t, want %t", tc.reason, ends, tc.ends)
			}
		})
	}
}

func activityName(name string) activity.RegisterOptions { return activity.RegisterOptions{Name: name} }
