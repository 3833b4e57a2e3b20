package backend_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
)

// converters returns the converters of keys by ID; the first ID writes unless it is "-".
func converters(t *testing.T, write string, numbers map[string]byte) *payload.Converters {
	t.Helper()
	options := payload.Options{WriteKey: write}
	for id, number := range numbers {
		options.Keys = append(options.Keys, payload.Key{ID: id, Secret: bytes.Repeat([]byte{number}, payload.KeySize)})
	}
	c, err := payload.New(options)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestEncryptionFindings(t *testing.T) {
	one, both := map[string]byte{"a": 1}, map[string]byte{"a": 1, "b": 2}
	cases := map[string]struct {
		reason       string
		worker, here *payload.Converters
		state        activities.FindingState // "" for no finding
		text         string
	}{
		"neither":              {"without encryption there is nothing to report", payload.Clear(), payload.Clear(), "", ""},
		"agree":                {"the same key writes on both sides", converters(t, "a", one), converters(t, "a", one), activities.FindingOK, "encrypt with the key a"},
		"other key, same ID":   {"the bytes differ, which IDs do not show", converters(t, "a", one), converters(t, "a", map[string]byte{"a": 9}), activities.FindingError, "different keys under the ID a"},
		"worker lacks ours":    {"what is sent from here could not be read", converters(t, "a", one), converters(t, "b", both), activities.FindingError, "has no key b"},
		"we lack the worker's": {"answers could not be read", converters(t, "b", both), converters(t, "a", one), activities.FindingError, "encrypts with the key b"},
		"amid a rotation":      {"both read both, and write with different keys", converters(t, "b", both), converters(t, "a", both), activities.FindingWarn, "set encryption.write-key"},
		"only the CLI writes":  {"the worker still writes in clear", converters(t, "", one), converters(t, "a", one), activities.FindingWarn, "writes clear payloads"},
		"neither writes":       {"keys without a key for writing are easily taken for encryption", converters(t, "", one), converters(t, "", one), activities.FindingWarn, "write clear payloads"},
		"old key is missing":   {"older histories may need it", converters(t, "a", one), converters(t, "a", both), activities.FindingWarn, "lacks the key b"},
	}
	for name, tc := range cases {
		status := tc.worker.Status()
		found := backend.EncryptionFindings(&status, tc.here.Status())
		if tc.state == "" {
			if len(found) > 0 {
				t.Errorf("%s: %+v: %s", name, found, tc.reason)
			}
			continue
		}
		text := ""
		if len(found) == 1 {
			text = found[0].Message + " " + found[0].Advice
		}
		if len(found) != 1 || found[0].State != tc.state || !strings.Contains(text, tc.text) {
			t.Errorf("%s: %+v, want %s with %q: %s", name, found, tc.state, tc.text, tc.reason)
		}
	}
	if found := backend.EncryptionFindings(nil, converters(t, "a", one).Status()); len(found) != 1 || found[0].State != activities.FindingError {
		t.Errorf("a worker without keys, and a key here: %+v", found)
	}
}

func TestCodecFindings(t *testing.T) {
	here := converters(t, "a", map[string]byte{"a": 1})
	var authorization string
	serve := func(c *payload.Converters) cli.Environment {
		inner := c.NewHandler(payload.HandlerOptions{})
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			authorization = r.Header.Get("Authorization")
			inner.ServeHTTP(w, r)
		}))
		t.Cleanup(server.Close)
		return cli.Environment{"TEMPORAL_CONFIG_FILE=/dev/null", "TEMPORAL_CODEC_ENDPOINT=" + server.URL, "TEMPORAL_CODEC_AUTH=Bearer token"}
	}
	if found := backend.CodecFindings(serve(here), here); len(found) != 1 || found[0].State != activities.FindingOK || authorization != "Bearer token" {
		t.Errorf("the same key: %+v, authorization %q", found, authorization)
	}
	for name, other := range map[string]*payload.Converters{"no keys": payload.Clear(), "another key": converters(t, "a", map[string]byte{"a": 2})} {
		if found := backend.CodecFindings(serve(other), here); len(found) != 1 || found[0].State != activities.FindingError || found[0].Advice == "" {
			t.Errorf("%s: %+v", name, found)
		}
	}
	if found := backend.CodecFindings(cli.Environment{"TEMPORAL_CONFIG_FILE=/dev/null"}, here); found != nil {
		t.Errorf("no codec server: %+v", found)
	}
}

// TestLoadKeys checks that flags override variables, and that a wrong reference is bad input.
func TestLoadKeys(t *testing.T) {
	text := strings.Repeat("01", payload.KeySize)
	environment := cli.Environment{"KEY=" + text, "ARMATURE_ENCRYPTION_KEYS=a=env:KEY, b=env:KEY", "ARMATURE_ENCRYPTION_WRITE_KEY=a"}
	for name, tc := range map[string]struct {
		keys backend.EncryptionKeys
		want string
	}{
		"variables": {backend.EncryptionKeys{}, "a"},
		"a flag":    {backend.EncryptionKeys{WriteKey: "b"}, "b"},
	} {
		c, err := tc.keys.Load(t.Context(), environment, payload.Options{})
		if err != nil || c.Status().WriteKey != tc.want || len(c.Status().Keys) != 2 {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
	_, err := backend.EncryptionKeys{}.Load(t.Context(), cli.Environment{"ARMATURE_ENCRYPTION_KEYS=" + text}, payload.Options{})
	if cli.ExitCode(err) != cli.ExitBadInput || strings.Contains(err.Error(), text) {
		t.Errorf("the key itself in place of a reference: %v", err)
	}
}
