package arm_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
)

// TestAnswerOfAnotherResource reads resources whose answers have an ID in different forms.
//
//guard:answers-are-checked
func TestAnswerOfAnotherResource(t *testing.T) {
	t.Parallel()
	const (
		sub   = "/subscriptions/11111111-1111-1111-1111-111111111111"
		group = sub + "/resourceGroups/rg"
		thing = group + "/providers/Contoso.Things/things/t1"
		child = thing + "/parts/p1"
		role  = "/providers/Microsoft.Authorization/roleAssignments/r1"
	)
	cases := map[string]struct {
		reason, asked, answer string
		refused               bool
	}{
		"Same":              {"the usual answer", thing, thing, false},
		"Case":              {"155 of 754 recorded answers", thing, strings.ToLower(thing), false},
		"None":              {"some answers have no ID", thing, "", false},
		"NoID":              {"an ID of the service's own", thing, "5f0c", false},
		"NoSlash":           {"Log Analytics leaves the slash out", thing, thing[1:], false},
		"Escaped":           {"names with spaces", group + "/providers/Contoso.Things/things/t 1", group + "/providers/Contoso.Things/things/t%201", false},
		"Revision":          {"API Management names the revision", child, thing + ";rev=2/parts/p1", false},
		"Scope":             {"a role assignment is inherited", thing + role, group + role, false},
		"OtherType":         {"a type of two names", thing, group + "/providers/Contoso.Classic/things/t1", false},
		"Group":             {"a resource group", group, sub + "/resourcegroups/RG", false},
		"OtherName":         {"another resource of the type", thing, group + "/providers/Contoso.Things/things/t2", true},
		"OtherParent":       {"a child of another parent", child, group + "/providers/Contoso.Things/things/t2/parts/p1", true},
		"Parent":            {"the parent", child, thing, true},
		"OtherGroup":        {"another resource group", thing, sub + "/resourceGroups/other/providers/Contoso.Things/things/t1", true},
		"OtherSubscription": {"another subscription", thing, strings.Replace(thing, "1111", "2222", 1), true},
		"OtherGroupItself":  {"another group", group, sub + "/resourceGroups/other", true},
		"OtherRole":         {"another assignment", thing + role, thing + role + "2", true},
		"OtherTypeAndName":  {"a resource of another type", thing, group + "/providers/Contoso.Other/others/o1", true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := checkedClient(t, nil, nil, func(w http.ResponseWriter, _ *http.Request) {
				_, _ = fmt.Fprintf(w, `{"id":%q,"name":"x"}`, c.answer)
			})
			asked, err := resource.ParseID(c.asked)
			if err != nil {
				t.Fatal(err)
			}
			_, err = client.Get(t.Context(), asked, "2024-01-01")
			failure, refused := errors.AsType[*arm.Error](err)
			if refused != c.refused || refused && (failure.Code != arm.CodeInvalidAnswer || !strings.Contains(failure.Message, c.answer)) {
				t.Errorf("%s: the read ended with %v", c.reason, err)
			}
		})
	}
}
