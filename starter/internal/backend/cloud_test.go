package backend

import (
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/workflows"
)

func TestRegistration(t *testing.T) {
	text := CloudRegistration("prod.a1b2c", workflows.SearchAttributes())
	for name, kind := range workflows.SearchAttributes() {
		if !strings.Contains(text, "--search-attribute "+name+"="+kind.String()) {
			t.Errorf("no tcld line for %s", name)
		}
	}
	for _, want := range []string{
		"tcld namespace search-attributes add --namespace prod.a1b2c \\\n",
		"resource \"temporalcloud_namespace_search_attribute\" \"arm_name\" {\n  namespace_id = \"prod.a1b2c\"\n  name         = \"ArmName\"\n  type         = \"Keyword\"\n}",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the registration lacks %q:\n%s", want, text)
		}
	}
	if enumspb.INDEXED_VALUE_TYPE_KEYWORD_LIST.String() != "KeywordList" {
		t.Error("the type of keyword lists has another name than on Temporal Cloud")
	}
}

func TestEstimate(t *testing.T) {
	if got := EstimateActions(1000, 0, 0, time.Hour).PerDay; got != 48_000 {
		t.Errorf("1,000 resources at 1 h take %v actions per day, want 48,000", got)
	}
	if got := EstimateActions(1000, 0, 0, 24*time.Hour).PerDay; got != 2_000 {
		t.Errorf("1,000 resources at 24 h take %v actions per day, want 2,000", got)
	}
	if got := EstimateActions(0, 1, 5, 0).PerDay; got != 960 {
		t.Errorf("one waiting resource takes %v actions per day, want 1,440", got)
	}
}

// TestFeedCost shows from how many resources on a feed saves actions.
func TestFeedCost(t *testing.T) {
	for _, tc := range []struct {
		ready, feeds int
		want         activities.FindingState
		text         string
	}{
		{10, 1, activities.FindingWarn, "about 1028 actions per day for 10 Ready resources if their changes are reported, 480 without a feed"},
		{MinFollowed - 1, 1, activities.FindingWarn, ""},
		{MinFollowed, 1, activities.FindingOK, ""},
		{MinFollowed, 2, activities.FindingWarn, ""},
		{10_000, 2, activities.FindingOK, "about 22016 actions per day for 10000 Ready resources if their changes are reported, 480000 without a feed"},
	} {
		got := FeedCost(tc.ready, tc.feeds)
		if got.State != tc.want || !strings.Contains(got.Message, tc.text) {
			t.Errorf("%d resources and %d feeds: %+v, want %s with %q", tc.ready, tc.feeds, got, tc.want, tc.text)
		}
	}
	if below, from := FeedCost(MinFollowed-1, 1), FeedCost(MinFollowed, 1); below.State == from.State {
		t.Error("the break-even is the same on both sides")
	}
}
