package armsim_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
)

const (
	computeRP = group + "/providers/Microsoft.Compute/"
	pool      = aks + "/agentPools/work"
)

// TestKeptValues omits values that a creation needs: the server keeps them, and the same
// values are no change afterwards.
func TestKeptValues(t *testing.T) {
	for path, test := range map[string]struct{ id, first, without string }{
		"properties.osProfile.customData": {computeRP + "virtualMachines/m", `{"location":"westus2","properties":{"osProfile":{"customData":"YQ=="}}}`, `{"location":"westus2","properties":{"osProfile":{}}}`},
		"properties.isHnsEnabled":         {account, `{"location":"westus2","kind":"StorageV2","properties":{"isHnsEnabled":true}}`, `{"location":"westus2","kind":"StorageV2"}`},
		"properties.kubernetesVersion":    {aks, `{"location":"westus2","properties":{"kubernetesVersion":"1.33.1"}}`, located},
		"properties.orchestratorVersion":  {pool, `{"properties":{"orchestratorVersion":"1.33.1","count":7}}`, `{}`},
		"properties.count":                {pool, `{"properties":{"count":7}}`, `{}`},
		"properties.availabilityZone":     {postgres, `{"location":"westus2","properties":{"availabilityZone":"3"}}`, located},
	} {
		t.Run(path, func(t *testing.T) {
			h := newHarness(t, armsim.Options{})
			if err := h.Put(test.id, decode(t, test.first)); err != nil {
				t.Fatal(err)
			}
			shown := h.do("GET", test.id+version, "").at(path)
			for _, body := range []string{test.without, test.first} {
				if got := h.do("PUT", test.id+version, body); got.status > 202 {
					t.Fatalf("refused: %s", got.raw)
				}
				h.pass(time.Hour)
				h.wantAt(h.do("GET", test.id+version, ""), path, shown)
			}
		})
	}
}

func decode(t *testing.T, body string) map[string]any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(body))
	d.UseNumber()
	var out map[string]any
	if err := d.Decode(&out); err != nil {
		t.Fatalf("parse %s: %v", body, err)
	}
	return out
}
