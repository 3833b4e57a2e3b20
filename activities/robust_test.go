package activities

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

// misbehaving is an extension of things that does what it should not.
type misbehaving struct {
	how     string
	release chan struct{}
}

func (m misbehaving) PreReconcileCheck(ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver,
	client extensions.ARMClient, log *slog.Logger, next extensions.PreReconcileCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	switch m.how {
	case "panics":
		var none []int
		return extensions.BlockReconcile(string(rune(none[len(m.how)]))), nil
	case "blocks":
		select {
		case <-m.release:
		case <-time.After(time.Minute):
		}
	case "garbage":
		return extensions.PreReconcileCheckResult{}, nil
	case "changes":
		obj.Observed["properties"] = "changed"
	}
	return next(ctx, obj, owner, resolver, client, log)
}

func (m misbehaving) ModifyARMResource(ctx context.Context, payload map[string]any, obj, owner *resource.Object, resolver extensions.Resolver,
	client extensions.ARMClient, log *slog.Logger, next extensions.ARMResourceModifierFunc,
) (map[string]any, error) {
	if m.how == "garbage" {
		return map[string]any{"channel": make(chan int)}, nil
	}
	return next(ctx, payload, obj, owner, resolver, client, log)
}

// An extension that misbehaves fails its own resource with its own name; another
// resource of another type is not affected, on the same worker.
func TestMisbehavingExtensions(t *testing.T) {
	t.Parallel()
	const observed = `{"properties":{"size":1}}`
	for how, words := range map[string]string{
		"panics": "extension activities.misbehaving panicked in PreReconcileCheck", "blocks": "extension activities.misbehaving did not return",
		"garbage": "extension activities.misbehaving: it returned no result", "changes": "extension activities.misbehaving changed its input",
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			release := make(chan struct{})
			defer close(release)
			w := newWorld(t, func(s *setup) {
				s.entries = append(s.entries, extensions.Entry{Type: "Contoso.Things/things", Link: misbehaving{how: how, release: release}})
			})
			other := make(chan resource.Verdict, 1)
			go func() {
				other <- w.acts.Registry.PreCheck(context.Background(), extensionhost.Request{Object: &resource.Object{ID: id(t, netText), Observed: map[string]any{}}})
			}()
			got := local(w, w.acts.PreCheck, PreCheckInput{Desired: desired(t, thingText, `{}`), Observed: json.RawMessage(observed)}).Verdict
			want(t, got, resource.ActionError, resource.ReasonCheckFailed, resource.RetrySlow, words)
			if v := <-other; v.Action != resource.ActionSkip {
				t.Errorf("another resource: %+v", v)
			}
		})
	}
}

func TestPayloadThatIsNoJSON(t *testing.T) {
	t.Parallel()
	w, in := putWorld(t, func(s *setup) {
		s.entries = append(s.entries, extensions.Entry{Type: "Contoso.Things/things", Link: misbehaving{how: "garbage"}})
	})
	got, _ := finish(w, w.acts.PutResource, in)
	if !strings.Contains(got.Verdict.Message, "extension activities.misbehaving: it returned a payload in ModifyARMResource that is not valid JSON") || w.puts(thingText) != 0 {
		t.Errorf("got %+v", got.Verdict)
	}
}
