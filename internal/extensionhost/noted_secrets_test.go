package extensionhost_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/extensions/extensiontest"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
)

// TestVerdictsShowNoSecretThatWasRead holds that a link may read a secret, and that no verdict,
// which histories store, contains it.
func TestVerdictsShowNoSecretThatWasRead(t *testing.T) {
	t.Parallel()
	const planted, body = "hunter2-hunter2", `{"name":"p1","properties":{"primaryKey":"hunter2-hunter2","size":3}}`
	type reads func(w given) (string, error)
	cases := map[string]struct {
		reason string
		read   reads
	}{
		"get": {"the body is in the message", func(w given) (string, error) {
			got, err := w.client.Get(w.ctx, mustID(t, parentID), "2023-01-01")
			return string(got.Body), err
		}},
		"find": {"items have secrets too", func(w given) (string, error) {
			items, err := w.client.Find(w.ctx, mustID(t, groupID), "things", "2023-01-01", "", 10)
			return string(items[0]), err
		}},
		"one value": {"so has the value alone, in another encoding", func(w given) (string, error) {
			got, err := w.client.Get(w.ctx, mustID(t, parentID), "2023-01-01")
			var parent struct{ Properties struct{ PrimaryKey string } }
			if err == nil {
				err = json.Unmarshal(got.Body, &parent)
			}
			return fmt.Sprintf("%q", parent.Properties.PrimaryKey), err
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			request := extensionhost.Request{
				Object: object(t, childID, `{}`, `{}`), Owner: object(t, parentID, "", `{}`), Masker: secrets.NewMasker([]byte("0123456789abcdef")),
				Client: &extensiontest.Client{Resources: map[string]string{parentID: body}, Lists: map[string][]string{groupID + "/things": {body}}},
			}
			text := func(w given) string {
				read, err := c.read(w)
				if err != nil || !strings.Contains(read, planted) {
					t.Errorf("the link read %q, %v, want the secret", read, err)
				}
				return "it has " + read
			}
			r := registry(t,
				extensions.Entry{Type: extensions.AllTypes, Link: ownerLink(func(_ *resource.Object, w given) (extensions.PreReconcileCheckResult, error) {
					return extensions.BlockReconcile(text(w)), nil
				})},
				extensions.Entry{Type: extensions.AllTypes, Link: preLink(func(_, _ *resource.Object, w given) (extensions.PreReconcileCheckResult, error) {
					return extensions.PreReconcileCheckResult{}, fmt.Errorf("read: %s", text(w))
				})},
				extensions.Entry{Type: extensions.AllTypes, Link: postLink(func(_, _ *resource.Object, w given) (extensions.PostReconcileCheckResult, error) {
					return extensions.PostReconcileCheckResultFailure(text(w)), nil
				})},
			)
			for point, got := range map[string]resource.Verdict{
				"owner": r.CheckOwner(t.Context(), request), "pre": r.PreCheck(t.Context(), request), "post": r.PostCheck(t.Context(), request),
			} {
				if !got.Stops() || strings.Contains(got.Message, planted) || !strings.Contains(got.Message, "(masked)") {
					t.Errorf("%s: %s %q, want the message without the secret: %s", point, got.Action, got.Message, c.reason)
				}
			}
		})
	}
}
