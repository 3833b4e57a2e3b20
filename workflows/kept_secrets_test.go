package workflows_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// TestKeptSecrets sets another password outside Armature and lets another value drift. The
// correction does not reset the password; a new one of the manifest or of its source is sent.
func TestKeptSecrets(t *testing.T) {
	const (
		sql      = `{"location":"westus2","properties":{"administratorLogin":"boss","administratorLoginPassword":{"$secret":"env:%s"},"minimalTlsVersion":"1.2"}}`
		sqlDrift = `{"properties":{"administratorLoginPassword":"rotated","minimalTlsVersion":"1.0"}}`
		mysql    = `{"location":"westus2","sku":{"name":"Standard_B1ms","tier":"Burstable"},"properties":{"administratorLogin":"boss","administratorLoginPassword":{"$secret":"env:%s"},"version":"8.0.21","storage":{"storageSizeGB":32},"backup":{"backupRetentionDays":7}}}`
	)
	for name, c := range map[string]struct {
		reason, id, version, body, drift string
		// source is the value of the secret after two hours, "" for the first one; edit
		// changes the manifest then.
		source  string
		edit    func(*resource.Desired)
		initial func(*resource.Desired)
		want    string
	}{
		"SQL server": {reason: "an unchanged password stays", id: "Microsoft.Sql/servers/kept1", version: "2021-11-01", body: sql, drift: sqlDrift, want: "rotated"},
		"new value":  {reason: "a new value of the secret is sent", id: "Microsoft.Sql/servers/kept2", version: "2021-11-01", body: sql, drift: sqlDrift, source: "second", want: "second"},
		"other value changed": {reason: "an apply that changes another value leaves it alone", id: "Microsoft.Sql/servers/kept3", version: "2021-11-01", body: sql, drift: sqlDrift, edit: func(d *resource.Desired) {
			d.Body = json.RawMessage(strings.Replace(string(d.Body), `"1.2"`, `"1.1"`, 1))
		}, want: "rotated"},
		"enforced":            {reason: "reconcile.enforce sends it in each PUT", id: "Microsoft.Sql/servers/kept4", version: "2021-11-01", body: sql, drift: sqlDrift, initial: func(d *resource.Desired) { d.Enforce = []string{"properties.administratorLoginPassword"} }, want: "first"},
		"MySQL":               {reason: "an unchanged password stays", id: "Microsoft.DBforMySQL/flexibleServers/kept5", version: "2023-12-30", body: mysql, drift: `{"properties":{"administratorLoginPassword":"rotated","backup":{"backupRetentionDays":1}}}`, want: "rotated"},
		"PostgreSQL":          {reason: "an unchanged password stays", id: "Microsoft.DBforPostgreSQL/flexibleServers/kept6", version: "2024-08-01", body: strings.Replace(mysql, "8.0.21", "16", 1), drift: `{"properties":{"administratorLoginPassword":"rotated","backup":{"backupRetentionDays":1}}}`, want: "rotated"},
		"PATCH of any type":   {reason: "a PATCH keeps what it omits", id: "Microsoft.Synapse/workspaces/kept7", version: "2021-06-01", body: `{"properties":{"sqlAdministratorLoginPassword":{"$secret":"env:%s"},"publicNetworkAccess":"Disabled"}}`, drift: `{"properties":{"sqlAdministratorLoginPassword":"rotated","publicNetworkAccess":"Enabled"}}`, initial: func(d *resource.Desired) { d.Put = resource.PutPatch }, want: "rotated"},
		"literal in the body": {reason: "a password without $secret is known by its hash", id: "Microsoft.Sql/servers/kept8", version: "2021-11-01", body: strings.Replace(sql, `{"$secret":"env:%s"}`, `"first"`, 1), drift: sqlDrift, want: "rotated"},
		"recreated":           {reason: "a recreation sends the manifest's", id: "Microsoft.Sql/servers/kept9", version: "2021-11-01", body: sql, initial: func(d *resource.Desired) { d.Recreate = resource.RecreateAlways }, want: "first"},
		"initial":             {reason: "reconcile.initial gives it to another owner", id: "Microsoft.Sql/servers/kept11", version: "2021-11-01", body: sql, drift: sqlDrift, initial: func(d *resource.Desired) { d.Initial = []string{"properties.administratorLoginPassword"} }, want: "rotated"},
		"initial, no fact":    {reason: "without a fact, the service may lose what a PUT omits", id: "Microsoft.Synapse/workspaces/kept12", version: "2021-06-01", body: `{"location":"westus2","properties":{"sqlAdministratorLoginPassword":{"$secret":"env:%s"},"publicNetworkAccess":"Disabled"}}`, drift: `{"properties":{"sqlAdministratorLoginPassword":"rotated","publicNetworkAccess":"Enabled"}}`, initial: func(d *resource.Desired) { d.Initial = []string{"properties.sqlAdministratorLoginPassword"} }, want: "first"},
		"no fact":             {reason: "a service that may not keep it gets it", id: "Microsoft.Synapse/workspaces/kept10", version: "2021-06-01", body: `{"location":"westus2","properties":{"sqlAdministratorLoginPassword":{"$secret":"env:%s"},"publicNetworkAccess":"Disabled"}}`, drift: `{"properties":{"sqlAdministratorLoginPassword":"rotated","publicNetworkAccess":"Enabled"}}`, want: "first"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			variable := "ARMATURE_SECRET_KEPT_" + strings.ToUpper(strings.ReplaceAll(name, " ", "_"))
			must(t, os.Setenv(variable, "first")) // t.Setenv refuses parallel tests
			t.Cleanup(func() { _ = os.Unsetenv(variable) })
			spec := specOf(c.id, c.version, strings.Replace(c.body, "%s", variable, 1))
			spec.SecretRefs, spec.Interval = []string{"env:" + variable}, time.Hour
			if c.initial != nil {
				c.initial(&spec)
			}
			s := newSimulated(t, spec)
			if spec.Put == resource.PutPatch {
				must(t, s.sim.Put(spec.ID.String(), map[string]any{"location": "westus2"}))
			}
			s.apply(spec)
			s.after(2*time.Hour+time.Minute, func(sim *armsim.Simulator) {
				if c.source != "" {
					must(t, os.Setenv(variable, c.source))
				}
				if c.drift == "" {
					sim.Delete(spec.ID.String())
					return
				}
				must(t, sim.Patch(spec.ID.String(), decodedJSON(t, c.drift).(map[string]any)))
			})
			if c.edit != nil {
				edited := spec
				c.edit(&edited)
				s.at(2*time.Hour+2*time.Minute, workflows.ApplyUpdate, workflows.ApplyInput{Desired: edited, By: "ada@host"})
			}
			last := s.statusAt(7 * time.Hour)
			s.start(7*time.Hour + time.Minute)
			writes := s.requests("PUT", spec.ID) + s.requests("PATCH", spec.ID)
			stored, err := json.Marshal(s.stored(spec.ID))
			must(t, err)
			if !last.Condition.Ready || writes != 2 || !strings.Contains(string(stored), `Password":"`+c.want+`"`) {
				t.Errorf("%s: %d writes, want 2 and the password %s: %s %s\n%s", c.reason, writes, c.want, last.Condition.Reason, last.Condition.Message, stored)
			}
		})
	}
}

