package plan

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/contents"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
)

const group = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg"

func id(t *testing.T, text string) resource.ID {
	t.Helper()
	parsed, err := resource.ParseID(text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func items(t *testing.T, ids ...string) []contents.Item {
	t.Helper()
	var all []contents.Item
	for _, text := range ids {
		all = append(all, contents.Item{ID: id(t, text), Name: contents.DisplayName(id(t, text))})
	}
	return all
}

// TestNewDeletion judges a stack of a server with a database and a lock, and a cache.
func TestNewDeletion(t *testing.T) {
	t.Parallel()
	server := id(t, group+"/providers/Microsoft.Sql/servers/sql")
	database := id(t, server.String()+"/databases/db")
	lock := id(t, server.String()+"/providers/Microsoft.Authorization/locks/keep")
	cache := id(t, group+"/providers/Microsoft.Cache/redis/cache")
	app := id(t, group+"/providers/Microsoft.Web/sites/app")
	// facts are those of the stack, changed by a case.
	type facts = map[resource.ID]*activities.PlanDeletionResult
	cases := map[string]struct {
		reason  string
		consent Consent
		change  func(facts)
		want    map[resource.ID]string
	}{
		"nothing refuses": {
			reason: "all are deleted: the lock is deleted too", consent: Consent{WithData: true},
			want: map[resource.ID]string{server: "delete", database: "delete", lock: "delete", cache: "delete"},
		},
		"protect": {
			reason: "a protected server keeps its lock, which protects the database too; the rest may go", consent: Consent{WithData: true, Cascade: true},
			change: func(f facts) { f[server].Policy = resource.PolicyProtect },
			want:   map[resource.ID]string{server: "refused: Protected", database: "kept, because keep stays", lock: "kept, because sql stays", cache: "delete"},
		},
		"data without a consent": {
			reason: "the server contains the refused database, and the lock protects both",
			want:   map[resource.ID]string{server: "kept, because sql/db stays", database: "refused: ContainsData", lock: "kept, because sql/db stays", cache: "delete"},
		},
		"a foreign lock": {
			reason: "only locks of the same deletion go with it", consent: Consent{WithData: true},
			change: func(f facts) {
				f[cache].Locks = []activities.Lock{{ID: id(t, group+"/providers/Microsoft.Authorization/locks/ops"), Level: "ReadOnly"}}
			},
			want: map[resource.ID]string{server: "delete", database: "delete", lock: "delete", cache: "refused: ScopeLocked"},
		},
		"a question without an answer": {
			reason: "what is not known is refused", consent: Consent{WithData: true},
			change: func(f facts) { f[cache].Unknown = []string{"the management locks: 403"} },
			want:   map[resource.ID]string{server: "delete", database: "delete", lock: "delete", cache: "refused: NotKnown"},
		},
		"no right": {
			reason: "the DELETE would be refused", consent: Consent{WithData: true},
			change: func(f facts) { f[cache].Denied = []string{"the credential has no right to x/delete"} },
			want:   map[resource.ID]string{server: "delete", database: "delete", lock: "delete", cache: "refused: AuthorizationFailed"},
		},
		"a dependent elsewhere": {
			reason: "what another managed resource needs stays, also in a cascade", consent: Consent{WithData: true, Cascade: true},
			change: func(f facts) { f[cache].Dependents = []activities.Dependent{{ID: app}} },
			want:   map[resource.ID]string{server: "delete", database: "delete", lock: "delete", cache: "refused: WaitingForDependents"},
		},
		"a dependent elsewhere that is being deleted": {
			reason: "it is soon gone", consent: Consent{WithData: true},
			change: func(f facts) { f[cache].Dependents = []activities.Dependent{{ID: app, Deleting: true}} },
			want:   map[resource.ID]string{server: "delete", database: "delete", lock: "delete", cache: "delete"},
		},
		"unmanaged contents": {
			reason: "a resource without a manifest stays without a consent", consent: Consent{WithData: true},
			change: func(f facts) { f[cache].Found = contents.Found{Unmanaged: []contents.Item{{Name: "x (a/b)"}}} },
			want:   map[resource.ID]string{server: "delete", database: "delete", lock: "delete", cache: "refused: ContainsUnmanaged"},
		},
		"contents with rows of their own": {
			reason: "the database is deleted too, and what is in it belongs to its row", consent: Consent{WithData: true},
			change: func(f facts) {
				f[server].Found = contents.Found{Unmanaged: items(t, strings.ToUpper(database.String()), database.String()+"/things/x")}
			},
			want: map[resource.ID]string{server: "delete", database: "delete", lock: "delete", cache: "delete"},
		},
		"contents beside them": {
			reason: "a longer name is another resource", consent: Consent{WithData: true},
			change: func(f facts) {
				f[server].Found = contents.Found{Unmanaged: items(t, database.String()+"2")}
			},
			want: map[resource.ID]string{server: "refused: ContainsUnmanaged", database: "kept, because keep stays", lock: "kept, because sql stays", cache: "delete"},
		},
		"kept in a deleted owner": {
			reason: "its DELETE would delete what a policy keeps", consent: Consent{WithData: true},
			change: func(f facts) { f[database].Policy = resource.PolicyDetachOnDelete },
			want:   map[resource.ID]string{server: "kept, because sql/db stays", database: "refused: ContainsProtected", lock: "kept, because sql/db stays", cache: "delete"},
		},
		"observed": {
			reason: "the setting of the worker allows no DELETE", consent: Consent{WithData: true},
			change: func(f facts) { f[cache].Observed = "the worker's setting observe: stack=crowd" },
			want:   map[resource.ID]string{server: "delete", database: "delete", lock: "delete", cache: "refused: Protected"},
		},
		"observed in a deleted owner": {
			reason: "its DELETE would delete what the setting keeps", consent: Consent{WithData: true},
			change: func(f facts) { f[database].Observed = "the worker's setting observe: stack=crowd" },
			want:   map[resource.ID]string{server: "kept, because sql/db stays", database: "refused: ContainsProtected", lock: "kept, because sql/db stays", cache: "delete"},
		},
		"kept by its policy": {
			reason: "it is no longer managed", consent: Consent{WithData: true},
			change: func(f facts) { f[cache].Policy = resource.PolicyDetachOnDelete },
			want:   map[resource.ID]string{server: "delete", database: "delete", lock: "delete", cache: "kept: it is no longer managed and stays in Azure (policy detach-on-delete)"},
		},
		"absent": {
			reason: "only its management ends", consent: Consent{WithData: true},
			change: func(f facts) { f[cache].Exists = false },
			want:   map[resource.ID]string{server: "delete", database: "delete", lock: "delete", cache: "absent: Azure does not have it"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := facts{}
			for _, id := range []resource.ID{server, database, lock, cache} {
				f[id] = &activities.PlanDeletionResult{Managed: true, Exists: true}
			}
			keep := []activities.Lock{{ID: lock, Level: "CanNotDelete"}}
			f[server].Locks, f[database].Locks, f[lock].Locks = keep, keep, keep
			f[server].Dependents = []activities.Dependent{{ID: database}, {ID: lock}}
			f[database].Data = items(t, database.String())
			if tc.change != nil {
				tc.change(f)
			}
			var resources []Deletable
			for _, id := range []resource.ID{server, database, lock, cache} {
				resources = append(resources, Deletable{ID: id, Facts: *f[id]})
			}
			p := New(nil, nil, resources, tc.consent)
			for _, row := range p.Resources {
				if got := row.actionText(); got != tc.want[row.ID] {
					t.Errorf("%s: %s is %q, want %q\n%s", tc.reason, row.ID.Short(), got, tc.want[row.ID], p.Text(false, cli.Ink{}))
				}
				if row.Action == ActionRefused && slices.ContainsFunc(row.Refusals, func(r Refusal) bool { return r.Remedy == "" }) {
					t.Errorf("a refusal of %s has no remedy", row.ID.Short())
				}
			}
		})
	}
}

// TestCascadeAdds checks that a cascade plans the managed contents too, and that a refused one
// keeps its owner.
func TestCascadeAdds(t *testing.T) {
	t.Parallel()
	server := id(t, group+"/providers/Microsoft.Sql/servers/sql")
	database := id(t, server.String()+"/databases/db")
	all := []Deletable{{ID: server, Facts: activities.PlanDeletionResult{Exists: true, Dependents: []activities.Dependent{{ID: database}}}}}
	if added := Added(all, Consent{}); len(added) != 0 {
		t.Errorf("without a cascade %v is added", added)
	}
	added := Added(all, Consent{Cascade: true})
	if len(added) != 1 || added[0].ID != database || added[0].From != server {
		t.Fatalf("a cascade adds %v, want the database", added)
	}
	added[0].Facts = activities.PlanDeletionResult{Exists: true}
	p := New(nil, nil, append(all, added...), Consent{Cascade: true})
	if got := p.Resources[1].actionText(); got != "falls with sql" || p.Resources[1].Sends() {
		t.Errorf("the database is %q, want it to fall with the server, without a request of its own", got)
	}
	added[0].Facts.Policy = resource.PolicyObserve
	p = New(nil, nil, append(all, added...), Consent{Cascade: true})
	if got := p.Resources[0].actionText() + ", " + p.Resources[1].actionText(); got != "kept, because sql/db stays, refused: ContainsProtected" {
		t.Errorf("with a kept database: %s", got)
	}
}

// TestDeletionChanges checks that each change of the world is named and stops a saved plan.
func TestDeletionChanges(t *testing.T) {
	t.Parallel()
	server := id(t, group+"/providers/Microsoft.Sql/servers/sql")
	database := id(t, server.String()+"/databases/db")
	before := activities.PlanDeletionResult{
		Managed: true, Generation: 1, Policy: resource.PolicyManage, Exists: true,
		Identity: resource.Identity{"properties.uniqueId": "a", "systemData.createdAt": "2026-01-01T00:00:00Z"}, Found: contents.Found{Data: items(t, server.String())},
	}
	cases := map[string]struct {
		change func(*activities.PlanDeletionResult)
		want   string
	}{
		"lock":    {func(f *activities.PlanDeletionResult) { f.Locks = []activities.Lock{{ID: database, Level: "ReadOnly"}} }, "lock"},
		"content": {func(f *activities.PlanDeletionResult) { f.Unmanaged = []contents.Item{{Name: "x"}} }, "content x is new"},
		"rule":    {func(f *activities.PlanDeletionResult) { f.Rules = []contents.Item{{Name: "r"}} }, "content r is new"},
		"data":    {func(f *activities.PlanDeletionResult) { f.Data = nil }, "data of sql (Microsoft.Sql/servers) is gone"},
		"dependent": {func(f *activities.PlanDeletionResult) {
			f.Dependents = []activities.Dependent{{ID: database, Deleting: true}}
		}, "dependent"},
		"policy":   {func(f *activities.PlanDeletionResult) { f.Policy = resource.PolicyProtect }, "the policy was manage in the plan and is protect"},
		"observed": {func(f *activities.PlanDeletionResult) { f.Observed = "the setting" }, "is only observed since the plan, by the setting"},
		"spec":     {func(f *activities.PlanDeletionResult) { f.Generation = 2 }, "the generation of its spec was 1 in the plan and is 2"},
		"absent":   {func(f *activities.PlanDeletionResult) { f.Exists = false }, "is no longer in Azure"},
		"recreated": {func(f *activities.PlanDeletionResult) {
			f.Identity = resource.Identity{"systemData.createdAt": "2026-02-02T00:00:00Z"}
		}, "was created again"},
		"another":    {func(f *activities.PlanDeletionResult) { f.Identity = resource.Identity{"properties.uniqueId": "b"} }, "was created again"},
		"right":      {func(f *activities.PlanDeletionResult) { f.Denied = []string{"no right"} }, "refusal no right is new"},
		"unmanaged":  {func(f *activities.PlanDeletionResult) { f.Managed = false }, "is no longer managed"},
		"unanswered": {func(f *activities.PlanDeletionResult) { f.Unknown = []string{"locks"} }, "unanswered question locks is new"},
	}
	consent := Consent{WithData: true}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			planned := New(nil, nil, []Deletable{{ID: server, Facts: before}}, consent)
			path := t.TempDir() + "/plan"
			if digest, err := planned.Write(path, "ana", time.Unix(0, 0)); err != nil || digest != planned.Digest() {
				t.Fatal(digest, err)
			}
			file, err := ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if changes := file.Changes(planned); len(changes) != 0 {
				t.Errorf("nothing changed, but: %v", changes)
			}
			after := before
			tc.change(&after)
			changes := file.Changes(New(nil, nil, []Deletable{{ID: server, Facts: after}}, consent))
			if len(changes) != 1 || !strings.Contains(strings.Join(changes[0].Texts, "\n"), tc.want) {
				t.Errorf("changes are %v, want one with %q", changes, tc.want)
			}
		})
	}
}
