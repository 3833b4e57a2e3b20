package extensiontest_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/extensions/extensiontest"
	"github.com/armature-io/armature/resource"
)

const (
	peerText  = "/subscriptions/s/resourceGroups/rg/providers/Contoso.Things/peers/p2"
	childText = "/subscriptions/s/resourceGroups/rg/providers/Contoso.Things/parents/p1/children/c1"
)

// mistake is one of an author, in an owner checker or a pre-checker; "" is none.
type mistake string

// ownerChecker blocks while its owner is busy, unless it makes a mistake.
type ownerChecker struct{ bad mistake }

func (c ownerChecker) PreReconcileOwnerCheck(ctx context.Context, owner *resource.Object, resolver extensions.Resolver,
	client extensions.ARMClient, log *slog.Logger, next extensions.PreReconcileOwnerCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	if c.bad == "nil owner" {
		_ = owner.ID.Type() + owner.Freshness
	}
	state, _ := owner.StringAt("properties.state")
	if c.bad == "type" {
		state = owner.Observed["properties"].(map[string]any)["state"].(string)
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
	case c.bad == "skip":
		return extensions.SkipReconcile("nothing to do"), nil
	case c.bad == "no result":
		return extensions.PreReconcileCheckResult{}, nil
	case c.bad == "changes" && owner != nil:
		owner.Observed["seen"] = true
	}
	result, err := next(ctx, owner, resolver, client, log)
	if c.bad == "swallows" && err != nil {
		return extensions.ProceedWithReconcile(), nil
	}
	return result, err
}

// preChecker blocks while its peer is not named or is updating, unless it makes a
// mistake.
type preChecker struct {
	bad   mistake
	calls *int
}

func (c preChecker) PreReconcileCheck(ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver,
	client extensions.ARMClient, log *slog.Logger, next extensions.PreReconcileCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	switch *c.calls++; c.bad {
	case "loop":
		for time.Now().Year() > 0 {
		}
	case "waits":
		<-ctx.Done()
		return extensions.PreReconcileCheckResult{}, ctx.Err()
	case "state":
		if *c.calls > 1 {
			return extensions.BlockReconcile("again"), nil
		}
	case "helper panics":
		c.helper(obj)
	case "goroutine":
		done := make(chan struct{})
		go func() { defer close(done); c.helper(obj) }()
		<-done
	case "next with nil":
		return next(ctx, nil, owner, resolver, client, log)
	case "next with the owner":
		return next(ctx, owner, owner, resolver, client, log)
	case "next without context":
		return next(context.Background(), obj, owner, resolver, client, log)
	case "next without log":
		return next(ctx, obj, owner, resolver, client, nil)
	case "twice":
		_, _ = next(ctx, obj, owner, resolver, client, log)
	case "no version":
		_, _ = client.Get(ctx, obj.ID, "")
	case "no reference":
		_, _ = resolver.Resolve(ctx, resource.Reference{})
	case "request":
		_, _ = client.Get(ctx, obj.ID, "2023-01-01")
	case "no creation":
		if obj.ProvisioningState() != "Succeeded" && !obj.Exists() {
			return extensions.BlockReconcile("it has not succeeded"), nil
		}
	case "request at the second call":
		if *c.calls > 1 {
			_, _ = client.Get(ctx, obj.ID, "2023-01-01")
		}
	}
	log.InfoContext(ctx, "peer checked", "peer", peerText)
	peer, err := resource.ParseID(peerText)
	if err != nil {
		return extensions.PreReconcileCheckResult{}, err
	}
	found, err := resolver.Resolve(ctx, resource.Reference{ID: peer})
	if err != nil {
		return extensions.PreReconcileCheckResult{}, err
	}
	if c.bad == "peer must exist" {
		_ = found.Object.ID
	}
	if state := found.Object.ProvisioningState(); strings.EqualFold(state, "Updating") && (c.bad == "no force" || !extensions.Forced(ctx)) {
		return c.block(peer)
	}
	return next(ctx, obj, owner, resolver, client, log)
}

