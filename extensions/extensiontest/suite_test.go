package extensiontest_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/extensions/extensiontest"
	"github.com/armature-io/armature/resource"
)

// checker is a good link, or one that is bad in one way.
type checker struct{ bad string }

func (c checker) PreReconcileOwnerCheck(ctx context.Context, owner *resource.Object, resolver extensions.Resolver,
	client extensions.ARMClient, log *slog.Logger, next extensions.PreReconcileOwnerCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	if c.bad == "nil owner" {
		_ = owner.ID.Type() + owner.Freshness
	}
	state, _ := owner.StringAt("properties.state")
	if c.bad == "type" {
		state = resource.Object{Observed: owner.Observed}.Observed["properties"].(map[string]any)["state"].(string)
	}
	switch {
	case c.bad == "any owner" && strings.EqualFold(state, "Busy"),
		owner != nil && strings.HasSuffix(owner.ID.Type(), "/parents") && (state == "Busy" || c.bad != "case" && strings.EqualFold(state, "Busy")):
		if c.bad == "silent" {
			return extensions.BlockReconcile(""), nil
		}
		return extensions.BlockReconcile("parent is " + state), nil
	case c.bad == "no next":
		return extensions.ProceedWithReconcile(), nil
	case c.bad == "request":
		_, _ = client.Get(ctx, resource.ID{}, "2023-01-01")
	case c.bad == "changes" && owner != nil:
		owner.Observed["seen"] = true
	}
	result, err := next(ctx, owner, resolver, client, log)
	if c.bad == "swallows" && err != nil {
		return extensions.ProceedWithReconcile(), nil
	}
	if c.bad == "twice" {
		return next(ctx, owner, resolver, client, log)
	}
	return result, err
}

func suite(bad string) extensiontest.Suite {
	return extensiontest.Suite{
		Entry: extensions.Entry{Type: "Contoso.Things/parents/children", Link: checker{bad: bad}},
		ID:    "/subscriptions/s/resourceGroups/rg/providers/Contoso.Things/parents/p1/children/c1",
		Owner: []extensiontest.States{{Path: "properties.state", Block: []string{"Busy"}, Pass: []string{"Idle"}, Message: "parent is %s"}},
	}
}

const badVariable = "EXTENSIONTEST_BAD"

// TestSuite passes for the good link; run as a process of its own with a bad one
// it has to fail.
func TestSuite(t *testing.T) { extensiontest.Run(t, suite(os.Getenv(badVariable))) }

func TestSuiteFindsBadLinks(t *testing.T) {
	for bad, words := range map[string]string{
		"nil owner": "panicked", "type": "panicked", "any owner": "owner_of_another_type", "case": "block_busy", "silent": "the block has no message",
		"no next": "next was called 0 times", "twice": "next was called 2 times", "request": "want at most 0", "changes": "changed its input", "swallows": "want the error of the next link",
	} {
		t.Run(bad, func(t *testing.T) {
			command := exec.Command(os.Args[0], "-test.run", "^TestSuite$", "-test.v")
			command.Env = append(os.Environ(), badVariable+"="+bad)
			out, err := command.CombinedOutput()
			if failed := (*exec.ExitError)(nil); !errors.As(err, &failed) {
				t.Fatalf("the suite passes a link that is bad: %v", err)
			}
			if !strings.Contains(string(out), words) {
				t.Errorf("the suite does not report %q:\n%s", words, out)
			}
		})
	}
}
