package activities

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

// Refusal is a verdict with severity Error that stops the PUTs of a spec. The resource is
// still read, once per interval: what was mended elsewhere needs no PUT.
type Refusal struct {
	Verdict resource.Verdict `json:"verdict"`
	// Sent is a keyed hash of the refused content. It is "" for the verdict of a
	// post-check, which is made again.
	Sent string `json:"sent,omitempty"`
}

// checkRefusal returns the verdict that stops a PUT, or the given one. Another content
// than the refused one may be sent: a referenced value or a secret may have changed.
func (c *comparer) checkRefusal(ctx context.Context, verdict resource.Verdict, in PreCheckInput, request extensionhost.Request) resource.Verdict {
	refusal := in.Refusal
	if refusal == nil || in.Force || verdict.Action != resource.ActionProceed {
		return verdict
	}
	stop := refusal.Verdict
	switch refusal.Sent {
	case c.contentHash(request.Object, request.Secrets):
	case "":
		if stop = c.registry.PostCheck(ctx, request); !stop.Stops() || stop.Class != resource.RetryNone {
			return verdict
		}
	default:
		return verdict
	}
	stop.Differences, stop.More = verdict.Differences, verdict.More
	return stop
}

// contentHash returns a keyed hash of what the manifest states, with the values of $ref
// and hashes of the secrets.
func (h *hasher) contentHash(object *resource.Object, secrets map[string]string) string {
	content, err := json.Marshal(map[string]any{"apiVersion": object.APIVersion, "body": object.Desired, "secrets": secrets})
	if err != nil {
		return "unknown"
	}
	return h.hash(content)
}

// content returns the hash of what this PUT states.
func (p *put) content() string {
	hashes := map[string]string{}
	maps.Copy(hashes, p.request.Secrets)
	maps.Copy(hashes, p.secrets)
	if len(hashes) == 0 {
		hashes = nil
	}
	return p.contentHash(p.request.Object, hashes)
}