// TestWriteOnlyLists adds an entry to a map that no read shows, and lets another value drift:
// the correction leaves the map alone. A change of the manifest's map is sent.
func TestWriteOnlyLists(t *testing.T) {
	const webhook = `{"location":"westus2","properties":{"serviceUri":"https://hooks.example.com","actions":["push"],"status":"enabled","customHeaders":{"X-Team":"a"}}}`
	for name, c := range map[string]struct {
		edited      string
		want, lacks string
	}{
		"correction":  {want: "X-Other"},
		"changed map": {edited: strings.Replace(webhook, `"a"`, `"b"`, 1), want: `"X-Team":"b"`, lacks: "X-Other"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := specOf("Microsoft.ContainerRegistry/registries/reg/webhooks/w1", "2023-07-01", webhook)
			spec.Interval, spec.Owner = time.Hour, spec.ID.Owner()
			s := newSimulated(t, spec)
			must(t, s.sim.Put(spec.Owner.String(), map[string]any{"location": "westus2", "sku": map[string]any{"name": "Standard"}}))
			s.apply(spec)
			s.after(2*time.Hour+time.Minute, func(sim *armsim.Simulator) {
				must(t, sim.Patch(spec.ID.String(), decodedJSON(t, `{"properties":{"status":"disabled","customHeaders":{"X-Other":"theirs"}}}`).(map[string]any)))
			})
			if c.edited != "" {
				edited := spec
				edited.Body = json.RawMessage(c.edited)
				s.at(2*time.Hour+2*time.Minute, workflows.ApplyUpdate, workflows.ApplyInput{Desired: edited, By: "ada@host"})
			}
			last := s.statusAt(7 * time.Hour)
			s.start(7*time.Hour + time.Minute)
			stored, err := json.Marshal(s.stored(spec.ID))
			must(t, err)
			if shown := string(stored); !last.Condition.Ready || s.requests("PUT", spec.ID) != 2 || !strings.Contains(shown, c.want) || c.lacks != "" && strings.Contains(shown, c.lacks) || !strings.Contains(shown, `"status":"enabled"`) {
				t.Errorf("%d PUTs, %s %s: %s", s.requests("PUT", spec.ID), last.Condition.Reason, last.Condition.Message, shown)
			}
		})
	}
}
