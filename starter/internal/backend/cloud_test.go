package backend

import (
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"

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
