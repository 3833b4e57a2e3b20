package activities

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/activities/exporting"
	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

// TestExportFollowsTheValue checks which comparisons write: a new secret, a rotation, a change
// in the vault and other tags, and nothing where both are equal.
func TestExportFollowsTheValue(t *testing.T) {
	t.Parallel()
	w, in := exportWorld(t)
	export := func(versions int, message string) exporting.Exported {
		t.Helper()
		got, err := run(w, w.acts.ExportValues, in)
		must(t, err)
		if got.Verdict.Stops() || !strings.Contains(got.Verdict.Message, message) || message == "" && got.Verdict.Message != "" {
			t.Fatalf("the verdict is %+v, want %q", got.Verdict, message)
		}
		secret := w.secret("app-key")
		if len(secret.Versions) != versions {
			t.Fatalf("the secret has %d versions, want %d", len(secret.Versions), versions)
		}
		newest := secret.Versions[versions-1]
		w.leaks(newest.Value, got, w.verdicts)
		in.Known = got.Exports
		if one := got.Exports[0]; one.Version != newest.ID || one.Hash == "" || one.WrittenAt.IsZero() || one.ComparedAt.IsZero() {
			t.Fatalf("the result is %+v, the vault has version %s", one, newest.ID)
		}
		return got.Exports[0]
	}
	first := export(1, "the vault had no such secret")
	if again := export(1, ""); again.Version != first.Version || again.Hash != first.Hash {
		t.Errorf("a comparison without a change returned %+v after %+v", again, first)
	}
	must(t, w.sim.RegenerateKey(armsim.KeyChange{ID: accountText, Name: "key2"}))
	export(1, "")
	must(t, w.sim.RegenerateKey(armsim.KeyChange{ID: accountText, Name: "key1"}))
	if rotated := export(2, "the value changed in Azure"); rotated.Hash == first.Hash {
		t.Error("the hash is that of another value")
	}
	w.sim.ChangeVault(armsim.VaultChange{Vault: "kv", Name: "app-key", Value: "of-another-tool", Tags: map[string]string{resource.ExportTag: accountText}})
	export(4, "it was changed in the vault")
	in.Desired.Exports[0].Tags = map[string]string{"team": "data"}
	export(4, "changed the tags")
	if tags := w.secret("app-key").Versions[3].Tags; tags["team"] != "data" || tags[resource.ExportTag] != accountText {
		t.Errorf("the tags are %v", tags)
	}
	export(4, "")
}

// TestExportIfAbsent checks that the policy if-absent writes once and leaves what exists,
// whoever wrote it.
func TestExportIfAbsent(t *testing.T) {
	t.Parallel()
	w, in := exportWorld(t)
	in.Desired.Exports[0].Policy = resource.ExportIfAbsent
	for round := range 3 {
		got, err := run(w, w.acts.ExportValues, in)
		must(t, err)
		if got.Verdict.Stops() || got.Exports[0].Left || len(w.secret("app-key").Versions) != 1 {
			t.Fatalf("round %d: %+v, %d versions", round, got, len(w.secret("app-key").Versions))
		}
		must(t, w.sim.RegenerateKey(armsim.KeyChange{ID: accountText, Name: "key1"}))
	}
	w.sim.ChangeVault(armsim.VaultChange{Vault: "kv", Name: "app-other", Value: "of-another-tool"})
	in.Desired.Exports[0].To = strings.Replace(exportTarget, "app-key", "app-other", 1)
	got, err := run(w, w.acts.ExportValues, in)
	must(t, err)
	if got.Verdict.Stops() || !got.Exports[0].Left || len(w.secret("app-other").Versions) != 1 {
		t.Errorf("a secret of another tool: %+v", got)
	}
}

