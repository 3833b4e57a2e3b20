package activities

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
)

// The subscriptions of two teams. Each is tied to the credential of its team, whose token is
// the team's name.
const (
	tenantA = "aaaaaaaa-0000-0000-0000-000000000000"
	tenantB = "bbbbbbbb-0000-0000-0000-000000000000"
)

// tenantThing returns a resource of a team: t1 is what the tests work on, t2 what they
// read.
func tenantThing(subscription, name string) string {
	return "/subscriptions/" + subscription + "/resourceGroups/rg1/providers/Contoso.Things/things/" + name
}

// tenants is a world of two teams, with a record of every request that reached Azure.
type tenants struct {
	*world
	mu       sync.Mutex
	requests []tenantRequest
	// reach is what the extension of the type does in the modification of a PUT.
	reach func(ctx context.Context, resolver extensions.Resolver, client extensions.ARMClient)
	// pages are the next links of lists, by the path of the list.
	pages map[string]string
}

type tenantRequest struct{ method, path, token string }

// newTenants returns a world whose credentials are tied; strict refuses every other
// credential, the worker's own included.
func newTenants(t *testing.T, strict bool) *tenants {
	t.Helper()
	w := &tenants{pages: map[string]string{}}
	w.world = newWorld(t, func(s *setup) {
		s.handler = w.record
		s.client = func(o *arm.Options) {
			o.Credential = constantToken("default")
			o.Connections = map[string]arm.Connection{}
			for name, subscription := range map[string]string{"a": tenantA, "b": tenantB} {
				o.Connections[name] = arm.Connection{
					Options: arm.Options{Cloud: o.Cloud, Credential: constantToken(name)}, Subscriptions: []string{subscription}, Strict: strict,
				}
			}
		}
		s.entries = append(s.entries, extensions.Entry{Type: "Contoso.Things/things", Link: reaching{w}})
	})
	for _, subscription := range []string{tenantA, tenantB} {
		must(t, w.sim.Put(strings.Split(tenantThing(subscription, ""), "/providers/")[0], map[string]any{"location": "westus2"}))
		for _, name := range []string{"t1", "t2"} {
			must(t, w.sim.Put(tenantThing(subscription, name), map[string]any{
				"location": "westus2", "tags": map[string]any{"of": "others"}, "properties": map[string]any{"size": 1, "label": "private"},
			}))
		}
	}
	return w
}

// record notes the token of each request before it is served.
func (w *tenants) record(next http.Handler) http.Handler {
	return http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.requests = append(w.requests, tenantRequest{r.Method, strings.ToLower(r.URL.Path), strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")})
		link := w.pages[strings.ToLower(r.URL.Path)]
		w.mu.Unlock()
		if link != "" && r.Method == http.MethodGet {
			answer.Header().Set("Content-Type", "application/json")
			_, _ = answer.Write([]byte(`{"value":[],"nextLink":"` + w.server.URL + link + `"}`))
			return
		}
		next.ServeHTTP(answer, r)
	})
}

// sent returns the requests since the last call.
func (w *tenants) sent() []tenantRequest {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.requests
	w.requests = nil
	return all
}

// reaching is an extension that looks at other resources.
type reaching struct{ world *tenants }

func (r reaching) ModifyARMResource(
	ctx context.Context, payload map[string]any, obj, owner *resource.Object, resolver extensions.Resolver,
	client extensions.ARMClient, log *slog.Logger, next extensions.ARMResourceModifierFunc,
) (map[string]any, error) {
	if r.world.reach != nil {
		r.world.reach(ctx, resolver, client)
	}
	return next(ctx, payload, obj, owner, resolver, client, log)
}

