package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/extensions/azure"
	"github.com/armature-io/armature/extensions/extensiontest"
	"github.com/armature-io/armature/extensions/rules"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

const example = "../../examples/rules/built-in.rules.yaml"

// The rules of the example file and the Go checks return the same verdict in every
// state of every type.
func TestRulesAgreeWithGo(t *testing.T) {
	set, warnings, err := rules.Load(example)
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	// Rules replace links. The facts of the types stay.
	facts := slices.DeleteFunc(azure.BuiltIn(), func(entry extensions.Entry) bool { return entry.Link != nil })
	inRules, err := extensionhost.New(append(facts, set.Entry())...)
	if err != nil {
		t.Fatal(err)
	}
	inGo, err := extensionhost.New(azure.BuiltIn()...)
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{
		group + "Microsoft.ContainerService/managedClusters/x1", group + "Microsoft.ContainerService/managedClusters/x1/agentPools/y1",
		group + "Microsoft.Kusto/clusters/x1", group + "Microsoft.Kusto/clusters/x1/databases/y1",
		group + "Microsoft.DBforPostgreSQL/flexibleServers/x1", group + "Microsoft.DBforPostgreSQL/flexibleServers/x1/databases/y1",
		group + "Microsoft.DBforPostgreSQL/flexibleServers/x1/firewallRules/y1", group + "Microsoft.DocumentDB/cassandraClusters/x1/dataCenters/y1",
		group + "Microsoft.DocumentDB/databaseAccounts/x1", group + "Microsoft.RedHatOpenShift/hcpOpenShiftClusters/x1",
	}
	words := []string{
		"", "Succeeded", "Failed", "Canceled", "Running", "Ready", "Creating", "Updating", "Deleting", "Upgrading", "Scaling", "Moving", "Starting", "Stopping", "Stopped",
		"Disabled", "Dropping", "Inaccessible", "Provisioning", "Restarting", "Accepted", "Odd", "sTOPPED", "DELETING", "null", "number",
	}
	tried := 0
	for _, text := range ids {
		for _, property := range []string{"provisioningState", "state"} {
			for _, word := range words {
				value := fmt.Sprintf("%q", word)
				switch word {
				case "null":
					value = "null"
				case "number":
					value = "7"
				}
				body := fmt.Sprintf(`{"properties":{%q:%s}}`, property, value)
				if word == "" {
					body = `{}`
				}
				for _, desired := range []string{`{}`, `{"tags":{"a":"1"}}`} {
					for _, force := range []bool{false, true} {
						// 7 shares no factor with the numbers of values.
						if tried++; testing.Short() && tried%7 != 0 {
							continue
						}
						agree(t, inGo, inRules, text, body, desired, force)
					}
				}
			}
		}
	}
	t.Logf("%d situations agree, with -short one in seven", tried)
}

func agree(t *testing.T, inGo, inRules *extensionhost.Registry, text, body, desired string, force bool) {
	t.Helper()
	id := extensiontest.ID(t, text)
	owner := extensiontest.Object(t, id.Owner().String(), "", body)
	request := extensionhost.Request{Object: extensiontest.Object(t, text, desired, body), Owner: owner, Force: force}
	same := cmpopts.IgnoreFields(resource.Verdict{}, "Freshness", "Seen", "Origin")
	goVerdict := inGo.PreCheck(t.Context(), request)
	if goVerdict.Reason == resource.ReasonStopped { // a link in Go puts its own text before the default's
		if _, rest, found := strings.Cut(goVerdict.Message, ": it was stopped outside Armature"); found {
			goVerdict.Message = "it was stopped outside Armature" + rest
		}
	}
	if diff := cmp.Diff(goVerdict, inRules.PreCheck(t.Context(), request), same); diff != "" {
		t.Errorf("pre-check of %s in %s (desired %s, force %v) (-Go +rules)\n%s", id.Type(), body, desired, force, diff)
	}
	if id.IsChild() {
		if diff := cmp.Diff(inGo.CheckOwner(t.Context(), request), inRules.CheckOwner(t.Context(), request), same); diff != "" {
			t.Errorf("owner check of %s in %s (-Go +rules)\n%s", id.Type(), body, diff)
		}
	}
}

func TestExampleCases(t *testing.T) {
	outcomes, _, err := rules.Test(t.Context(), example)
	if err != nil || len(outcomes) == 0 {
		t.Fatal(outcomes, err)
	}
	for _, outcome := range outcomes {
		if outcome.Failure != "" {
			t.Errorf("%s: %s: %s", outcome.Position, outcome.Case.Name, outcome.Failure)
		}
	}
	text := one("when: observed.a == 1", "block: x") + "tests:\n  - {name: t, rule: r, observed: {a: 1}, want: pass}\n  - {name: m, rule: r, observed: {a: 1}, want: block, message: y}\n"
	outcomes, _, err = rules.Test(t.Context(), write(t, map[string]string{"r.yaml": text}))
	if err != nil || len(outcomes) != 2 || !strings.Contains(outcomes[0].Failure, `got block "x", want pass`) || !strings.Contains(outcomes[1].Failure, `message "x", want "y"`) {
		t.Errorf("got %+v, %v", outcomes, err)
	}
}
