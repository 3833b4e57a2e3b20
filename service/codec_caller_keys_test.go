package service_test

import (
	"bytes"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"

	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/internal/testonly/issuer"
	commonpb "go.temporal.io/api/common/v1"
	"google.golang.org/protobuf/encoding/protojson"
)

// TestCodecKeysOfCallers checks that a caller decrypts payloads of the keys that its claims
// allow, and no request with one of another.
func TestCodecKeysOfCallers(t *testing.T) {
	secrets := map[string][]byte{"prod": bytes.Repeat([]byte{1}, payload.KeySize), "dev": bytes.Repeat([]byte{2}, payload.KeySize)}
	sealed := map[string]*commonpb.Payload{}
	for id, secret := range secrets {
		converters, err := payload.New(payload.Options{Keys: []payload.Key{{ID: id, Secret: secret}}, WriteKey: id})
		if err != nil {
			t.Fatal(err)
		}
		if sealed[id], err = converters.Data.ToPayload("body of " + id); err != nil {
			t.Fatal(err)
		}
		t.Setenv("KEY_"+strings.ToUpper(id), hex.EncodeToString(secret))
	}
	honest := issuer.Start(t)
	address, _ := startCodec(t, "--oidc-issuer", honest.URL, "--oidc-audience", codecAudience, "--oidc-keys", "prod:groups=oncall, prod:sub=ci",
		"--encryption-keys", "prod=env:KEY_PROD,dev=env:KEY_DEV")
	oncall := honest.Token(codecAudience, "ann", map[string]any{"groups": []string{"oncall"}})
	developer := honest.Token(codecAudience, "bob", map[string]any{"groups": []string{"dev"}})
	cases := map[string]struct {
		reason, token string
		keys          []string
		want          int
	}{
		"on call":         {"both keys", oncall, []string{"prod", "dev"}, http.StatusOK},
		"pipeline":        {"by its subject", honest.Token(codecAudience, "ci", nil), []string{"prod"}, http.StatusOK},
		"developer":       {"a key without an entry", developer, []string{"dev"}, http.StatusOK},
		"developer, prod": {"no claim of the key", developer, []string{"prod"}, http.StatusForbidden},
		"hidden":          {"one among others", developer, []string{"dev", "prod"}, http.StatusForbidden},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var request commonpb.Payloads
			for _, key := range c.keys {
				request.Payloads = append(request.Payloads, sealed[key])
			}
			text, err := protojson.Marshal(&request)
			if err != nil {
				t.Fatal(err)
			}
			response, decoded := postBody(t, http.DefaultClient, http.MethodPost, "http://"+address+"/decode", webUI(c.token, ""), text)
			if response.StatusCode != c.want {
				t.Errorf("%s: got %s %.200s, want %d", c.reason, response.Status, decoded, c.want)
			}
			for _, key := range c.keys {
				if strings.Contains(decoded, "body of "+key) != (c.want == http.StatusOK) {
					t.Errorf("%s: the response is %.200s", c.reason, decoded)
				}
			}
		})
	}
}
