package backend

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/google/go-cmp/cmp"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
)

func TestTranslate(t *testing.T) {
	client := &Client{namespace: "default", taskQueue: "q1"}
	cases := map[string]struct {
		reason string
		err    error
		code   int
		text   string
	}{
		"deadline":          {reason: "no worker accepted the update", err: serviceerror.NewDeadlineExceeded("x"), code: cli.ExitUnreachable, text: "no worker responds on task queue q1"},
		"context deadline":  {reason: "the SDK gave up", err: context.DeadlineExceeded, code: cli.ExitUnreachable, text: "no worker responds on task queue q1"},
		"no poller":         {reason: "the server reports that no worker polls", err: serviceerror.NewFailedPrecondition("no poller"), code: cli.ExitUnreachable, text: "no worker responds"},
		"unavailable":       {reason: "the server is not available", err: serviceerror.NewUnavailable("gone"), code: cli.ExitUnreachable, text: "reach Temporal"},
		"limited":           {reason: "the repeats of the SDK did not pass", err: serviceerror.NewResourceExhausted(enumspb.RESOURCE_EXHAUSTED_CAUSE_RPS_LIMIT, "namespace rate limit exceeded"), code: cli.ExitUnreachable, text: "Temporal limits its requests"},
		"not found":         {reason: "no workflow runs", err: serviceerror.NewNotFound("x"), code: cli.ExitFailed, text: "not managed"},
		"namespace":         {reason: "configuration", err: serviceerror.NewNamespaceNotFound("default"), code: cli.ExitBadInput, text: "TEMPORAL_NAMESPACE"},
		"denied":            {reason: "missing permissions", err: serviceerror.NewPermissionDenied("no", ""), code: cli.ExitFailed, text: "ask for access"},
		"search attributes": {reason: "the command is named", err: serviceerror.NewInvalidArgument("Namespace default has no mapping defined for search attribute ArmType"), code: cli.ExitFailed, text: "armature setup"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := WithExitCode(client.translate(context.Background(), tc.err))
			if cli.ExitCode(err) != tc.code || !strings.Contains(err.Error(), tc.text) {
				t.Errorf("%s: code %d, %v; want code %d, %q", tc.reason, cli.ExitCode(err), err, tc.code, tc.text)
			}
		})
	}
}

func TestForEachStopsAtFirstError(t *testing.T) {
	first := errors.New("first")
	var started []int
	err := ForEach(context.Background(), 5, 1, func(_ context.Context, i int) error {
		started = append(started, i)
		if i == 1 {
			return first
		}
		return nil
	})
	if !errors.Is(err, first) {
		t.Errorf("error is %v, want the first", err)
	}
	if diff := cmp.Diff([]int{0, 1}, started); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}
