package activities

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/resource"
)

// short gives every activity a timeout, and is outside the interceptor under test.
type short struct {
	interceptor.WorkerInterceptorBase
	timeout time.Duration
}

func (s *short) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	link := &shortActivity{timeout: s.timeout}
	link.Next = next
	return link
}

type shortActivity struct {
	interceptor.ActivityInboundInterceptorBase
	timeout time.Duration
}

func (s *shortActivity) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return s.Next.ExecuteActivity(ctx, in)
}

// incompressible returns a JSON text of about a size that no compression makes smaller
// than three quarters of it.
func incompressible(size int) json.RawMessage {
	raw := make([]byte, 0, size)
	for block := sha256.Sum256(nil); len(raw) < size*3/4; block = sha256.Sum256(block[:]) {
		raw = append(raw, block[:]...)
	}
	text, _ := json.Marshal(base64.StdEncoding.EncodeToString(raw))
	return text
}

// TestActivitiesEndInWords checks that a panic, silence and a result that Temporal would
// refuse become an error that is not repeated and names its reason, and that everything
// else is as the activity returned it.
//
//guard:a-pass-ends-in-words
func TestActivitiesEndInWords(t *testing.T) {
	t.Parallel()
	large := incompressible(3_000_000)
	cases := map[string]struct {
		reason  string
		step    func(context.Context) (GetResourceResult, error)
		timeout time.Duration
		local   bool
		// kind is the type of the error, "" for none.
		kind     string
		retried  bool
		parts    []string
		observed int
	}{
		"panics": {
			reason: "Temporal would repeat it for half an hour", kind: "CheckFailed", parts: []string{"GetResource panicked: no such shelf", "the worker's log has the stack"},
			step: func(context.Context) (GetResourceResult, error) { panic("no such shelf") },
		},
		"never returns": {
			reason: "the attempt ends before its timeout, in words", kind: "CheckFailed", timeout: 4 * time.Second, parts: []string{"GetResource gave no result within"},
			step: func(context.Context) (GetResourceResult, error) { select {} },
		},
		"check that never returns": {
			reason: "local activities too", kind: "CheckFailed", timeout: 4 * time.Second, local: true, parts: []string{"gave no result within"},
			step: func(context.Context) (GetResourceResult, error) { select {} },
		},
		"3 MB body": {
			reason: "2.3 MB after compression", kind: "ObservedTooLarge", parts: []string{"Temporal stores at most 1.9 MB"},
			step: func(context.Context) (GetResourceResult, error) { return GetResourceResult{Observed: large}, nil },
		},
		"3 MB body that compresses": {
			reason: "the size after compression counts", observed: 3_000_002,
			step: func(context.Context) (GetResourceResult, error) {
				return GetResourceResult{Observed: json.RawMessage(`"` + strings.Repeat("a", 3_000_000) + `"`)}, nil
			},
		},
		"no JSON": {
			reason: "a result that cannot be encoded is not repeated either", kind: "ObservedTooLarge", parts: []string{"cannot be stored"},
			step: func(context.Context) (GetResourceResult, error) {
				return GetResourceResult{Observed: json.RawMessage(strings.Repeat("x", 2*minEncodedBytes))}, nil
			},
		},
		"error": {
			reason: "an error carries its own retry", kind: ErrorNotYet, retried: true,
			step: func(context.Context) (GetResourceResult, error) {
				return GetResourceResult{}, notYet("later", time.Second)
			},
		},
		"small": {
			reason: "most results", observed: 2,
			step: func(context.Context) (GetResourceResult, error) {
				return GetResourceResult{Observed: json.RawMessage(`{}`)}, nil
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			var suite testsuite.WorkflowTestSuite
			suite.SetLogger(quiet{})
			env := suite.NewTestActivityEnvironment()
			timeout := c.timeout
			if timeout == 0 {
				timeout = time.Minute
			}
			env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{&short{timeout: timeout}, NewInterceptor(w.acts, payload.DataConverter())}})
			env.RegisterActivityWithOptions(c.step, activity.RegisterOptions{Name: "GetResource"})
			var got GetResourceResult
			begun := time.Now()
			execute := env.ExecuteActivity
			if c.local {
				execute = env.ExecuteLocalActivity
			}
			encoded, err := execute(c.step)
			if c.timeout > 0 && time.Since(begun) >= c.timeout {
				t.Errorf("%s: it took %s", c.reason, time.Since(begun))
			}
			if c.kind == "" {
				must(t, err)
				must(t, encoded.Get(&got))
				if len(got.Observed) != c.observed {
					t.Errorf("%s: the body has %d bytes, want %d", c.reason, len(got.Observed), c.observed)
				}
				return
			}
			var failure *temporal.ApplicationError
			if !errors.As(err, &failure) || failure.Type() != c.kind || failure.NonRetryable() == c.retried {
				t.Fatalf("%s: got %v, want %s", c.reason, err, c.kind)
			}
			for _, part := range c.parts {
				if !strings.Contains(failure.Message(), part) {
					t.Errorf("%s: message %q does not contain %q", c.reason, failure.Message(), part)
				}
			}
			if want := resource.Reason(c.kind); !c.retried && (len(w.verdicts) != 1 || w.verdicts[0].Reason != want) {
				t.Errorf("%s: the metric counts %+v, want %s", c.reason, w.verdicts, want)
			}
		})
	}
}

