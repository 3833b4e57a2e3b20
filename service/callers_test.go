package service

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/armature-io/armature/config"
	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/internal/testonly/issuer"
	"github.com/armature-io/armature/workflows"
	commonpb "go.temporal.io/api/common/v1"
)

// headerOf returns the header with a value.
func headerOf(t *testing.T, value any) map[string]*commonpb.Payload {
	t.Helper()
	encoded, err := payload.DataConverter().ToPayload(value)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]*commonpb.Payload{workflows.TokenHeader: encoded}
}

// sealedMessage returns a message as its sender adds it to the header.
func sealedMessage(t *testing.T, message workflows.SentMessage) workflows.SentMessage {
	t.Helper()
	sealed, err := message.Sealed()
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

// newTestSenders returns the senders of a configuration.
func newTestSenders(t *testing.T, issuers ...string) senders {
	t.Helper()
	s, err := newSenders(config.Callers{Issuers: issuers}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.data = payload.DataConverter()
	return s
}

// TestIdentify checks that a token names the sender of its own message only, by any of the
// configured issuers.
//
//guard:the-hook-of-an-embedder
func TestIdentify(t *testing.T) {
	t.Parallel()
	pipelines, people, other := issuer.Start(t), issuer.Start(t), issuer.Start(t)
	s := newTestSenders(t, pipelines.URL+"=armature", people.URL+"=app", people.URL+"=app2")
	message := workflows.SentMessage{Namespace: "n", WorkflowID: "w", MessageID: "m", Name: workflows.PauseUpdate, Content: workflows.PauseInput{Reason: "INC-1"}}
	copied := func(change func(*workflows.SentMessage)) map[string]*commonpb.Payload {
		sent := message
		change(&sent)
		return headerOf(t, workflows.SenderToken{Token: pipelines.Token("armature", "repo:org/infra", nil), SentMessage: sealedMessage(t, sent)})
	}
	sealed := func(token, workflowID, messageID string) map[string]*commonpb.Payload {
		sent := message
		sent.WorkflowID, sent.MessageID = workflowID, messageID
		return headerOf(t, workflows.SenderToken{Token: token, SentMessage: sealedMessage(t, sent)})
	}
	ci := pipelines.Token("armature", "repo:org/infra", nil)
	cases := map[string]struct {
		reason  string
		header  map[string]*commonpb.Payload
		subject string
		want    string
	}{
		"pipeline":         {"the first issuer", sealed(ci, "w", "m"), "repo:org/infra", ""},
		"person":           {"the second issuer, and its second audience", sealed(people.Token("app2", "ann", nil), "w", "m"), "ann", ""},
		"no token":         {"not every sender has one", nil, "", ""},
		"other message":    {"a copy of the header", sealed(ci, "w", "m2"), "", "valid for that one only"},
		"other workflow":   {"a copy of the header", sealed(ci, "w2", "m"), "", "valid for that one only"},
		"other namespace":  {"a copy of the header", copied(func(m *workflows.SentMessage) { m.Namespace = "test" }), "", "valid for that one only"},
		"other name":       {"a pause is no resume", copied(func(m *workflows.SentMessage) { m.Name = workflows.ResumeUpdate }), "", "valid for that one only"},
		"other content":    {"the ID alone says nothing about the content", copied(func(m *workflows.SentMessage) { m.Content = workflows.PauseInput{Reason: "INC-2"} }), "", "valid for that one only"},
		"token alone":      {"nothing ties it to the message", headerOf(t, ci), "", "decrypt the token"},
		"other issuer":     {"anyone can run one", sealed(other.Token("armature", "ann", nil), "w", "m"), "", "its issuer is"},
		"crossed":          {"the audience of another issuer", sealed(people.Token("armature", "ann", nil), "w", "m"), "", "its audience is"},
		"no JWT":           {"a password", sealed("secret", "w", "m"), "", `its issuer is ""`},
		"huge":             {"it is not parsed", sealed(strings.Repeat("a", 25<<10), "w", "m"), "", "at most"},
		"claims an issuer": {"the key of another", sealed(other.Sign(map[string]any{"alg": "RS256", "kid": pipelines.KeyID()}, pipelines.Claims("armature", "ann", nil)), "w", "m"), "", "failed to verify"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			sender, err := s.identify(t.Context(), c.header, message)
			switch {
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%s: got %v, want %q", c.reason, err, c.want)
			case c.want == "" && err != nil:
				t.Errorf("%s: %v", c.reason, err)
			case c.subject == "" && sender != nil, c.subject != "" && (sender == nil || sender.Subject != c.subject):
				t.Errorf("%s: the sender is %+v, want %q", c.reason, sender, c.subject)
			}
		})
	}
}

// tokenOf returns the token of a message.
func tokenOf(t *testing.T, a *authorizer, action Action, message workflows.SentMessage) string {
	t.Helper()
	token, err := a.senders.tokenOf(action.Header, sealedMessage(t, message))
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// TestSendersWithoutHook checks what happens to messages of a worker that verifies senders
// and has no hook: only a token that is proven wrong refuses a message.
func TestSendersWithoutHook(t *testing.T) {
	t.Parallel()
	honest, down := issuer.Start(t), issuer.Start(t)
	down.Down.Store(true)
	cases := map[string]struct {
		reason string
		issuer *issuer.Issuer
		token  func(*issuer.Issuer) string
		sender string
		want   string
	}{
		"verified":    {"a good token", honest, func(i *issuer.Issuer) string { return i.Token("armature", "ann", nil) }, "ann", ""},
		"expired":     {"the sender would be unverified without noticing", honest, func(i *issuer.Issuer) string { return i.Token("armature", "ann", map[string]any{"exp": 1}) }, "", "it expired at"},
		"issuer down": {"an outage of the issuer stops nothing", down, func(i *issuer.Issuer) string { return i.Token("armature", "ann", nil) }, "", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			a := newAuthorizer(nil, newTestSenders(t, c.issuer.URL+"=armature"), slog.New(slog.DiscardHandler), nil)
			action := Action{Verb: VerbPause, WorkflowID: "w", UpdateID: "m"}
			message := workflows.SentMessage{WorkflowID: "w", MessageID: "m", Name: workflows.PauseUpdate, Content: workflows.PauseInput{}}
			action.Header = headerOf(t, workflows.SenderToken{Token: c.token(c.issuer), SentMessage: sealedMessage(t, message)})
			var err error
			action.Caller, err = a.ask(t.Context(), action, tokenOf(t, a, action, message))
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: got %v, want %q", c.reason, err, c.want)
			}
			if (action.Caller != nil) != (c.sender != "") || action.Caller != nil && action.Caller.Subject != c.sender {
				t.Errorf("%s: the sender is %+v, want %q", c.reason, action.Caller, c.sender)
			}
		})
	}
	if newAuthorizer(nil, senders{}, slog.New(slog.DiscardHandler), nil) != nil {
		t.Error("a worker without hook and issuers intercepts messages")
	}
}

