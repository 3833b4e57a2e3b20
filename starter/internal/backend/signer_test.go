package backend_test

import (
	"crypto/ed25519"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/signing"
	"github.com/armature-io/armature/starter/internal/backend"
)

func TestSignatureFindings(t *testing.T) {
	key := signing.NewSigner(ed25519.NewKeyFromSeed([]byte(strings.Repeat("k", ed25519.SeedSize))), "default", time.Now)
	required := func(keys ...string) *activities.SignatureStatus {
		return &activities.SignatureStatus{Required: true, Keys: keys}
	}
	cases := map[string]struct {
		reason string
		worker *activities.SignatureStatus
		key    *signing.Signer
		state  activities.FindingState
		want   string
	}{
		"neither":      {reason: "most installations", want: ""},
		"worker alone": {"what is applied here is not written", required("a"), nil, activities.FindingWarn, "no key is configured here"},
		"key alone":    {"signatures protect from nothing", nil, key, activities.FindingWarn, "checks no signatures"},
		"other key":    {"an old key, or that of another stage", required("a"), key, activities.FindingError, "does not accept the key " + key.KeyID()},
		"accepted":     {"one of several", required("a", key.KeyID()), key, activities.FindingOK, "accepts the key " + key.KeyID()},
		"warns":        {"it must not stay so", &activities.SignatureStatus{Keys: []string{key.KeyID()}}, key, activities.FindingWarn, "only warns"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := backend.SignatureFindings(c.worker, c.key)
			switch {
			case c.want == "" && len(got) > 0, c.want != "" && len(got) != 1:
				t.Errorf("%s: %+v", c.reason, got)
			case c.want != "" && (got[0].State != c.state || !strings.Contains(got[0].Message, c.want) || got[0].State != activities.FindingOK && got[0].Advice == ""):
				t.Errorf("%s: %+v, want %s %q", c.reason, got[0], c.state, c.want)
			}
		})
	}
}
