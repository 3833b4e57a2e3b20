package service_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/service"
	"go.temporal.io/sdk/client"
)

const rule = "rules:\n  - name: r\n    type: Microsoft.Kusto/clusters\n    when: observed.a == 1\n    block: x\n"

// resting is a link of a worker's own.
type resting struct{}

func (resting) RestingStates() []string { return nil }

func TestInvalidRulesPreventStart(t *testing.T) {
	c := settings(newEndpoint(t))
	c.Rules.Path = write(t, "r.yaml", strings.Replace(rule, "observed.a == 1", "observed.a +", 1))
	err := service.Run(t.Context(), c, service.Options{Stderr: &log{}})
	if !isConfigError(err) || !has(err.Error(), "r.yaml:4:23: when: Syntax error") {
		t.Errorf("got %v, want a ConfigError with the position of the error", err)
	}
}

func TestRulesReload(t *testing.T) {
	c := settings(newEndpoint(t))
	c.Rules.Path = write(t, "r.yaml", strings.Replace(rule, "clusters", "clustrs", 1))
	c.Rules.Reload = time.Second
	own := extensions.Entry{Type: "Microsoft.Kusto/clustrs", Link: resting{}}
	r := startWith(t, c, service.Options{
		Temporal:   &client.Options{HostPort: listenTemporal(t, &fakeTemporal{mayRegister: true}, "127.0.0.1:0")},
		Extensions: []extensions.Entry{own},
	})
	eventually(t, "the rules are loaded", func() bool { return has(r.log.String(), "rules loaded", "unknown type") })
	eventually(t, "links and rules are listed", func() bool {
		return has(r.log.String(), `"msg":"extension registered","name":"rule r (`, `"type":"Microsoft.Kusto/clustrs","points":"PreReconcileCheck"`,
			`"name":"service_test.resting","type":"Microsoft.Kusto/clustrs","points":"RestingStates"`, "did you mean Microsoft.Kusto/clusters?")
	})
	if log := r.log.String(); !has(log, `"msg":"built-in extensions registered"`) || has(log, `"msg":"built-in extensions registered","entries":0`) {
		t.Errorf("the built-in extensions are missing beside those of the options:\n%s", log)
	}
	if strings.Contains(r.log.String(), `"name":"azure.`) {
		t.Error("built-in links are listed one by one")
	}
	expectRules := func(state, gauge string) {
		t.Helper()
		eventually(t, "the state of the rules is "+state, func() bool {
			status, body := r.get(t, "/readyz")
			_, metrics := r.get(t, "/metrics")
			return has(body, `"rules":"`+state) && has(metrics, "armature_rules_reload_failed "+gauge, "\narmature_rules 1") && status == http.StatusOK
		})
	}
	expectRules("ok", "0")
	replace := func(text string) {
		next := filepath.Join(t.TempDir(), "next")
		if err := os.WriteFile(next, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(next, c.Rules.Path); err != nil {
			t.Fatal(err)
		}
	}
	replace(strings.Replace(rule, "observed.a", "obsrved.a", 1))
	eventually(t, "the error is logged", func() bool {
		return has(r.log.String(), "rules not reloaded, keeping the old ones", "undeclared reference")
	})
	expectRules("RulesInvalid: the files in ", "1")
	replace(rule)
	eventually(t, "the new rules are loaded", func() bool {
		return has(r.log.String(), "rules reloaded", `"msg":"the checks of this worker changed","checks":"`)
	})
	expectRules("ok", "0")
	if err := r.stop(); err != nil {
		t.Error(err)
	}
}