// block blocks, unless it makes a mistake.
func (c preChecker) block(peer resource.ID) (extensions.PreReconcileCheckResult, error) {
	options := []extensions.Option{extensions.WithWaitingFor(peer)}
	switch c.bad {
	case "waits for nothing":
		options = nil
	case "two words":
		options = append(options, extensions.WithReason("peer busy"))
	case "severity":
		options = append(options, extensions.WithSeverity("Fatal"))
	case "class":
		options = append(options, extensions.WithRetry("Sometimes"))
	case "error":
		return extensions.PreReconcileCheckResult{}, errors.New("peer is updating")
	}
	return extensions.BlockReconcile("peer is updating", options...), nil
}

func (preChecker) helper(obj *resource.Object) {
	var none []string
	_ = none[len(obj.ID.Name())]
}

func ownerSuite(bad mistake) extensiontest.Suite {
	return extensiontest.Suite{
		Entry: extensions.Entry{Type: "Contoso.Things/parents/children", Link: ownerChecker{bad: bad}},
		ID:    childText,
		Owner: []extensiontest.States{{Path: "properties.state", Block: []string{"Busy"}, Pass: []string{"Idle"}, Message: "parent is %s"}},
	}
}

func preSuite(bad mistake) extensiontest.Suite {
	return extensiontest.Suite{
		Entry:     extensions.Entry{Type: "Contoso.Things/parents/children", Link: preChecker{bad: bad, calls: new(int)}},
		ID:        childText,
		Resources: map[string]string{peerText: `{"properties": {"provisioningState": "Succeeded", "n": 1}}`},
		Self: []extensiontest.States{{
			Of: peerText, Path: "properties.provisioningState", Block: []string{"Updating"}, Pass: []string{"Succeeded"}, Message: "peer is updating",
		}},
	}
}

const (
	pointVariable = "EXTENSIONTEST_POINT"
	badVariable   = "EXTENSIONTEST_BAD"
)

// TestSuite passes for the good links; run as a process of its own with a bad one
// it has to fail.
func TestSuite(t *testing.T) {
	bad := mistake(os.Getenv(badVariable))
	suites := map[string]extensiontest.Suite{"owner": ownerSuite(bad), "pre": preSuite(bad), "quota": quotaSuite(bad)}
	if point := os.Getenv(pointVariable); point != "" {
		extensiontest.Run(t, suites[point])
		return
	}
	for _, suite := range suites {
		extensiontest.Run(t, suite)
	}
}

// quotaGate blocks while the account has no core left for the nodes of the manifest.
type quotaGate struct{ bad mistake }

func (g quotaGate) PreReconcileCheck(ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver,
	client extensions.ARMClient, log *slog.Logger, next extensions.PreReconcileCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	value, _ := obj.DesiredAt("properties.nodes")
	_, isNumber := value.(json.Number)
	if g.bad == "float64" {
		_, isNumber = value.(float64)
	}
	if !isNumber {
		return next(ctx, obj, owner, resolver, client, log)
	}
	if _, err := client.Find(ctx, obj.ID.Owner(), "pools", "2023-01-01", "", 10); err != nil {
		return extensions.PreReconcileCheckResult{}, err
	}
	return next(ctx, obj, owner, resolver, client, log)
}

func quotaSuite(bad mistake) extensiontest.Suite {
	suite := extensiontest.Suite{
		Entry: extensions.Entry{Type: "Contoso.Things/parents/children", Link: quotaGate{bad}}, ID: childText,
		Desired: `{"properties":{"nodes":3}}`, Requests: 1,
		Lists: map[string][]string{strings.TrimSuffix(childText, "/children/c1") + "/pools": {`{"name":"p0"}`}},
		Self:  []extensiontest.States{{Path: "properties.state", Pass: []string{"Steady"}}},
	}
	switch bad {
	case "unread resource":
		suite.Resources = map[string]string{peerText: `{}`}
	case "too many requests":
		suite.Requests = 2
	}
	return suite
}