// TestExportStops checks that what keeps a value from the vault is a verdict with a reason and
// a next step, and that nothing was written.
//
//guard:exports
func TestExportStops(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		setup  func(*setup)
		change func(*world, *ExportValuesInput)
		want   resource.Reason
		class  resource.RetryClass
		part   string
	}{
		"vault outside the list": {reason: "the operator decides which secrets are written", want: resource.ReasonExportNotAllowed, class: resource.RetryVerySlow, part: "add it to export.vaults",
			change: func(_ *world, in *ExportValuesInput) {
				in.Desired.Exports[0].To = strings.Replace(exportTarget, "//kv.", "//other.", 1)
			}},
		"name outside the list": {reason: "a prefix belongs to a team", want: resource.ReasonExportNotAllowed, class: resource.RetryVerySlow, part: "PREFIX*",
			change: func(_ *world, in *ExportValuesInput) {
				in.Desired.Exports[0].To = strings.Replace(exportTarget, "app-key", "db-key", 1)
			}},
		"nothing allowed": {reason: "the default", want: resource.ReasonExportNotAllowed, class: resource.RetryVerySlow, part: "does not allow this secret",
			setup: func(s *setup) { s.options.Exports = nil }},
		"no such action": {reason: "the type lacks it", want: resource.ReasonExportNotAllowed, class: resource.RetryVerySlow, part: "has no action listKey;",
			change: func(_ *world, in *ExportValuesInput) { in.Desired.Exports[0].From.Action = "listKey" }},
		"signatures": {reason: "each answer differs", want: resource.ReasonExportNotAllowed, class: resource.RetryVerySlow, part: "needs input",
			change: func(_ *world, in *ExportValuesInput) { in.Desired.Exports[0].From.Action = "listAccountSas" }},
		"regenerates": {reason: "an export must not rotate keys", want: resource.ReasonExportNotAllowed, class: resource.RetryVerySlow, part: "may change something",
			change: func(_ *world, in *ExportValuesInput) { in.Desired.Exports[0].From.Action = "regenerateKey" }},
		"path to nothing": {reason: "the answer has no such key", want: resource.ReasonExportNoValue, class: resource.RetrySlow, part: "leads to nothing in the answer of listKeys",
			change: func(_ *world, in *ExportValuesInput) { in.Desired.Exports[0].From.Path = "keys[keyName=key9].value" }},
		"path to nothing, again and again": {reason: "it is no loop", want: resource.ReasonExportNoValue, class: resource.RetryVerySlow, part: "times in a row",
			change: func(_ *world, in *ExportValuesInput) {
				in.Desired.Exports[0].From.Path = "keys[keyName=key9].value"
				in.Repeated = Repeated{Reason: resource.ReasonExportNoValue, Times: maxFastRefusals}
			}},
		"path to an object": {reason: "a secret is a text", want: resource.ReasonExportNoValue, class: resource.RetrySlow, part: "leads to an object",
			change: func(_ *world, in *ExportValuesInput) { in.Desired.Exports[0].From.Path = "keys[0]" }},
		"text without a value": {reason: "a text with a hole is no connection string", want: resource.ReasonExportNoValue, class: resource.RetrySlow, part: "${action.keys[7].value} has no value",
			change: func(_ *world, in *ExportValuesInput) {
				in.Desired.Exports[0].From = resource.ExportSource{Action: "listKeys", Text: "a=${name};b=${action.keys[7].value}"}
			}},
		"text that fails": {reason: "an error of the language would show the value", want: resource.ReasonExportNoValue, class: resource.RetrySlow, part: "failed: a value that it reads",
			change: func(_ *world, in *ExportValuesInput) {
				in.Desired.Exports[0].From = resource.ExportSource{Action: "listKeys", Text: "${int(action.keys[0].value)}"}
			}},
		"no right to list": {reason: "an assignment may follow", want: resource.ReasonExportRefused, class: resource.RetrySlow, part: "it needs Microsoft.Storage/storageAccounts/listKeys/action",
			change: func(w *world, _ *ExportValuesInput) {
				w.sim.Deny(armsim.Denial{Scope: accountText + "*", Method: http.MethodPost})
			}},
		"no right to write": {reason: "roles of the vault", want: resource.ReasonExportRefused, class: resource.RetrySlow, part: "Key Vault Secrets Officer",
			change: func(w *world, _ *ExportValuesInput) {
				w.sim.DenyVault(armsim.VaultDenial{Method: http.MethodPut})
			}},
		"access policy": {reason: "a vault without roles", want: resource.ReasonExportRefused, class: resource.RetrySlow, part: "access policy",
			change: func(w *world, _ *ExportValuesInput) {
				w.sim.DenyVault(armsim.VaultDenial{Code: "AccessDenied"})
			}},
		"firewall": {reason: "no role helps", want: resource.ReasonExportRefused, class: resource.RetrySlow, part: "firewall",
			change: func(w *world, _ *ExportValuesInput) {
				w.sim.DenyVault(armsim.VaultDenial{Code: "ForbiddenByFirewall"})
			}},
		"deleted secret": {reason: "its name is taken", want: resource.ReasonExportRefused, class: resource.RetryVerySlow, part: "az keyvault secret recover",
			change: func(w *world, _ *ExportValuesInput) {
				w.sim.ChangeVault(armsim.VaultChange{Vault: "kv", Name: "app-key", Value: "before", Tags: map[string]string{resource.ExportTag: accountText}, Deleted: true})
			}},
		"disabled secret": {reason: "an operator disabled it", want: resource.ReasonExportRefused, class: resource.RetryVerySlow, part: "set-attributes --enabled true",
			change: func(w *world, _ *ExportValuesInput) {
				w.sim.ChangeVault(armsim.VaultChange{Vault: "kv", Name: "app-key", Value: "before", Tags: map[string]string{resource.ExportTag: accountText}, Enabled: new(false)})
			}},
		"secret of another tool": {reason: "it is never overwritten", want: resource.ReasonExportRefused, class: resource.RetryVerySlow, part: "Armature did not write it",
			change: func(w *world, _ *ExportValuesInput) {
				w.sim.ChangeVault(armsim.VaultChange{Vault: "kv", Name: "app-key", Value: "of-another-tool"})
			}},
		"secret of another resource": {reason: "two resources would fight", want: resource.ReasonExportRefused, class: resource.RetryVerySlow, part: "export of another resource",
			change: func(w *world, _ *ExportValuesInput) {
				w.sim.ChangeVault(armsim.VaultChange{Vault: "kv", Name: "app-key", Value: "of-another-resource", Tags: map[string]string{resource.ExportTag: clusterText}})
			}},
		"local authentication disabled": {reason: "the service rejects the key", want: resource.ReasonExportRefused, class: resource.RetryVerySlow, part: "local authentication is disabled (properties.disableLocalAuth)",
			change: func(_ *world, in *ExportValuesInput) { in.KeysDisabled = "properties.disableLocalAuth" }},
		"policy observe": {reason: "it writes nothing", want: resource.ReasonProtected, class: resource.RetryVerySlow, part: "policy observe",
			change: func(_ *world, in *ExportValuesInput) { in.Desired.Policy = resource.PolicyObserve }},
		"frozen": {reason: "a freeze stops writes", want: resource.ReasonFrozen, class: resource.RetrySlow, part: "INC-42",
			change: func(w *world, in *ExportValuesInput) {
				w.fleet.freeze, w.fleet.frozen = writing.Freeze{Selector: "stack=prod", By: "ada@host", Reason: "INC-42", Since: w.now()}, true
				in.Desired.Labels = map[string]string{"stack": "prod"}
			}},
		"read-only": {reason: "the worker writes nothing", want: resource.ReasonReadOnly, class: resource.RetryVerySlow, part: "read-only",
			setup: func(s *setup) { s.options.ReadOnly = true }},
		"newer spec": {reason: "the next pass exports what it states", want: resource.ReasonSuperseded, class: resource.RetryFast, part: "generation 2",
			change: func(_ *world, in *ExportValuesInput) { in.Newest = 2 }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var changes []func(*setup)
			if tc.setup != nil {
				changes = append(changes, tc.setup)
			}
			w, in := exportWorld(t, changes...)
			if tc.change != nil {
				tc.change(w, &in)
			}
			before := len(w.secret("app-key").Versions)
			got, err := run(w, w.acts.ExportValues, in)
			must(t, err)
			v := got.Verdict
			if v.Reason != tc.want || v.Class != tc.class || !v.Stops() || !strings.Contains(v.Message, tc.part) {
				t.Errorf("%s: %s %s %q, want %s %s %q", tc.reason, v.Reason, v.Class, v.Message, tc.want, tc.class, tc.part)
			}
			if after := len(w.secret("app-key").Versions); after != before {
				t.Errorf("%s: %d versions were written", tc.reason, after-before)
			}
			for _, value := range w.sim.Secrets() {
				w.leaks(value, got, w.verdicts)
			}
		})
	}
}

