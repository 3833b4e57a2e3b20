package starter

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/signing"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
)

// privateKey returns a file with a private key, its text, and what verifies it.
func privateKey(t *testing.T) (file, text string, verifier *signing.Verifier) {
	t.Helper()
	key := ed25519.NewKeyFromSeed([]byte(strings.Repeat("k", ed25519.SeedSize)))
	content, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text = string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: content}))
	file = filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file, text, signing.NewVerifier([]ed25519.PublicKey{key.Public().(ed25519.PublicKey)}, "default", noon) //nolint:forcetypeassert // the type of crypto/ed25519
}

// TestCommandsSign checks what the commands sign with a key.
func TestCommandsSign(t *testing.T) {
	file, text, verifier := privateKey(t)
	cases := map[string]struct {
		reason      string
		args        []string
		environment cli.Environment
		check       func(t *testing.T, input any)
	}{
		"apply": {
			reason: "the spec", args: []string{"apply", "-f", "DIR", "--signing-key", file},
			check: func(t *testing.T, input any) { accepted(t, verifier.Spec(input.(workflows.ApplyInput).Desired)) },
		},
		"environment with a file": {
			reason: "a pipeline mounts it", args: []string{"apply", "-f", "DIR"}, environment: cli.Environment{backend.SigningKeyVariable + "=" + file},
			check: func(t *testing.T, input any) { accepted(t, verifier.Spec(input.(workflows.ApplyInput).Desired)) },
		},
		"environment with the key": {
			reason: "a pipeline has it as a secret", args: []string{"apply", "-f", "DIR"}, environment: cli.Environment{backend.SigningKeyVariable + "=" + text},
			check: func(t *testing.T, input any) { accepted(t, verifier.Spec(input.(workflows.ApplyInput).Desired)) },
		},
		"delete by manifest": {
			reason: "the spec, which may start a workflow, and the request", args: []string{"delete", "-f", "DIR", "--yes", "--signing-key", file},
			check: func(t *testing.T, input any) {
				in := input.(workflows.DeleteInput)
				accepted(t, verifier.Deletion(*in.Desired, in.APIVersion, in.Order))
			},
		},
		"delete by name": {
			reason: "the request names the ID", args: []string{"delete", "adx", "--cascade", "--yes", "--signing-key", file},
			check: func(t *testing.T, input any) {
				accepted(t, verifier.Deletion(resource.Desired{ID: mustID(t, database)}, "", input.(workflows.DeleteInput).Order))
			},
		},
		"delete by label": {
			reason: "Temporal lists, so the labels are signed", args: []string{"delete", "-l", "stack=prod", "--yes", "--signing-key", file},
			check: func(t *testing.T, input any) {
				order := input.(workflows.DeleteInput).Order
				accepted(t, verifier.Deletion(resource.Desired{ID: mustID(t, cluster), Labels: map[string]string{"stack": "prod"}}, "", order))
				if fault := verifier.Deletion(resource.Desired{ID: mustID(t, cluster)}, "", order); fault == nil {
					t.Error("a resource without the labels could be deleted")
				}
			},
		},
		"approval": {
			reason: "a replacement deletes", args: []string{"reconcile", "adx", "--recreate", "--signing-key", file},
			check: func(t *testing.T, input any) {
				if order := input.(workflows.ReconcileInput).Order; order == nil || !order.Replace {
					t.Errorf("the order is %+v", order)
				}
			},
		},
		"without a key": {
			reason: "signatures are optional", args: []string{"delete", "adx", "--yes"},
			check: func(t *testing.T, input any) {
				if order := input.(workflows.DeleteInput).Order; order != nil {
					t.Errorf("the order is %+v", order)
				}
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.temporal.manage(t, cluster, workflows.Status{})
			w.environment = c.environment
			for i, arg := range c.args {
				if arg == "DIR" {
					c.args[i] = labelled(t, "{stack: prod}")
				}
			}
			code := w.run(c.args...)
			messages := slices.DeleteFunc(slices.Clone(w.temporal.inputs), func(input any) bool {
				_, plans := input.(activities.PlanResourceInput)
				return plans
			})
			if code != cli.ExitOK || len(messages) != 1 {
				t.Fatalf("%s: exit code %d, %d messages\n%s", c.reason, code, len(messages), w.out.String()+w.err.String())
			}
			c.check(t, messages[0])
		})
	}
}

func accepted(t *testing.T, fault *signing.Fault) {
	t.Helper()
	if fault != nil {
		t.Errorf("a worker refuses it: %+v", fault)
	}
}

// TestBadKeys reads keys that sign nothing; no message shows what may be a key.
func TestBadKeys(t *testing.T) {
	_, text, _ := privateKey(t)
	for name, c := range map[string]struct{ reason, environment, want string }{
		"no file":   {"the file is not there", "/no/such/file", "no such file"},
		"no PEM":    {"the key without its file", "MC4CAQAwBQYDK2VwBCIEIGtr", "no such file"},
		"truncated": {"a variable that lost a line", strings.ReplaceAll(text, "MC4C", "AAAA"), "no private key in PKCS#8"},
	} {
		w := newWorld()
		w.environment = cli.Environment{backend.SigningKeyVariable + "=" + c.environment}
		code := w.run("apply", "-f", labelled(t, "{stack: prod}"))
		if got := w.err.String(); code != cli.ExitBadInput || !strings.Contains(got, c.want) || !strings.Contains(got, backend.SigningKeyVariable) || strings.Contains(got, "MC4C") {
			t.Errorf("%s (%s): exit code %d, %s", name, c.reason, code, got)
		}
	}
}
