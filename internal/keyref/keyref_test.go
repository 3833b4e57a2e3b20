package keyref_test

import (
	"strings"
	"testing"

	"github.com/armature-io/armature/internal/keyref"
)

func TestParse(t *testing.T) {
	cases := map[string]struct {
		reason string
		entry  string
		want   keyref.Ref // zero where the entry is refused
	}{
		"variable":          {"the simplest source", "2026-11=env:KEY", keyref.Ref{ID: "2026-11", Kind: keyref.Env, At: "KEY"}},
		"file":              {"a mounted secret", "a=file:/run/keys/a", keyref.Ref{ID: "a", Kind: keyref.File, At: "/run/keys/a"}},
		"file with =":       {"only the first sign separates", "a=file:/run/a=b", keyref.Ref{ID: "a", Kind: keyref.File, At: "/run/a=b"}},
		"wrapped":           {"a file that a key vault unwraps", "a=wrapped:/run/keys/a.json", keyref.Ref{ID: "a", Kind: keyref.Wrapped, At: "/run/keys/a.json"}},
		"vault":             {"Key Vault's identifier", "a=keyvault:https://kv.vault.azure.net/secrets/key", keyref.Ref{ID: "a", Kind: keyref.Vault, At: "https://kv.vault.azure.net/secrets/key"}},
		"vault over HTTP":   {"a key must not cross the network in clear", "a=keyvault:http://kv.vault.azure.net/secrets/key", keyref.Ref{}},
		"vault with a key":  {"a key of a vault cannot be read", "a=keyvault:https://kv.vault.azure.net/keys/key", keyref.Ref{}},
		"the key itself":    {"a configuration is no place for keys", "a=planted0123456789", keyref.Ref{}},
		"without an ID":     {"each payload names its key", "file:/planted", keyref.Ref{}},
		"unknown source":    {"a typing mistake", "a=fil:/planted", keyref.Ref{}},
		"ID with a slash":   {"IDs are in metadata and messages", "a/b=file:/planted", keyref.Ref{}},
		"variable in words": {"names of variables have no spaces", "a=env:planted key", keyref.Ref{}},
	}
	for name, tc := range cases {
		got, err := keyref.Parse([]string{tc.entry})
		if (err != nil) != (tc.want == keyref.Ref{}) || err == nil && got[0] != tc.want {
			t.Errorf("%s: %+v, %v: %s", name, got, err, tc.reason)
		}
		if err != nil && strings.Contains(err.Error(), "planted") {
			t.Errorf("%s: the error repeats the text: %v", name, err)
		}
	}
	if _, err := keyref.Parse([]string{"a=env:A", "a=env:B"}); err == nil || !strings.Contains(err.Error(), "used twice") {
		t.Errorf("an ID twice: %v", err)
	}
}

func TestCheckWriteKey(t *testing.T) {
	refs := []keyref.Ref{{ID: "a"}}
	if keyref.CheckWriteKey(refs, "a") != nil || keyref.CheckWriteKey(nil, "") != nil {
		t.Error("a known key, or none, is refused")
	}
	if keyref.CheckWriteKey(refs, "b") == nil {
		t.Error("an unknown key is accepted")
	}
}
