package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEncryption checks that file, variables and flags give the same keys.
func TestEncryption(t *testing.T) {
	want := Encryption{Keys: []string{"a=env:KEY_A", "b=file:/run/keys/b"}, WriteKey: "b", Require: "2026-12-01T00:00:00Z"}
	file := filepath.Join(t.TempDir(), "worker.yaml")
	if err := os.WriteFile(file, []byte("encryption:\n  keys: [a=env:KEY_A, 'b=file:/run/keys/b']\n  write-key: b\n  require: '2026-12-01T00:00:00Z'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, load := range map[string]func(*testing.T) (Config, error){
		"file": func(*testing.T) (Config, error) { return Load([]string{"--config", file}) },
		"flags": func(*testing.T) (Config, error) {
			return Load([]string{"--encryption-keys", "a=env:KEY_A,b=file:/run/keys/b", "--encryption-write-key", "b", "--encryption-require", "2026-12-01T00:00:00Z"})
		},
		"variables": func(t *testing.T) (Config, error) {
			t.Setenv("ARMATURE_ENCRYPTION_KEYS", "a=env:KEY_A, b=file:/run/keys/b")
			t.Setenv("ARMATURE_ENCRYPTION_WRITE_KEY", "b")
			t.Setenv("ARMATURE_ENCRYPTION_REQUIRE", "2026-12-01T00:00:00Z")
			return Load(nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := load(t)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got.Encryption); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestKeysAreNotSecretsOfManifests checks that no manifest can read a key: each user with
// the right to apply could publish it.
//
//guard:own-secrets-of-the-worker
func TestKeysAreNotSecretsOfManifests(t *testing.T) {
	for name, tc := range map[string]struct{ keys, want string }{
		"variable":     {"a=env:ARMATURE_SECRET_KEY", "encryption.keys a: env:ARMATURE_SECRET_KEY is readable by manifests"},
		"file":         {"a=file:/run/secrets/app/key", "encryption.keys a"},
		"wrapped":      {"a=wrapped:/run/secrets/app/key.json", "encryption.keys a"},
		"no reference": {"a=0011", "encryption.keys: key 1 of 1"},
	} {
		_, err := Load([]string{"--secrets-dir", "/run/secrets/app", "--encryption-keys", tc.keys})
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: want %q, got %v", name, tc.want, err)
		}
	}
	if _, err := Load([]string{"--encryption-keys", "a=env:KEY", "--encryption-write-key", "b"}); err == nil || !strings.Contains(err.Error(), "encryption.write-key") {
		t.Errorf("an unknown key for writing: %v", err)
	}
	for name, args := range map[string][]string{
		"no time": {"--encryption-write-key", "a", "--encryption-require", "yesterday"},
		"no key":  {"--encryption-require", "2026-12-01T00:00:00Z"},
	} {
		if _, err := Load(append(args, "--encryption-keys", "a=env:KEY")); err == nil || !strings.Contains(err.Error(), "encryption.require") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
