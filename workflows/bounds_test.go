package workflows

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/armature-io/armature/resource"
)

func TestKeywordLength(t *testing.T) {
	if got := keyword(strings.Repeat("ö", 300)); utf8.RuneCountInString(got) != maxKeywordRunes {
		t.Errorf("%d runes, want %d: a longer value hides the workflow on SQL stores", utf8.RuneCountInString(got), maxKeywordRunes)
	}
}

func TestMaxWaitingKeys(t *testing.T) {
	var ids []resource.ID
	for i := range 500 {
		id, err := resource.ParseID(fmt.Sprintf("/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/g%d", i/2))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	keys := waitingKeys(ids)
	if len(keys) != maxWaitingKeys || !slices.IsSorted(keys) || len(slices.Compact(slices.Clone(keys))) != len(keys) {
		t.Errorf("%d keys, want %d, sorted, each once", len(keys), maxWaitingKeys)
	}
	if bytes := len(strings.Join(keys, "")); bytes > 1024 {
		t.Errorf("the keys take %d bytes: the server terminates a workflow over 2,048", bytes)
	}
}

func TestMaxDecisions(t *testing.T) {
	var s State
	for i := range 100 {
		s.addDecision(Decision{Step: "PreCheck", Message: fmt.Sprint(i)})
	}
	if len(s.Decisions) != maxDecisions || s.Decisions[maxDecisions-1].Message != "99" {
		t.Errorf("%d decisions kept, the last %q; want the last %d", len(s.Decisions), s.Decisions[len(s.Decisions)-1].Message, maxDecisions)
	}
}
