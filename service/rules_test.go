package service_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/service"
)

const rule = "rules:\n  - name: r\n    type: Microsoft.Kusto/clusters\n    when: observed.a == 1\n    block: x\n"

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
	r := start(t, c, listenTemporal(t, &fakeTemporal{mayRegister: true}, "127.0.0.1:0"))
	eventually(t, "the rules are loaded", func() bool { return has(r.log.String(), "rules loaded", "unknown type") })
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
	replace(rule)
	eventually(t, "the new rules are loaded", func() bool { return has(r.log.String(), "rules reloaded") })
	if err := r.stop(); err != nil {
		t.Error(err)
	}
}
