package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/armature-io/armature/caller"
	"github.com/armature-io/armature/fleet"
	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/internal/testonly/issuer"
	"github.com/armature-io/armature/workflows"
	"go.temporal.io/sdk/temporal"
)

// delivery is one message with its token, as its sender repeats it.
type delivery struct {
	action  Action
	message workflows.SentMessage
}

// newDelivery returns a pause of the resource of the tests, "" for no token.
func newDelivery(t *testing.T, messageID, reason, token string) delivery {
	t.Helper()
	id := stubDesired(t).ID
	d := delivery{
		Action{Verb: VerbPause, WorkflowID: id.WorkflowID(), ID: id, UpdateID: messageID},
		workflows.SentMessage{WorkflowID: id.WorkflowID(), MessageID: messageID, Name: workflows.PauseUpdate, Content: workflows.PauseInput{Reason: reason}},
	}
	if token != "" {
		d.action.Header = headerOf(t, workflows.SenderToken{Token: token, SentMessage: sealedMessage(t, d.message)})
	}
	return d
}

// sendTo delivers the message until it is decided, and checks that no delivery takes so long
// that the SDK would notice.
func (d delivery) sendTo(t *testing.T, a *authorizer) (deliveries int, err error) {
	t.Helper()
	err = fleet.UntilDecided(t.Context(), func() error {
		deliveries++
		begun := time.Now()
		err := a.decide(d.action, d.message)
		if took := time.Since(begun); took > deadlockTimeout/2 {
			t.Errorf("delivery %d held the workflow up for %s", deliveries, took)
		}
		if errors.Is(err, errNotDecided) {
			return temporal.NewApplicationError(err.Error(), workflows.RefusedNotDecided)
		}
		return err
	})
	return deliveries, err
}

// newTestAuthorizer returns an authorizer that adds the senders of its decisions to a list, with
// an issuer that it reaches without a network.
func newTestAuthorizer(t *testing.T, allow func(context.Context, Action) error, tokens *issuer.Issuer) (a *authorizer, decided func() string) {
	t.Helper()
	s := senders{data: payload.DataConverter()}
	if tokens != nil {
		verifier, err := caller.New(caller.Options{Issuer: tokens.URL, Audiences: []string{"armature"}, Client: tokens.Client()})
		if err != nil {
			t.Fatal(err)
		}
		s.callers = caller.Group{verifier}
	}
	var mu sync.Mutex
	var lines []string
	decided = func() string {
		mu.Lock()
		defer mu.Unlock()
		return strings.Join(lines, ", ")
	}
	return newAuthorizer(allow, s, slog.New(slog.DiscardHandler), func(action Action, err error) {
		sender := "unverified"
		if action.Caller != nil {
			sender = action.Caller.Subject
		}
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, fmt.Sprintf("%s %t", sender, err == nil))
	}), decided
}