// TestExportAfterLostAttempts loses the answer of the vault, as when the worker dies: the next
// attempt finds the version and writes no second one.
func TestExportAfterLostAttempts(t *testing.T) {
	t.Parallel()
	for name, applied := range map[string]bool{"before the write": false, "after the write": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, in := exportWorld(t)
			w.sim.AddFault(armsim.Fault{Method: http.MethodPut, Path: "/vaults/*", Applied: applied, Reset: true, Count: 1})
			got, failures := finish(w, w.acts.ExportValues, in)
			if len(failures) != 1 || got.Verdict.Stops() || len(w.secret("app-key").Versions) != 1 {
				t.Fatalf("%d failures, %+v, %d versions; want one failure and one version", len(failures), got.Verdict, len(w.secret("app-key").Versions))
			}
			for _, failure := range failures {
				w.leaks(w.secret("app-key").Versions[0].Value, failure.Error())
			}
		})
	}
}

// TestExportOfChangingAnswers refuses a value that two answers do not share.
func TestExportOfChangingAnswers(t *testing.T) {
	t.Parallel()
	var w *world
	w, in := exportWorld(t, func(s *setup) {
		before := s.handler
		s.handler = func(h http.Handler) http.Handler {
			inner := before(h)
			return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				inner.ServeHTTP(rw, r)
				if r.Method == http.MethodPost {
					must(t, w.sim.RegenerateKey(armsim.KeyChange{ID: accountText, Name: "key1"}))
				}
			})
		}
	})
	got, err := run(w, w.acts.ExportValues, in)
	must(t, err)
	if got.Verdict.Reason != resource.ReasonExportNotAllowed || !strings.Contains(got.Verdict.Message, "two answers") || len(w.secret("app-key").Versions) != 0 {
		t.Errorf("%+v, %d versions", got.Verdict, len(w.secret("app-key").Versions))
	}
}