// TestCallersSettings checks that each mistake in the setting is reported.
func TestCallersSettings(t *testing.T) {
	t.Parallel()
	_, err := newSenders(config.Callers{Issuers: []string{"https://login.example.com", "http://login.example.com=armature"}}, Options{})
	for _, want := range []string{"must be ISSUER=AUDIENCE", "use https"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestCallersFindings checks what doctor reports about the keys of issuers, and about tokens
// that clients could send in clear.
func TestCallersFindings(t *testing.T) {
	t.Parallel()
	tokens := issuer.Start(t)
	synctest.Test(t, func(t *testing.T) {
		a, _ := newTestAuthorizer(t, nil, tokens)
		texts := func(hook, encrypts bool) (text string) {
			for _, found := range a.senders.findings(hook, encrypts) {
				text += string(found.State) + " " + found.Message + "\n"
			}
			return text
		}
		check := func(text string, want ...string) {
			t.Helper()
			for _, part := range want {
				if !strings.Contains(text, part) {
					t.Errorf("got %q, want %q", text, part)
				}
			}
			if lines := strings.Count(text, "\n"); lines != len(want) {
				t.Errorf("got %q, want %d lines", text, len(want))
			}
		}
		check(texts(true, true), "warn the keys of "+tokens.URL+" are not read yet: messages with its tokens are refused")
		tokens.Down.Store(true)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go a.senders.callers[0].KeepKeys(ctx, func(error) {})
		synctest.Wait()
		check(texts(false, true), "are not read yet: messages with its tokens pass as unverified: read what "+tokens.URL+" publishes: 503")
		tokens.Down.Store(false)
		<-time.After(time.Minute)
		check(texts(true, true), "ok the keys of "+tokens.URL+" were read at 2000-01-01")
		tokens.Down.Store(true)
		<-time.After(time.Hour)
		check(texts(true, false), ", and not since: tokens of newer keys cannot be verified: read the keys of the issuer: 503",
			"warn the worker accepts tokens and has no key to encrypt with")
	})
	if found := (senders{}).findings(true, false); len(found) > 0 {
		t.Errorf("a worker without issuers reports %v", found)
	}
}
