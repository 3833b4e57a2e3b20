package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
)

// lockedStack is a server with a database, a lock and firewall rules, and a cache. %s is the
// policy of the server.
const lockedStack = `type: Microsoft.Sql/servers@2023-08-01
name: sql
owner: GROUP
reconcile: {policy: %s}
labels: {stack: NAME}
body: {location: westeurope, properties: {administrators: {administratorType: ActiveDirectory, azureADOnlyAuthentication: true, login: ops, principalType: Application, sid: 11111111-2222-3333-4444-555555555555}}}
---
type: Microsoft.Sql/servers/databases@2023-08-01
name: tickets
owner: sql
labels: {stack: NAME}
body: {location: westeurope, sku: {name: S0}}
---
type: Microsoft.Authorization/locks@2020-05-01
name: keep
owner: sql
labels: {stack: NAME}
body: {properties: {level: CanNotDelete}}
---
type: Microsoft.Sql/servers/firewallRules@2023-08-01
name: r1
owner: sql
labels: {stack: NAME}
body: {properties: {startIpAddress: 192.0.2.1, endIpAddress: 192.0.2.1}}
---
type: Microsoft.Sql/servers/firewallRules@2023-08-01
name: r2
owner: sql
labels: {stack: NAME}
body: {properties: {startIpAddress: 192.0.2.2, endIpAddress: 192.0.2.2}}
---
type: Microsoft.Cache/redis@2024-03-01
name: NAMEcache
owner: GROUP
labels: {stack: NAME}
body: {location: westeurope, properties: {sku: {name: Basic, family: C, capacity: 0}}}
`

// lockedCase is one locked stack in its own branch.
type lockedCase struct {
	*harness.World
	group, server, lock, file, selector string
}

func newLockedCase(t *testing.T, world *harness.World, name, policy string) lockedCase {
	t.Helper()
	c := lockedCase{World: world.Branch(t, "locked-"+name, harness.Options{Simulator: armsim.Options{TimeScale: 600}}), selector: "stack=" + name}
	quickPolls(c.World)
	c.group = subscription + "/resourceGroups/" + name
	c.server = c.group + "/providers/Microsoft.Sql/servers/sql"
	c.lock = c.server + "/providers/Microsoft.Authorization/locks/keep"
	c.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": c.group, "body": map[string]any{"location": "westeurope"}}, nil)
	c.file = c.apply(name, policy)
	return c
}

func (c lockedCase) apply(name, policy string) string {
	c.T.Helper()
	text := strings.NewReplacer("GROUP", c.group, "NAME", name).Replace(fmt.Sprintf(lockedStack, policy))
	return c.Write("stack.yaml", text)
}

// TestDeleteStack deletes stacks that contain a management lock.
func TestDeleteStack(t *testing.T) {
	t.Parallel()
	world := harness.New(t, binaries, harness.Options{})
	sideBySide(t, 2, map[string]func(*testing.T){
		"protected": func(t *testing.T) { deleteProtected(newLockedCase(t, world, "protected", "protect")) },
		"saved":     func(t *testing.T) { deleteSaved(newLockedCase(t, world, "saved", "manage")) },
	})
}

// deleteProtected refuses a stack because of its protected server and its data before the
// first DELETE. With the policy manage one command deletes it.
func deleteProtected(c lockedCase) {
	c.StartWorker(harness.WorkerOptions{})
	c.MustCLI("apply", "-f", c.file, "--wait", "--timeout", "60s")
	refused := c.CLI("delete", "-l", c.selector, "--yes", "--wait")
	for _, want := range []string{"refused: Protected", "refused: ContainsData", "kept, because", "apply its manifest with policy manage first", "add --with-data"} {
		if refused.Code != 1 || !strings.Contains(refused.Out, want) {
			c.T.Errorf("the table lacks %q: %s", want, refused)
		}
	}
	c.noDeletes("a refused deletion")
	if kept := c.CLI("delete", "-l", c.selector, "--yes", "--keep-going", "--with-data", "--wait", "--timeout", "60s"); kept.Code != 1 {
		c.T.Errorf("--keep-going hides the refusal: %s", kept)
	}
	for _, id := range []string{c.server, c.lock} {
		if len(stored(c.World, id)) == 0 {
			c.T.Errorf("--keep-going deleted %s", id)
		}
	}
	c.MustCLI("apply", "-f", c.apply("protected", "manage"), "--wait", "--timeout", "60s")
	c.MustCLI("delete", "-l", c.selector, "--yes", "--with-data", "--wait", "--timeout", "60s")
	c.nothingRemains()
}