// TestExportsAreApart checks that one export that fails keeps no other from the vault, and that
// the action is sent once for a comparison and once more before a write.
func TestExportsAreApart(t *testing.T) {
	t.Parallel()
	w, in := exportWorld(t)
	one := in.Desired.Exports[0]
	second, third := one, one
	second.To, second.From.Path = strings.Replace(exportTarget, "app-key", "app-key2", 1), "keys[keyName=key2].value"
	third.To, third.From.Path = strings.Replace(exportTarget, "app-key", "app-key3", 1), "keys[keyName=key3].value"
	in.Desired.Exports, in.Due = []resource.Export{third, one, second}, []int{0, 1, 2}
	got, err := run(w, w.acts.ExportValues, in)
	must(t, err)
	if got.Verdict.Reason != resource.ReasonExportNoValue || len(w.secret("app-key").Versions) != 1 || len(w.secret("app-key2").Versions) != 1 {
		t.Errorf("%+v, %d and %d versions", got.Verdict, len(w.secret("app-key").Versions), len(w.secret("app-key2").Versions))
	}
	if posts := w.sim.Counters().ByMethod[http.MethodPost]; posts != 2 {
		t.Errorf("%d requests of the action, want one and one to confirm", posts)
	}
	in.Due, in.Known = []int{2}, got.Exports
	w.advance(time.Hour)
	later, err := run(w, w.acts.ExportValues, in)
	must(t, err)
	if !later.Exports[2].ComparedAt.After(later.Exports[1].ComparedAt) || later.Exports[0].Version != "" {
		t.Errorf("only the third export was due: %+v", later.Exports)
	}
}