// kitLine is the position of a failure in the kit, which says nothing to an author.
var kitLine = regexp.MustCompile(`(?m)^ +(trial|check|input|suite|probe|position)\.go:\d+:`)

func TestSuiteFindsBadLinks(t *testing.T) {
	cases := map[string]map[mistake][]string{
		"owner": {
			"nil owner": {"panicked", "at suite_test.go:"},
			"type":      {"panicked", "at suite_test.go:"},
			"any owner": {"owner_of_another_type"},
			"case":      {"block_busy"},
			"silent":    {"returned a block without a message"},
			"no next":   {"next was called 0 times", "(extensiontest_test.ownerChecker.PreReconcileOwnerCheck, suite_test.go:"},
			"changes":   {"changed its input"},
			"swallows":  {"want the error of the next link"},
			"skip":      {"only proceed and block are valid"},
			"no result": {`it returned ""`},
		},
		"pre": {
			"loop":                       {"did not return in 3s", "it is still at suite_test.go:", "the rest of the suite is not run"},
			"waits":                      {"did not return in 3s", "its context ended"},
			"state":                      {"a second call with the same input returned Block", "a link has no state"},
			"helper panics":              {"panicked", "at suite_test.go:"},
			"next with nil":              {"called next in PreReconcileCheck with nil instead of p1/c1"},
			"next with the owner":        {"instead of p1/c1; pass on what the link was called with"},
			"next without context":       {"next was called with another context"},
			"next without log":           {"next was called without a resolver, client or logger"},
			"twice":                      {"next was called 2 times"},
			"no version":                 {`invalid api-version ""`},
			"no reference":               {"the reference names nothing"},
			"request":                    {"want at most 0", "the link logged: ", "peer checked"},
			"request at the second call": {"a second call with the same input made the requests"},
			"peer must exist":            {"resources_that_do_not_exist", "panicked"},
			"two words":                  {`the invalid reason "peer busy"`},
			"severity":                   {`the invalid severity "Fatal"`},
			"class":                      {`the invalid retry class "Sometimes"`},
			"error":                      {"got Error Warning CheckFailed", "want Block"},
			"no force":                   {"forced", "want Proceed"},
			"goroutine":                  {"panic: runtime error: index out of range", "suite_test.go:"},
			"waits for nothing":          {"with extensions.WithWaitingFor"},
			"no creation":                {"for a resource that does not exist, want Proceed: no PUT would ever create it"},
		},
		"quota": {
			"float64":           {"no call of extensiontest_test.quotaGate listed /subscriptions/s/resourceGroups/rg/providers/Contoso.Things/parents/p1/pools", "Requests is 1, and no call of extensiontest_test.quotaGate made more than 0"},
			"unread resource":   {"no call of extensiontest_test.quotaGate read " + peerText},
			"too many requests": {"Requests is 2, and no call of extensiontest_test.quotaGate made more than 1"},
		},
	}
	for point, mistakes := range cases {
		for bad, texts := range mistakes {
			t.Run(point+" "+string(bad), func(t *testing.T) {
				t.Parallel()
				command := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestSuite$", "-test.v", "-test.timeout", "5m")
				command.Env = append(os.Environ(), pointVariable+"="+point, badVariable+"="+string(bad))
				raw, err := command.CombinedOutput()
				out := string(raw)
				if failed := (*exec.ExitError)(nil); !errors.As(err, &failed) {
					t.Fatalf("the suite passes a link that is bad: %v", err)
				}
				for _, text := range texts {
					if !strings.Contains(out, text) {
						t.Errorf("the suite does not report %q:\n%s", text, out)
					}
				}
				if n := strings.Count(out, texts[0]); n != 1 && texts[0] == "panicked" {
					t.Errorf("one mistake is %d failures:\n%s", n, out)
				}
				if !strings.Contains(out, "suite_test.go:") || kitLine.MatchString(out) {
					t.Errorf("the failures are not at the lines of the author, but at %q:\n%s", kitLine.FindString(out), out)
				}
			})
		}
	}
}