// TestDecisions checks how long senders wait for hooks and issuers, and that the deliveries of
// their messages wait for neither.
//
//guard:the-hook-of-an-embedder
func TestDecisions(t *testing.T) {
	t.Parallel()
	hookOf := func(takes time.Duration, err error) func(context.Context, Action) error {
		return func(context.Context, Action) error { <-time.After(takes); return err }
	}
	owners := func(_ context.Context, action Action) error {
		if action.Caller == nil || action.Caller.Subject != "ann" {
			return errors.New("not an owner")
		}
		return nil
	}
	cases := map[string]struct {
		reason string
		hook   func(context.Context, Action) error
		// issuer changes the issuer before the message, with a function that does it later.
		issuer     func(i *issuer.Issuer, later func(time.Duration, func()))
		within     time.Duration
		deliveries int // at most; 0 for any
		want       string
		decided    string
	}{
		"quick hook":   {"most hooks compare values: no second round", hookOf(time.Millisecond, nil), nil, quickDecision, 1, "", "unverified true"},
		"quick no":     {"the same for a refusal", hookOf(time.Millisecond, errors.New("freeze of the release")), nil, quickDecision, 1, "freeze of the release", "unverified false"},
		"5 s":          {"a policy server", hookOf(5*time.Second, nil), nil, 8 * time.Second, 8, "", "unverified true"},
		"5 s no":       {"the refusal reaches the sender", hookOf(5*time.Second, errors.New("freeze of the release")), nil, 8 * time.Second, 8, "freeze of the release", "unverified false"},
		"never":        {"no decision is a refusal", func(ctx context.Context, _ Action) error { <-ctx.Done(); return ctx.Err() }, nil, 33 * time.Second, 0, "no decision within 30s", "unverified false"},
		"no end":       {"a hook that ignores its context", hookOf(time.Hour, nil), nil, 33 * time.Second, 0, "no decision within 30s", "unverified false"},
		"panics":       {"a mistake of the embedder", func(context.Context, Action) error { panic("nil map") }, nil, quickDecision, 1, "the check of the worker failed: nil map", "unverified false"},
		"keys unknown": {"they are read for the first token", nil, func(*issuer.Issuer, func(time.Duration, func())) {}, quickDecision, 1, "", "ann true"},
		"slow issuer": {
			"the sender is verified all the same", nil,
			func(i *issuer.Issuer, _ func(time.Duration, func())) { i.Delay.Store(int64(3 * time.Second)) }, 9 * time.Second, 0, "", "ann true",
		},
		"slow issuer, hook": {
			"the hook gets the verified sender", owners,
			func(i *issuer.Issuer, _ func(time.Duration, func())) { i.Delay.Store(int64(3 * time.Second)) }, 9 * time.Second, 0, "", "ann true",
		},
		"issuer down": {
			"an outage stops no message without a hook", nil, func(i *issuer.Issuer, _ func(time.Duration, func())) { i.Down.Store(true) }, quickDecision, 1, "", "unverified true",
		},
		"issuer down, hook": {
			"the hook has no sender to decide about", owners, func(i *issuer.Issuer, _ func(time.Duration, func())) { i.Down.Store(true) },
			33 * time.Second, 0, "cannot verify tokens now", "unverified false",
		},
		"issuer comes back, hook": {
			"within the time of the decision", owners, func(i *issuer.Issuer, later func(time.Duration, func())) {
				i.Down.Store(true)
				later(9*time.Second, func() { i.Down.Store(false) })
			}, 15 * time.Second, 0, "", "ann true",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var tokens *issuer.Issuer
			if c.issuer != nil {
				tokens = issuer.Start(t)
			}
			synctest.Test(t, func(t *testing.T) {
				token := ""
				if tokens != nil {
					c.issuer(tokens, func(after time.Duration, run func()) { time.AfterFunc(after, run) })
					token = tokens.Token("armature", "ann", nil)
				}
				a, decided := newTestAuthorizer(t, c.hook, tokens)
				begun := time.Now()
				deliveries, err := newDelivery(t, "m", "INC-1", token).sendTo(t, a)
				if took := time.Since(begun); took > c.within {
					t.Errorf("%s: the sender waited %s, want at most %s", c.reason, took, c.within)
				}
				if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s: got %v, want %q", c.reason, err, c.want)
				}
				if c.deliveries > 0 && deliveries > c.deliveries {
					t.Errorf("%s: %d deliveries, want at most %d", c.reason, deliveries, c.deliveries)
				}
				if got := decided(); got != c.decided {
					t.Errorf("%s: recorded %q, want %q", c.reason, got, c.decided)
				}
				<-time.After(time.Hour) // hooks that ignore their context end
			})
		})
	}
}

// TestNewKeyOfIssuer checks that a token is verified from memory once the keys are there, and
// that a new key of the issuer is read in the background.
//
//guard:the-hook-of-an-embedder
func TestNewKeyOfIssuer(t *testing.T) {
	t.Parallel()
	tokens := issuer.Start(t)
	synctest.Test(t, func(t *testing.T) {
		a, _ := newTestAuthorizer(t, nil, tokens)
		a.decided = nil // no audit trail, which would wait for its line
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go a.senders.callers[0].KeepKeys(ctx, func(err error) { t.Error(err) })
		synctest.Wait()
		tokens.Delay.Store(int64(2 * time.Second))
		known := newDelivery(t, "m1", "INC-1", tokens.Token("armature", "ann", nil))
		begun := time.Now()
		if deliveries, err := known.sendTo(t, a); err != nil || deliveries != 1 || time.Since(begun) > 0 {
			t.Errorf("a known key: %d deliveries in %s, %v; want one from memory", deliveries, time.Since(begun), err)
		}
		expired := newDelivery(t, "m2", "INC-1", tokens.Token("armature", "ann", map[string]any{"exp": 1}))
		if deliveries, err := expired.sendTo(t, a); deliveries != 1 || err == nil || !strings.Contains(err.Error(), "it expired at") {
			t.Errorf("an expired token: %d deliveries, %v; want a refusal from memory", deliveries, err)
		}
		tokens.Rotate()
		rotated := newDelivery(t, "m3", "INC-1", tokens.Token("armature", "ann", nil))
		if err := a.decide(rotated.action, rotated.message); !errors.Is(err, errNotDecided) {
			t.Errorf("a new key: got %v, want that it is not decided", err)
		}
		if _, err := rotated.sendTo(t, a); err != nil {
			t.Errorf("a new key: %v", err)
		}
		forged := newDelivery(t, "m4", "INC-1", tokens.Sign(map[string]any{"alg": "RS256", "kid": "key-1"}, tokens.Claims("armature", "ann", nil)))
		if _, err := forged.sendTo(t, a); err == nil || !strings.Contains(err.Error(), "failed to verify") {
			t.Errorf("a withdrawn key: got %v, want a refusal", err)
		}
	})
}

