package service

import (
	"context"
	"runtime/debug"
	"testing"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
)

func TestBuildText(t *testing.T) {
	info := func(change func(*debug.BuildInfo)) string {
		info := &debug.BuildInfo{
			Main:     debug.Module{Path: "example.com/w", Version: "v0.0.0-1"},
			Deps:     []*debug.Module{{Path: "example.com/d", Version: "v1.0.0"}, {Path: "example.com/local", Replace: &debug.Module{Path: "../local"}}},
			Settings: []debug.BuildSetting{{Key: "GOARCH", Value: "amd64"}, {Key: "vcs.revision", Value: "abc"}},
		}
		change(info)
		return buildText("v1", func() (*debug.BuildInfo, bool) { return info, true })
	}
	same := func(*debug.BuildInfo) {}
	want := "v1\nexample.com/w@v0.0.0-1\nexample.com/d@v1.0.0\nexample.com/local@\nvcs.revision=abc"
	if diff := cmp.Diff(want, info(same)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	cases := map[string]struct {
		reason string
		change func(*debug.BuildInfo)
		same   bool
	}{
		"platform":   {"the same source for another machine", func(i *debug.BuildInfo) { i.Settings[0].Value = "arm64" }, true},
		"folder":     {"the module is elsewhere on another machine", func(i *debug.BuildInfo) { i.Deps[1].Replace.Path = "/src/local" }, true},
		"revision":   {"the source is of another commit", func(i *debug.BuildInfo) { i.Settings[1].Value = "def" }, false},
		"dependency": {"another release of a module", func(i *debug.BuildInfo) { i.Deps[0].Version = "v1.0.1" }, false},
		"fork": {"another module in its place", func(i *debug.BuildInfo) {
			i.Deps[0].Replace = &debug.Module{Path: "example.com/fork", Version: "v1.0.0"}
		}, false},
	}
	for name, c := range cases {
		if got := info(c.change); (got == want) != c.same {
			t.Errorf("%s: %s: got\n%s", name, c.reason, got)
		}
	}
	if got := buildText("v2", func() (*debug.BuildInfo, bool) { return nil, false }); got != "v2" {
		t.Errorf("without information on the build: %q", got)
	}
}

// TestFingerprintOfBuiltIn checks that the built-in entries are in a fixed order, and that a
// fingerprint has no address of this process.
func TestFingerprintOfBuiltIn(t *testing.T) {
	of := func(options Options) string {
		registry, err := extensionhost.New(options.entries()...)
		if err != nil {
			t.Fatal(err)
		}
		return registry.Fingerprint("v1")
	}
	want := of(Options{})
	for range 5 {
		if got := of(Options{}); got != want {
			t.Errorf("one build has the fingerprints %s and %s", got, want)
		}
	}
	own := extensions.Entry{Type: "Microsoft.Kusto/clusters", Link: extensions.PreCheck(func(extensions.Check) extensions.Result { return extensions.Pass() })}
	for name, got := range map[string]string{"an own link": of(Options{Extensions: []extensions.Entry{own}}), "no links": of(Options{WithoutBuiltIn: true})} {
		if got == want {
			t.Errorf("a worker with %s has the fingerprint of one without", name)
		}
	}
}

// TestIdentityOf checks that the requests of this process, and of no other, have the
// fingerprint of the checks in force.
func TestIdentityOf(t *testing.T) {
	checks := "0000000001"
	intercept := identityOf("7@host@", func() string { return checks })
	send := func(request any) {
		sent := false
		next := func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error {
			sent = true
			return nil
		}
		if err := intercept(t.Context(), "m", request, nil, nil, next); err != nil || !sent {
			t.Errorf("%T: sent %t, %v", request, sent, err)
		}
	}
	poll := &workflowservice.PollWorkflowTaskQueueRequest{Identity: "7@host@"}
	send(poll)
	if want := workflows.WorkerIdentity("7@host@", "0000000001"); poll.Identity != want {
		t.Errorf("polls as %q, want %q", poll.Identity, want)
	}
	checks = "0000000002"
	send(poll) // a repetition after a reload
	if want := workflows.WorkerIdentity("7@host@", "0000000002"); poll.Identity != want {
		t.Errorf("polls as %q after a reload, want %q", poll.Identity, want)
	}
	completed := &workflowservice.RespondWorkflowTaskCompletedRequest{Identity: "7@host@"}
	if send(completed); completed.Identity != poll.Identity {
		t.Errorf("completes a task as %q, want %q", completed.Identity, poll.Identity)
	}
	user := &workflowservice.TerminateWorkflowExecutionRequest{Identity: "ana@laptop"}
	if send(user); user.Identity != "ana@laptop" {
		t.Errorf("the identity of a user became %q", user.Identity)
	}
	send(&workflowservice.GetSystemInfoRequest{}) // has none
}
