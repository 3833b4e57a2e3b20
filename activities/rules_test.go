package activities

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/extensions/rules"
	"github.com/armature-io/armature/resource"
)

// TestRulesReadThroughTheCache checks that the rules of many resources that read one other
// share its reading, see the labels of their manifests, and wait for what they read.
func TestRulesReadThroughTheCache(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "r.yaml")
	must(t, os.WriteFile(path, []byte(`rules:
  - name: reads
    type: Contoso.Things/things
    at: pre
    read: {cluster: desired.properties.cluster}
    when: labels.team == "red" && cluster.properties.state == "Running"
    block: ${labels.team} waits for ${cluster.name}
`), 0o600))
	set, _, err := rules.Load(path)
	must(t, err)
	w := newWorld(t, func(s *setup) { s.entries = append(s.entries, set.Entry()) })
	w.put(clusterText, `{"location":"westus2","properties":{}}`)
	check := func(name, team string) resource.Verdict {
		spec := desired(t, strings.Replace(thingText, "t1", name, 1), `{"properties":{"cluster":"`+clusterText+`"}}`)
		spec.Labels = map[string]string{"team": team}
		return local(w, w.acts.PreCheck, PreCheckInput{Desired: spec}).Verdict
	}
	for range 5 {
		if got := check("t1", "blue"); got.Stops() {
			t.Fatalf("got %+v", got)
		}
		got := check("t2", "red")
		if got.Action != resource.ActionBlock || got.Message != "red waits for c1" || len(got.WaitingFor) != 1 || !strings.Contains(got.Freshness, "c1 read") {
			t.Fatalf("got %+v", got)
		}
	}
	if got := w.requests(); !slices.Equal(got, []string{"GET rg1", "GET c1"}) {
		t.Errorf("ten checks made the requests %v, want one read of the owner and one of the cluster", got)
	}
}
