package activities

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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

// TestReadinessExamples checks two of the rules that users copy against the simulator: a
// machine waits for the quota of its family, and a domain for its record in DNS.
func TestReadinessExamples(t *testing.T) {
	t.Parallel()
	set, _, err := rules.Load("../examples/rules/readiness")
	must(t, err)
	w := newWorld(t, func(s *setup) { s.entries = append(s.entries, set.Entry()) })
	t.Run("quota", func(t *testing.T) {
		const location = "/subscriptions/11111111-1111-1111-1111-111111111111/providers/Microsoft.Compute/locations/westus2/providers/Microsoft.Quota"
		w.put(location+"/quotas/standardDSv5Family", `{"properties":{"limit":{"limitObjectType":"LimitValue","value":20}}}`)
		w.put(location+"/usages/standardDSv5Family", `{"properties":{"usages":{"value":16}}}`)
		spec := desired(t, groupText+"/providers/Microsoft.Compute/virtualMachines/vm1", `{"location":"westus2","properties":{}}`)
		spec.Labels = map[string]string{"vmFamily": "standardDSv5Family", "vmCores": "8"}
		got := local(w, w.acts.PreCheck, PreCheckInput{Desired: spec}).Verdict
		want(t, got, resource.ActionBlock, "QuotaExceeded", resource.RetrySlow)
		if !strings.Contains(got.Message, "16 of 20 cores are used, 8 more are needed") {
			t.Errorf("got %q", got.Message)
		}
		w.put(location+"/quotas/standardDSv5Family", `{"properties":{"limit":{"limitObjectType":"LimitValue","value":32}}}`)
		w.advance(31 * time.Second)
		want(t, local(w, w.acts.PreCheck, PreCheckInput{Desired: spec}).Verdict, resource.ActionProceed, resource.ReasonNotFound, "")
	})
	t.Run("domain", func(t *testing.T) {
		const domain = groupText + "/providers/Microsoft.Cdn/profiles/front/customDomains/www"
		check := func(state string) resource.Verdict {
			body := `{"properties":{"hostName":"www.contoso.com","domainValidationState":"` + state + `","validationProperties":{"validationToken":"abc"}}}`
			return local(w, w.acts.PostCheck, PostCheckInput{Desired: desired(t, domain, `{"properties":{"hostName":"www.contoso.com"}}`), Observed: []byte(body)}).Verdict
		}
		got := check("Pending")
		want(t, got, resource.ActionFailure, "DomainNotValidated", resource.RetrySlow)
		if !strings.Contains(got.Message, `publish the TXT record _dnsauth.www.contoso.com with the value "abc"`) {
			t.Errorf("got %q", got.Message)
		}
		if got := check("Approved"); got.Stops() {
			t.Errorf("got %+v", got)
		}
	})
}

// TestAgesOfWhatWasRead checks that the verdict of a rule states the age of the resources that
// this rule reads, and not of those that other rules read and the rest of the step has.
func TestAgesOfWhatWasRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "r.yaml")
	must(t, os.WriteFile(path, []byte(`rules:
  - {name: reads, type: Contoso.Things/things, at: pre, read: {cluster: desired.properties.cluster}, when: cluster.properties.state == "Off", block: off}
  - {name: size, type: Contoso.Things/things, at: pre, when: desired.properties.size == 7, block: too large}
`), 0o600))
	set, _, err := rules.Load(path)
	must(t, err)
	w := newWorld(t, func(s *setup) { s.entries = append(s.entries, set.Entry()) })
	w.put(clusterText, `{"location":"westus2","properties":{"state":"On"}}`)
	check := func(size string) resource.Verdict {
		spec := desired(t, thingText, `{"properties":{"size":`+size+`,"cluster":"`+clusterText+`"}}`)
		return local(w, w.acts.PreCheck, PreCheckInput{Desired: spec}).Verdict
	}
	got := check("7")
	if got.Action != resource.ActionBlock || got.Detail() != "desired.properties.size is 7" {
		t.Errorf("got %q with %q, want the value without the age of the cluster", got.Message, got.Detail())
	}
	w.put(clusterText, `{"location":"westus2","properties":{"state":"Off"}}`)
	w.advance(31 * time.Second)
	got = check("7")
	if got.Message != "off" || !strings.HasPrefix(got.Detail(), `cluster.properties.state is "Off"; c1 read`) {
		t.Errorf("got %q with %q, want the value with the age of the cluster", got.Message, got.Detail())
	}
}