// TestPlanExports checks that a plan names what would be written and what would not be, without
// a value, and writes nothing.
func TestPlanExports(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason       string
		change       func(*world, *resource.Desired)
		want         string
		part         string
		exportsFirst bool
	}{
		"new":     {reason: "the vault has no such secret", want: exporting.PlannedWrite, part: "the vault had no such secret"},
		"in sync": {reason: "the value is the same", want: "", exportsFirst: true},
		"rotated": {reason: "the next pass writes it", want: exporting.PlannedWrite, part: "another value", exportsFirst: true, change: func(w *world, _ *resource.Desired) {
			must(t, w.sim.RegenerateKey(armsim.KeyChange{ID: accountText, Name: "key1"}))
		}},
		"absent resource": {reason: "it is created first", want: exporting.PlannedWrite, part: "once the resource exists", change: func(w *world, _ *resource.Desired) {
			w.sim.Delete(accountText)
		}},
		"not allowed": {reason: "the plan is the place to learn it", want: exporting.PlannedRefused, part: "ExportNotAllowed", change: func(_ *world, d *resource.Desired) {
			d.Exports[0].To = strings.Replace(exportTarget, "app-key", "db-key", 1)
		}},
		"no right": {reason: "the pass would be refused", want: exporting.PlannedRefused, part: "ExportRefused", change: func(w *world, _ *resource.Desired) {
			w.sim.DenyVault(armsim.VaultDenial{})
		}},
		"local authentication disabled": {reason: "the service rejects the key", want: exporting.PlannedRefused, part: "allowSharedKeyAccess", change: func(w *world, _ *resource.Desired) {
			must(t, w.sim.Patch(accountText, map[string]any{"properties": map[string]any{"allowSharedKeyAccess": false}}))
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, in := exportWorld(t)
			if tc.exportsFirst {
				_, err := run(w, w.acts.ExportValues, in)
				must(t, err)
			}
			if tc.change != nil {
				tc.change(w, &in.Desired)
			}
			before := jsonOf(w.sim.VaultSecrets())
			got, err := run(w, w.acts.PlanResource, PlanResourceInput{Desired: in.Desired})
			must(t, err)
			if len(got.Exports) != 1 || got.Exports[0].Change != tc.want || !strings.Contains(got.Exports[0].Why, tc.part) {
				t.Errorf("%s: %+v, want %q %q", tc.reason, got.Exports, tc.want, tc.part)
			}
			if after := jsonOf(w.sim.VaultSecrets()); after != before {
				t.Errorf("%s: the plan changed the vault", tc.reason)
			}
			for _, value := range w.sim.Secrets() {
				w.leaks(value, got)
			}
		})
	}
}

// TestKeysDisabled checks which properties make the keys of a service useless, and that
// PostCheck reports them for resources with exports alone.
func TestKeysDisabled(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, properties, want string
	}{
		"enabled":         {reason: "the default", properties: `{}`, want: ""},
		"local":           {reason: "most services", properties: `{"disableLocalAuth":true}`, want: "properties.disableLocalAuth"},
		"features":        {reason: "workspaces of Log Analytics", properties: `{"features":{"disableLocalAuth":true}}`, want: "properties.features.disableLocalAuth"},
		"word":            {reason: "databases of Managed Redis", properties: `{"accessKeysAuthentication":"Disabled"}`, want: "properties.accessKeysAuthentication"},
		"other word":      {reason: "their keys are accepted", properties: `{"accessKeysAuthentication":"Enabled"}`, want: ""},
		"local not":       {reason: "it is stated and off", properties: `{"disableLocalAuth":false,"allowSharedKeyAccess":true}`, want: ""},
		"storage":         {reason: "the opposite word", properties: `{"allowSharedKeyAccess":false}`, want: "properties.allowSharedKeyAccess"},
		"redis":           {reason: "a word of its own", properties: `{"disableAccessKeyAuthentication":true}`, want: "properties.disableAccessKeyAuthentication"},
		"cluster's admin": {reason: "its users have credentials still", properties: `{"disableLocalAccounts":true}`, want: "properties.disableLocalAccounts"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, in := exportWorld(t)
			post := PostCheckInput{Desired: in.Desired, Observed: []byte(`{"location":"westus2","properties":` + tc.properties + `}`)}
			if got := local(w, w.acts.PostCheck, post).KeysDisabled; got != tc.want {
				t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
			}
			post.Desired.Exports = nil
			if got := local(w, w.acts.PostCheck, post).KeysDisabled; got != "" {
				t.Errorf("without exports: %q", got)
			}
		})
	}
}
