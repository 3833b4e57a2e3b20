package contents

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/armature-io/armature/resource"
)

const (
	groupText = "/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/rg1"
	thingText = groupText + "/providers/Contoso.Things/things/t1"
)

func TestListedItem(t *testing.T) {
	t.Parallel()
	l := Looker{IsDeleting: func(context.Context, resource.ID) (bool, error) { return false, nil }}
	group, err := resource.ParseID(groupText)
	if err != nil {
		t.Fatal(err)
	}
	for item, name := range map[string]string{
		`{"id":"` + thingText + `"}`: "t1 (Contoso.Things/things)",
		`{"id":"/odd//one"}`:         "/odd//one",
		`{"name":"x"}`:               "an item without an ID",
		`"text"`:                     "an item without an ID",
	} {
		got, managed, err := l.checkItem(t.Context(), group, json.RawMessage(item))
		if got.Name != name || managed || err != nil {
			t.Errorf("%s has the name %q (managed %t, %v), want %q", item, got.Name, managed, err, name)
		}
	}
}