// TestStuckAttemptsAreCounted checks which failed attempts the metric of verdicts counts:
// an activity gives up by itself after maxTransientErrors.
func TestStuckAttemptsAreCounted(t *testing.T) {
	t.Parallel()
	broken := temporal.NewApplicationError("no space left", "DiskFull")
	for name, c := range map[string]struct {
		attempt int32
		err     error
		want    int
	}{
		"early":  {attempt: maxTransientErrors, err: broken},
		"stuck":  {attempt: maxTransientErrors + 1, err: broken, want: 1},
		"benign": {attempt: 99, err: notYet("in progress", time.Second)},
		"done":   {attempt: 99},
	} {
		w := newWorld(t)
		w.attempt = c.attempt - 1
		link := &wrapped{world: w}
		_, _ = run(w, func(ctx context.Context, _ string) (string, error) {
			_, err := link.through(ctx, c.err)
			return "", err
		}, "")
		if len(w.verdicts) != c.want || c.want > 0 && w.verdicts[0].Reason != resource.ReasonStuck {
			t.Errorf("%s: counted %+v, want %d", name, w.verdicts, c.want)
		}
	}
}

// wrapped runs the interceptor inside an activity.
type wrapped struct {
	interceptor.ActivityInboundInterceptorBase
	world *world
	err   error
}

func (w *wrapped) through(ctx context.Context, err error) (any, error) {
	w.err = err
	link := &endingActivity{activities: w.world.acts}
	link.Next = w
	return link.ExecuteActivity(ctx, &interceptor.ExecuteActivityInput{})
}

func (w *wrapped) ExecuteActivity(context.Context, *interceptor.ExecuteActivityInput) (any, error) {
	return nil, w.err
}

// TestPanicIsLogged checks that the log has the stack of a panic, and neither the log nor
// the verdict a secret in its text.
func TestPanicIsLogged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet{})
	env := suite.NewTestActivityEnvironment()
	env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{NewInterceptor(w.acts, payload.DataConverter())}})
	step := func(context.Context) error { panic("AccountName=a;AccountKey=" + planted + ";") }
	env.RegisterActivity(step)
	_, err := env.ExecuteActivity(step)
	if w.leaks(planted, err); !strings.Contains(w.log.String(), "TestPanicIsLogged") {
		t.Errorf("the log has no stack: %s", w.log.String())
	}
}

// TestCanceledActivityEnds checks that an activity that ignores its cancellation frees its
// slot of the worker.
func TestCanceledActivityEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	link := &endingActivity{activities: w.acts}
	link.Next = &blocked{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := link.ExecuteActivity(ctx, &interceptor.ExecuteActivityInput{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the cancellation", err)
	}
}

// TestActivityWithoutHeartbeat checks whom an attempt blames that ended because the SDK canceled it.
func TestActivityWithoutHeartbeat(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reason string
		cause  error
		want   resource.Reason
	}{
		"slow":     {"the heartbeat had no answer", serviceerror.NewDeadlineExceeded("late"), resource.ReasonTemporalSlow},
		"away":     {"the connection was refused", serviceerror.NewUnavailable("refused"), resource.ReasonTemporalUnavailable},
		"canceled": {"the workflow canceled it: its result is of no use", temporal.NewCanceledError(), ""},
		"replaced": {"another attempt has begun", serviceerror.NewNotFound("no such task"), ""},
	} {
		w := newWorld(t)
		link := &endingActivity{activities: w.acts}
		link.Next = &interrupted{}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(c.cause)
		_, err := link.ExecuteActivity(ctx, &interceptor.ExecuteActivityInput{})
		failure, _ := errors.AsType[*temporal.ApplicationError](err)
		if got := failure != nil; got != (c.want != "") || got && (failure.Type() != string(c.want) || failure.NonRetryable()) {
			t.Errorf("%s (%s): got %v, want it retried with the reason %q", name, c.reason, err, c.want)
		}
	}
}

// interrupted is an activity whose request ends with its context.
type interrupted struct {
	interceptor.ActivityInboundInterceptorBase
}

func (*interrupted) ExecuteActivity(ctx context.Context, _ *interceptor.ExecuteActivityInput) (any, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// blocked is an activity that never returns.
type blocked struct {
	interceptor.ActivityInboundInterceptorBase
}

func (*blocked) ExecuteActivity(context.Context, *interceptor.ExecuteActivityInput) (any, error) {
	select {}
}
