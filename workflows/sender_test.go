package workflows_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// TestSealedMessage checks that a message has the same digest before and after Temporal, and
// another one for another content.
func TestSealedMessage(t *testing.T) {
	t.Parallel()
	id, err := resource.ParseID("/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/RG/providers/Microsoft.Kusto/clusters/adx")
	if err != nil {
		t.Fatal(err)
	}
	apply := workflows.ApplyInput{By: "ann", Desired: resource.Desired{
		ID: id, Body: json.RawMessage(`{ "tags": {"b": "<&>", "a": 1.0e2} }`), Labels: map[string]string{"z": "1", "a": "2"},
		Signature: &resource.Signature{At: time.Now().In(time.FixedZone("x", 7200)), Value: []byte{1}},
	}}
	encoded, err := payload.DataConverter().ToPayload(apply)
	if err != nil {
		t.Fatal(err)
	}
	var received workflows.ApplyInput
	if err := payload.DataConverter().FromPayload(encoded, &received); err != nil {
		t.Fatal(err)
	}
	other := received
	other.Desired.Body = json.RawMessage(`{"tags":{"b":"<&>","a":1.0e3}}`)
	digest := func(content any) string {
		sealed, err := workflows.SentMessage{Content: content}.Sealed()
		if err != nil || sealed.Content != nil {
			t.Fatal(err)
		}
		return sealed.Digest
	}
	if none := digest(nil); none != digest(json.RawMessage("null")) {
		t.Errorf("a message without an argument has the digest %s", none)
	}
	if sent := digest(apply); sent != digest(received) || sent == digest(other) {
		t.Errorf("digests: sent %s, received %s, of another body %s", sent, digest(received), digest(other))
	}
}