// deleteSaved saves a plan and changes the world: nothing is deleted, and the change is named.
func deleteSaved(c lockedCase) {
	c.StartWorker(harness.WorkerOptions{})
	c.MustCLI("apply", "-f", c.file, "--wait", "--timeout", "60s")
	put := func(id string, body map[string]any) {
		c.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": id, "body": body}, nil)
	}
	remove := func(id string) { c.Sim.Call(http.MethodDelete, "/resources?id="+id, nil, nil) }
	apply := func(text string) {
		c.MustCLI("apply", "-f", c.Write("changed.yaml", text), "--wait", "--timeout", "60s")
	}
	asIs := func() { c.MustCLI("apply", "-f", c.apply("saved", "manage"), "--wait", "--timeout", "60s") }
	// An apply is refused while the management ends.
	again := func() {
		c.Until(time.Minute, "the stack is managed again", func() (bool, string) {
			applied := c.CLI("apply", "-f", c.apply("saved", "manage"), "--wait", "--timeout", "60s")
			return applied.Code == 0, applied.String()
		})
	}
	edit := func(old, replacement string) {
		path := filepath.Join(c.Folder, "stack.plan")
		raw, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(raw), old) {
			c.T.Fatalf("the plan lacks %q: %v", old, err)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(string(raw), old, replacement, 1)), 0o600); err != nil {
			c.T.Fatal(err)
		}
	}
	text := strings.NewReplacer("GROUP", c.group, "NAME", "saved").Replace(fmt.Sprintf(lockedStack, "manage"))
	cache := c.group + "/providers/Microsoft.Cache/redis/savedcache"
	cacheBody := map[string]any{"location": "westeurope", "properties": map[string]any{"sku": map[string]any{"name": "Basic", "family": "C", "capacity": 0}}}
	lockBody := map[string]any{"properties": map[string]any{"level": "ReadOnly"}}
	const locks, denials = "/providers/Microsoft.Authorization/locks/ops", "/providers/Microsoft.Authorization/denyAssignments/d1"
	third := c.server + "/firewallRules/r3"
	for name, change := range map[string]struct {
		before, do, undo func()
		want             string
	}{
		"a lock added":   {do: func() { put(c.server+locks, lockBody) }, undo: func() { remove(c.server + locks) }, want: `lock "ops" (ReadOnly)`},
		"a lock removed": {before: func() { put(cache+locks, lockBody) }, do: func() { remove(cache + locks) }, want: "is gone"},
		"a content": {
			do:   func() { put(c.server+"/elasticPools/other", map[string]any{"location": "westeurope"}) },
			undo: func() { remove(c.server + "/elasticPools/other") }, want: "content sql/other",
		},
		"a dependent": {
			do: func() {
				apply("type: Microsoft.Sql/servers/firewallRules@2023-08-01\nname: r3\nowner: " + c.server + "\nbody: {properties: {startIpAddress: 192.0.2.3, endIpAddress: 192.0.2.3}}\n")
			},
			undo: func() { c.MustCLI("forget", third); remove(third) }, want: "dependent SQL firewall rule sql/r3 is new",
		},
		"a policy": {
			do:   func() { c.MustCLI("apply", "-f", c.apply("saved", "protect"), "--wait", "--timeout", "60s") },
			undo: asIs, want: "the policy was manage in the plan and is protect",
		},
		"a manifest": {
			do:   func() { apply(strings.ReplaceAll(text, "192.0.2.1", "192.0.2.9")) },
			undo: asIs, want: "the generation of its spec was",
		},
		"a deny assignment": {
			do: func() {
				put(c.group+denials, map[string]any{"properties": map[string]any{
					"denyAssignmentName": "stack", "scope": c.group, "permissions": []any{map[string]any{"actions": []any{"*/delete"}}},
					"principals": []any{map[string]any{"id": "00000000-0000-0000-0000-000000000000", "type": "SystemDefined"}},
				}})
			},
			undo: func() { remove(c.group + denials) }, want: `deny assignment "stack"`,
		},
		"created again": {
			do: func() {
				remove(cache)
				put(cache, map[string]any{"location": "northeurope", "properties": cacheBody["properties"]})
			},
			undo: func() { remove(cache); put(cache, cacheBody) }, want: "was created again since the plan: location was westeurope",
		},
		"gone":        {do: func() { remove(cache) }, undo: func() { put(cache, cacheBody) }, want: "is no longer in Azure"},
		"forgotten":   {do: func() { c.MustCLI("forget", cache) }, undo: again, want: "is no longer managed"},
		"a consent":   {do: func() { edit(`"withData": true`, `"withData": true, "cascade": true`) }, want: "it was edited after it was made"},
		"a selection": {do: func() { edit(`"selected": true,`, ``) }, want: "it was edited after it was made"},
	} {
		if change.before != nil {
			change.before()
		}
		if saved := c.CLI("plan", "--delete", "-l", c.selector, "--with-data", "--keep-going", "--out", "stack.plan"); saved.Code != 2 {
			c.T.Fatalf("%s: want a plan with changes: %s", name, saved)
		}
		change.do()
		if stale := c.CLI("delete", "--plan-file", "stack.plan", "--yes"); stale.Code == 0 || !strings.Contains(stale.Err, change.want) {
			c.T.Errorf("%s: want a refusal that names it with %q: %s", name, change.want, stale)
		} else {
			c.T.Logf("%s: %s", name, stale.Err)
		}
		if change.undo != nil {
			change.undo()
		}
	}
	c.noDeletes("a stale plan")
	if saved := c.CLI("plan", "--delete", "-l", c.selector, "--with-data", "--out", "stack.plan"); saved.Code != 2 {
		c.T.Fatalf("want a plan with changes: %s", saved)
	}
	c.MustCLI("delete", "--plan-file", "stack.plan", "--yes", "--wait", "--timeout", "60s")
	c.nothingRemains()
}

func (c lockedCase) noDeletes(after string) {
	c.T.Helper()
	for _, r := range c.Sim.Requests("?method=DELETE") {
		c.T.Errorf("%s sent DELETE %s", after, r.ID)
	}
}

// nothingRemains checks that the stack is gone.
func (c lockedCase) nothingRemains() {
	c.T.Helper()
	if left := stored(c.World, c.group+"/*"); len(left) != 0 {
		c.T.Errorf("%d resources remain: %+v", len(left), left)
	}
	c.lockWentLast()
}

// lockWentLast checks that the lock was not deleted before it was all that held something.
func (c lockedCase) lockWentLast() {
	c.T.Helper()
	refusals := 0
	for _, r := range c.Sim.Requests("?method=DELETE") {
		if strings.EqualFold(r.ID, c.lock) && refusals == 0 {
			c.T.Error("the lock was deleted before Azure refused anything because of it")
		}
		if r.Code == "ScopeLocked" {
			refusals++
		}
	}
}