// TestTenantMatrix walks every way to read or write through two subscriptions and all
// credentials: a resource reaches what its own credential may reach, and no request goes to
// a subscription with the token of another team.
//
//guard:tenants-are-separate
func TestTenantMatrix(t *testing.T) {
	t.Parallel()
	for name, way := range tenantWays() {
		for _, credential := range []string{"", "a", "b", arm.CredentialDefaultName} {
			for _, target := range []string{tenantA, tenantB} {
				for tied, strict := range map[string]bool{"tied": false, "strict": true} {
					if !strict && credential == arm.CredentialDefaultName {
						continue // it has the rights that the operator gave it
					}
					t.Run(name+"/"+tied+"/"+credential+"/"+target[:1], func(t *testing.T) {
						t.Parallel()
						w := newTenants(t, strict)
						c := tenantCell{credential: credential, target: id(t, tenantThing(target, "t2"))}
						if way.given != nil {
							way.given(w, c)
						}
						way.act(w, c)
						way.check(t, c, w.sent())
						for _, attempt := range w.fleet.confirmed {
							if name := attempt.Resource.Name(); name != "t1" && name != "t2" && name != "v1" {
								t.Errorf("%s: Temporal was asked about a write of %q", way.reason, attempt.Resource)
							}
						}
					})
				}
			}
		}
	}
}

// check compares the requests of a cell with what it allows.
func (way tenantWay) check(t *testing.T, c tenantCell, sent []tenantRequest) {
	t.Helper()
	team, others := c.target.Subscription()[:1], tenantB
	allowed := c.credential == "" || c.credential == team
	if way.onBehalf {
		allowed = allowed && team == "a"
	} else if team == "b" {
		others = tenantA
	}
	asked := false
	for _, r := range sent {
		if strings.Contains(r.path, "/subscriptions/"+others) {
			t.Errorf("%s: the subscription of the other team was asked: %+v", way.reason, r)
		}
		if strings.Contains(r.path, "/subscriptions/"+c.target.Subscription()) && r.token != team {
			t.Errorf("%s: the token of another credential was sent: %+v", way.reason, r)
		}
		place := "/subscriptions/" + c.target.Subscription()
		if way.onBehalf {
			place = strings.ToLower(c.target.String())
		}
		asked = asked || strings.Contains(r.path, place)
	}
	if asked != allowed {
		t.Errorf("%s: the target was asked: %t, want %t; %+v", way.reason, asked, allowed, sent)
	}
}

// TestTenantSecrets walks the secrets of the worker and of key vaults through the same
// matrix: a resource gets those of its own team only.
//
//guard:secrets-belong-to-a-credential
func TestTenantSecrets(t *testing.T) {
	base := t.TempDir()
	holders := map[string]secrets.Allowed{}
	for _, team := range []string{"a", "b"} {
		t.Setenv("TEAM_"+strings.ToUpper(team)+"_PASSWORD", planted)
		holders[team] = secrets.Allowed{EnvPrefix: "TEAM_" + strings.ToUpper(team) + "_", Dir: secretFolder(t, base, team)}
	}
	references := map[string]map[string]string{
		"env":  {"a": "env:TEAM_A_PASSWORD", "b": "env:TEAM_B_PASSWORD"},
		"file": {"a": "file:a-password", "b": "file:b-password"},
		"link": {"a": "file:a-password", "b": "file:to-b"},
	}
	for source, byTeam := range references {
		for _, credential := range []string{"", "a", "b", arm.CredentialDefaultName} {
			for of, reference := range byTeam {
				t.Run(source+"/"+credential+"/"+of, func(t *testing.T) {
					w := newTenants(t, true)
					client := w.acts.Client
					w.acts.resolver = secrets.New(secrets.Options{Holder: client.SecretHolder, Holders: holders, Vault: client})
					spec := desired(t, tenantThing(tenantA, "t3"), `{"location":"westus2","properties":{"adminPassword":{"$secret":"`+reference+`"}}}`)
					spec.Credential = credential
					got, err := run(w.world, w.acts.PutResource, PutResourceInput{Desired: spec, Kind: PutCreationAgain, ObservedAt: w.now()})
					must(t, err)
					allowed := of == "a" && (credential == "" || credential == "a")
					if got.Sent != allowed || allowed != strings.Contains(jsonOf(w.sim.Writes()), planted) {
						t.Errorf("a PUT of team a with a secret of team %s: sent %t, want %t: %+v", of, got.Sent, allowed, got.Verdict)
					}
					w.leaks(planted, got, w.verdicts)
				})
			}
		}
	}
}