// TestDecisionBelongsToItsMessage checks that a decision lets its own message pass, and that
// once.
//
//guard:the-hook-of-an-embedder
func TestDecisionBelongsToItsMessage(t *testing.T) {
	t.Parallel()
	tokens := issuer.Start(t)
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		a, _ := newTestAuthorizer(t, func(context.Context, Action) error { asked.Add(1); <-time.After(time.Second); return nil }, tokens)
		ann, eve := tokens.Token("armature", "ann", nil), tokens.Token("armature", "eve", nil)
		relabelled := newDelivery(t, "m", "INC-1", ann)
		relabelled.action.Labels = map[string]string{"stage": "prod"}
		other := newDelivery(t, "m", "INC-1", ann)
		other.action.WorkflowID += "x"
		sent := newDelivery(t, "m", "INC-1", ann)
		if err := a.decide(sent.action, sent.message); !errors.Is(err, errNotDecided) {
			t.Fatalf("got %v, want that it is not decided", err)
		}
		<-time.After(5 * time.Second)
		for name, d := range map[string]delivery{
			"other ID": newDelivery(t, "m2", "INC-1", ann), "other content": newDelivery(t, "m", "INC-2", ann),
			"other labels in force": relabelled, "other token": newDelivery(t, "m", "INC-1", eve), "no token": newDelivery(t, "m", "INC-1", ""),
		} {
			before := asked.Load()
			if err := a.decide(d.action, d.message); !errors.Is(err, errNotDecided) || asked.Load() != before+1 {
				t.Errorf("%s: got %v with %d questions, want a decision of its own", name, err, asked.Load()-before)
			}
		}
		if err := a.decide(other.action, other.message); err == nil || errors.Is(err, errNotDecided) {
			t.Errorf("other workflow: got %v, want a refusal", err)
		}
		if err := a.decide(sent.action, sent.message); err != nil {
			t.Errorf("the message itself: %v", err)
		}
		if err := a.decide(sent.action, sent.message); !errors.Is(err, errNotDecided) {
			t.Errorf("the message a second time: got %v, want a new decision", err)
		}
		<-time.After(2 * keepDecision)
		if kept := len(a.decisions.kept()); kept != 0 {
			t.Errorf("%d decisions are kept for messages that never came", kept)
		}
	})
}

// TestDecisionsAreBounded checks that messages without end cost neither memory nor calls of
// the hook without end, and that the worker decides again afterwards.
//
//guard:the-hook-of-an-embedder
func TestDecisionsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var running atomic.Int32
		var answers atomic.Bool
		a, _ := newTestAuthorizer(t, func(ctx context.Context, _ Action) error {
			running.Add(1)
			defer running.Add(-1)
			if !answers.Load() {
				<-ctx.Done()
			}
			return ctx.Err()
		}, nil)
		a.decided = nil // called by many at a time
		for i := range maxDecisions + 100 {
			go func() {
				d := newDelivery(t, fmt.Sprint("m", i), "INC-1", "")
				if err := a.decide(d.action, d.message); !errors.Is(err, errNotDecided) {
					t.Errorf("message %d: got %v, want that it is not decided", i, err)
				}
			}()
		}
		<-time.After(time.Second)
		if kept := len(a.decisions.kept()); kept != maxDecisions || running.Load() != maxHooks {
			t.Errorf("%d decisions are kept and %d hooks run, want %d and %d", kept, running.Load(), maxDecisions, maxHooks)
		}
		<-time.After(maxDecisionTime)
		answers.Store(true)
		if _, err := newDelivery(t, "next", "INC-1", "").sendTo(t, a); err != nil {
			t.Errorf("the next message: %v", err)
		}
		if kept := len(a.decisions.kept()); kept >= maxDecisions {
			t.Errorf("%d decisions are kept", kept)
		}
	})
}
