package secrets

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestOwnSecretsAreNotRead checks that no link, mount or folder leads a $secret to a secret
// of the worker itself, also where it was made after the start.
//
//guard:own-secrets-of-the-worker
func TestOwnSecretsAreNotRead(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		// arrange returns the folder of manifests, the worker's own paths and the name that a
		// manifest states.
		arrange func(t *testing.T, base string) (dir string, own []string, name string)
		allowed bool
	}{
		"another file": {
			reason: "a secret of manifests is read", allowed: true,
			arrange: func(t *testing.T, base string) (string, []string, string) {
				t.Helper()
				put(t, base, "own/token")
				put(t, base, "dir/password")
				return base + "/dir", []string{base + "/own/token", base + "/own"}, "password"
			},
		},
		"hard link": {
			reason: "the same file under another name",
			arrange: func(t *testing.T, base string) (string, []string, string) {
				t.Helper()
				put(t, base, "own/token")
				put(t, base, "dir/password")
				must(t, os.Remove(base+"/dir/password"))
				must(t, os.Link(base+"/own/token", base+"/dir/password"))
				return base + "/dir", []string{base + "/own/token"}, "password"
			},
		},
		"hard link to a file of a folder": {
			reason: "the tokens of a pod are files of a folder",
			arrange: func(t *testing.T, base string) (string, []string, string) {
				t.Helper()
				put(t, base, "own/serviceaccount/token")
				put(t, base, "dir/other")
				must(t, os.Link(base+"/own/serviceaccount/token", base+"/dir/password"))
				return base + "/dir", []string{base + "/own"}, "password"
			},
		},
		"folder around": {
			reason: "/var/run/secrets contains the tokens of the pod",
			arrange: func(t *testing.T, base string) (string, []string, string) {
				t.Helper()
				put(t, base, "run/tokens/azure")
				return base + "/run", []string{base + "/run/tokens"}, "tokens/azure"
			},
		},
		"folder of many files": {
			reason: "the Azure CLI keeps thousands of files beside its tokens",
			arrange: func(t *testing.T, base string) (string, []string, string) {
				t.Helper()
				for i := range maxOwnFiles + 1 {
					put(t, base, fmt.Sprintf("home/.azure/%04d", i))
				}
				put(t, base, "home/.azure/msal")
				return base + "/home", []string{base + "/home/.azure"}, ".azure/msal"
			},
		},
		"folder that became a link": {
			reason: "it is followed at each read",
			arrange: func(t *testing.T, base string) (string, []string, string) {
				t.Helper()
				put(t, base, "own/token")
				must(t, os.Symlink(base+"/own", base+"/dir"))
				return base + "/dir", []string{base + "/own"}, "token"
			},
		},
		"link inside": {
			reason: "the path of the worker's own file is a link too, as Kubernetes mounts it",
			arrange: func(t *testing.T, base string) (string, []string, string) {
				t.Helper()
				put(t, base, "run/..data/token")
				must(t, os.Symlink("..data/token", base+"/run/token"))
				return base + "/run", []string{base + "/run/token"}, "..data/token"
			},
		},
	}
	if runtime.GOOS == "linux" {
		cases["the process"] = struct {
			reason  string
			arrange func(t *testing.T, base string) (dir string, own []string, name string)
			allowed bool
		}{
			reason: "environ contains every variable of the worker",
			arrange: func(t *testing.T, base string) (string, []string, string) {
				t.Helper()
				must(t, os.Symlink("/proc/self", base+"/dir"))
				return base + "/dir", nil, "status"
			},
		}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, own, file := c.arrange(t, t.TempDir())
			value, err := New(Options{Dir: dir, Own: own}).ReadCached(t.Context(), "file:"+file)
			if c.allowed {
				if err != nil || value != "content" {
					t.Errorf("%s: got %q, %v", c.reason, value, err)
				}
				return
			}
			failure, ok := errors.AsType[*Error](err)
			if !ok || !failure.NotAllowed || !strings.Contains(err.Error(), "a secret of the worker itself") || value != "" {
				t.Errorf("%s: got %q, %v; want a refusal", c.reason, value, err)
			}
			if err != nil && strings.Contains(err.Error(), dir) {
				t.Errorf("%s: the error shows the worker's folder: %v", c.reason, err)
			}
		})
	}
}

type holderKey struct{}

// TestSecretsOfHolders checks that a resource gets the secrets of its own credential only.
//
//guard:secrets-belong-to-a-credential
func TestSecretsOfHolders(t *testing.T) {
	base := t.TempDir()
	put(t, base, "a/password")
	put(t, base, "b/password")
	t.Setenv("TEAM_A_PASSWORD", "content")
	t.Setenv("TEAM_B_PASSWORD", "content")
	resolver := New(Options{
		EnvPrefix: "TEAM_", Dir: base,
		Holder: func(ctx context.Context) string { name, _ := ctx.Value(holderKey{}).(string); return name },
		Holders: map[string]Allowed{
			"a": {EnvPrefix: "TEAM_A_", Dir: base + "/a"}, "b": {EnvPrefix: "TEAM_B_", Dir: base + "/b"}, "default": {},
		},
	})
	const env, file = "env:TEAM_A_PASSWORD", "file:password"
	cases := map[string]struct {
		reason, holder, reference, want string
	}{
		"own variable":         {"it is its own", "a", env, ""},
		"own file":             {"it is its own", "a", file, ""},
		"variable of others":   {"it belongs to another team", "b", env, "allows only variables that begin with TEAM_B_ for resources of the credential b; rename the variable or change credentials.b.secrets.env-prefix"},
		"out of the own files": {"a path leads to the other folder", "b", "file:../a/password", "inside credentials.b.secrets.dir"},
		"the worker's own":     {"the default credential has none", "default", env, "no environment variables for resources of the default credential; set secrets.env-prefix"},
		"files of the worker":  {"the default credential has none", "default", file, "no files for resources of the default credential; set secrets.dir"},
		"without a holder":     {"the resource may not use its credential", "", env, "for a resource that may not use its credential"},
		"unknown holder":       {"a name without an allow-list", "c", file, "set credentials.c.secrets.dir"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			value, err := resolver.ReadCached(context.WithValue(t.Context(), holderKey{}, c.holder), c.reference)
			switch {
			case c.want == "" && (err != nil || value != "content"):
				t.Errorf("%s: got %q, %v", c.reason, value, err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || value != ""):
				t.Errorf("%s: got %q, %v; want %q", c.reason, value, err, c.want)
			}
		})
	}
}

// TestMaskWithoutKey checks that the masks of a worker without a key are all the same: a
// hash with a known key is found by trying words.
//
//guard:masks-without-a-key-show-nothing
func TestMaskWithoutKey(t *testing.T) {
	t.Parallel()
	m := NewMasker(nil)
	one, other := m.Value("winter2024"), m.Value("summer2024")
	if one != other || strings.ContainsAny(one, "0123456789") {
		t.Errorf("the masks %q and %q tell their values apart", one, other)
	}
	if m.Value(one) != one {
		t.Errorf("a mask is masked again: %q", m.Value(one))
	}
}

func put(t *testing.T, base, name string) {
	t.Helper()
	path := filepath.Join(base, name)
	must(t, os.MkdirAll(filepath.Dir(path), 0o750))
	must(t, os.WriteFile(path, []byte("content\n"), 0o600))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
