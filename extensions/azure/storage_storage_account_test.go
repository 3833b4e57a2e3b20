package azure_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/armature-io/armature/extensions/azure"
	"github.com/armature-io/armature/extensions/extensiontest"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

const accountID = groupID + "/providers/Microsoft.Storage/storageAccounts/account1"

func storageAccountSuite() extensiontest.Suite {
	return extensiontest.Suite{
		Entry: checkOf(azure.StorageAccountType), ID: accountID,
		Self: []extensiontest.States{{
			Path: provisioning, Block: []string{"Creating", "ResolvingDNS"}, Pass: []string{"Succeeded", "Failed", "SomethingNew"},
			Message: "Storage account is in provisioning state %q",
		}},
		Post: []extensiontest.States{{
			Path: "properties.statusOfPrimary", Block: []string{"unavailable"}, Pass: []string{"available"},
			Message: "Storage account is unavailable in its primary region",
		}},
	}
}

// TestStorageAccountStates follows an account from its creation, 202 and no body,
// to another region.
func TestStorageAccountStates(t *testing.T) {
	a := newSimulation(t)
	const copied, alone = `{"location":"westus2","sku":{"name":"Standard_GRS"}}`, `{"location":"westus2","sku":{"name":"Standard_LRS"}}`
	a.put(accountID, copied)
	for _, state := range []string{"Creating", "ResolvingDNS"} {
		a.want(state, a.preCheck(accountID, copied), resource.ActionBlock, `Storage account is in provisioning state "`+state+`"`)
		a.pass(10 * time.Second)
	}
	a.want("made", a.preCheck(accountID, copied), resource.ActionSkip, "In sync")
	a.want("made", a.postCheck(accountID), resource.ActionSuccess, "")
	if err := a.Patch(accountID, map[string]any{"properties": map[string]any{"statusOfPrimary": "unavailable"}}); err != nil {
		t.Fatal(err)
	}
	a.want("an outage", a.postCheck(accountID), resource.ActionFailure, "unavailable in westus2; it can fail over to westcentralus")
	a.call(http.MethodPost, accountID+"/failover", "")
	a.want("a failover", a.preCheck(accountID, alone), resource.ActionBlock, "failing over to its secondary region")
	a.pass(time.Hour)
	a.want("in the other region", a.postCheck(accountID), resource.ActionSuccess, "")
	a.want("in the other region", a.preCheck(accountID, alone), resource.ActionSkip, "In sync")
	a.want("without its copy", a.preCheck(accountID, copied), resource.ActionProceed, "sku.name")
	if err := a.Patch(accountID, map[string]any{"properties": map[string]any{"accountMigrationInProgress": true}}); err != nil {
		t.Fatal(err)
	}
	a.want("a migration", a.preCheck(accountID, copied), resource.ActionBlock, "migrated to another redundancy")
}

// TestStorageAccountName: a name that Azure never accepts causes no request. The name
// of an existing account is not checked.
func TestStorageAccountName(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		bad    bool
	}{
		"ab":                        {"too short", true},
		"abcdefghijklmnopqrstuvwxy": {"25 are too long", true},
		"my-account":                {"no hyphens in host names of accounts", true},
		"Account":                   {"no upper case", true},
		"abc":                       {"three are enough", false},
		"abcdefghijklmnopqrstuvwx":  {"24 are not too long", false},
		"0account":                  {"a digit may come first", false},
	} {
		t.Run(name, func(t *testing.T) {
			id := groupID + "/providers/Microsoft.Storage/storageAccounts/" + name
			r := builtIn(t)
			absent := r.PreCheck(t.Context(), extensionhost.Request{Object: object(t, id, `{}`, "")})
			if refused := absent.Action == resource.ActionError; refused != c.bad {
				t.Errorf("%s: got %s (%s)", c.reason, absent.Action, absent.Message)
			}
			if c.bad && (absent.Reason != "AccountNameInvalid" || absent.Severity != resource.SeverityError || absent.Class != resource.RetryNone) {
				t.Errorf("got %s %s %s, want AccountNameInvalid that waits for a user", absent.Reason, absent.Severity, absent.Class)
			}
			if there := r.PreCheck(t.Context(), extensionhost.Request{Object: object(t, id, `{}`, `{}`)}); there.Action != resource.ActionSkip {
				t.Errorf("an account that exists: got %s (%s)", there.Action, there.Message)
			}
		})
	}
}
