package caller_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/armature-io/armature/caller"
	"github.com/armature-io/armature/internal/testonly/issuer"
)

// TestVerifyFromMemory checks that a context that has ended lets nothing wait: the keys in
// memory decide, and others are read in the background.
func TestVerifyFromMemory(t *testing.T) {
	t.Parallel()
	honest := issuer.Start(t)
	synctest.Test(t, func(t *testing.T) {
		honest.Delay.Store(int64(3 * time.Second))
		verifier := newVerifier(t, caller.Options{Issuer: honest.URL, Client: honest.Client()})
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		verify := func(token string) error {
			begun := time.Now()
			_, err := verifier.Verify(ended, token)
			if took := time.Since(begun); took > 0 {
				t.Errorf("it took %s", took)
			}
			return err
		}
		token := honest.Token(audience, "ann", nil)
		for _, want := range []string{"what the issuer publishes", "its keys"} {
			if err := verify(token); !errors.Is(err, context.Canceled) || caller.IsRefusal(err) {
				t.Errorf("before %s are there: got %v", want, err)
			}
			<-time.After(4 * time.Second)
		}
		if err := verify(token); err != nil {
			t.Errorf("with the keys in memory: %v", err)
		}
		if err := verify(honest.Token(audience, "ann", map[string]any{"exp": 1})); !caller.IsRefusal(err) {
			t.Errorf("an expired token: got %v, want a refusal", err)
		}
		group := caller.Group{newVerifier(t, caller.Options{Issuer: honest.URL, Client: honest.Client()}), newVerifier(t, caller.Options{Issuer: honest.URL, Audiences: []string{"other"}, Client: honest.Client()})}
		if _, err := group[1].Verify(t.Context(), token); !caller.IsRefusal(err) {
			t.Errorf("the verifier of another audience: %v", err)
		}
		if _, err := group.Verify(ended, token); caller.IsRefusal(err) {
			t.Errorf("a token for a verifier without keys yet: %v", err)
		}
		if _, err := group.Verify(t.Context(), token); err != nil {
			t.Errorf("the same with time: %v", err)
		}
	})
}

// TestKeepKeys checks that keys are read before a token needs them, that withdrawn keys are
// dropped, and that an outage drops none.
func TestKeepKeys(t *testing.T) {
	t.Parallel()
	honest := issuer.Start(t)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		verifier := newVerifier(t, caller.Options{Issuer: honest.URL, Client: honest.Client()})
		failures := 0
		honest.Down.Store(true)
		go verifier.KeepKeys(ctx, func(error) { failures++ })
		synctest.Wait()
		if keys := verifier.Keys(); keys.Issuer != honest.URL || !keys.ReadAt.IsZero() || keys.Err == nil || !strings.Contains(keys.Err.Error(), "503") || failures != 1 {
			t.Errorf("while the issuer is down: %+v after %d failures", keys, failures)
		}
		honest.Down.Store(false)
		<-time.After(time.Minute)
		if keys := verifier.Keys(); keys.ReadAt.IsZero() || keys.Err != nil {
			t.Errorf("when it is back: %+v", keys)
		}
		ended, end := context.WithCancel(ctx)
		end()
		old := honest.Token(audience, "ann", nil)
		if _, err := verifier.Verify(ended, old); err != nil {
			t.Errorf("the first token: %v", err)
		}
		honest.Down.Store(true)
		<-time.After(30 * time.Minute)
		if keys := verifier.Keys(); keys.ReadAt.IsZero() || keys.Err == nil {
			t.Errorf("down again: %+v", keys)
		}
		if _, err := verifier.Verify(ended, old); err != nil {
			t.Errorf("with keys from before: %v", err)
		}
		honest.Down.Store(false)
		honest.Rotate()
		<-time.After(20 * time.Minute)
		if _, err := verifier.Verify(ended, old); err == nil {
			t.Error("the token of a withdrawn key is accepted")
		}
		if _, err := verifier.Verify(ended, honest.Token(audience, "ann", nil)); err != nil {
			t.Errorf("the new key: %v", err)
		}
	})
}
