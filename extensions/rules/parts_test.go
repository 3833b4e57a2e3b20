package rules_test

import (
	"testing"

	"github.com/armature-io/armature/extensions/extensiontest"
	"github.com/armature-io/armature/extensions/rules"
)

// TestPartsOfSystems holds which parts of the checks of three systems rules express: each with
// the tests in testdata/parts that show it.
func TestPartsOfSystems(t *testing.T) {
	const folder = "testdata/parts"
	parts := map[string]struct {
		rule  string
		cases []string
	}{
		"API Management: busy":                        {"apim-busy", []string{"activating", "at rest"}},
		"API Management: scaling":                     {"apim-scaling", []string{"it scales", "it does not scale"}},
		"API Management: policy of an API":            {"apim-api-policy", []string{"policy while the service scales", "policy"}},
		"API Management: product before subscription": {"apim-product-before-subscription", []string{"no product yet", "a product", "an open product", "all APIs"}},
		"API Management: gateway host":                {"apim-gateway-host", []string{"host name missing", "host name"}},
		"Front Door: TXT record":                      {"afd-domain-pending", []string{"pending", "approved"}},
		"Front Door: severity":                        {"afd-domain-refused", []string{"timed out", "not timed out"}},
		"Front Door: certificate":                     {"afd-certificate", []string{"certificate on its way", "certificate there"}},
		"Front Door: routes with more than 4 domains": {"afd-route-domains", []string{"the sixth domain is pending", "two domains are approved", "no domains"}},
		"Batch: resize":                               {"batch-pool-resizing", []string{"resizing", "steady"}},
		"Batch: up to 3 packages":                     {"batch-pool-packages", []string{"its one package is there", "no packages"}},
		"Batch: any number of packages":               {"batch-pool-packages", []string{"the fifth package is absent"}},
		"Batch: the pool alone against the quota":     {"batch-pool-quota", []string{"too many cores alone", "enough alone"}},
		"Batch: cores of other pools":                 {"batch-pool-quota", []string{"too many cores with others", "enough with others, and with the pool itself in the list"}},
		"Batch: sizes without a table":                {"batch-pool-quota", []string{"a size that no table has"}},
	}
	if len(parts) != 15 {
		t.Errorf("%d parts, want the 15 of the systems", len(parts))
	}
	if _, warnings, err := rules.Check(folder); err != nil || len(warnings) > 0 {
		t.Errorf("%v\n%v", err, warnings)
	}
	outcomes, _, err := rules.Test(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	passed := map[string]string{}
	for _, outcome := range outcomes {
		if outcome.Failure != "" {
			t.Errorf("%s: %s: %s %v", outcome.Position, outcome.Case.Name, outcome.Failure, outcome.Seen)
			continue
		}
		passed[outcome.Case.Name] = outcome.Case.Rule
	}
	for name, part := range parts {
		for _, c := range part.cases {
			if passed[c] != part.rule {
				t.Errorf("%s: no passing test %q of rule %s shows it", name, c, part.rule)
			}
			delete(passed, c)
		}
	}
	if len(passed) > 0 {
		t.Errorf("the tests %v show no part", passed)
	}
}

// The kit for checks in Go tries the rules that read several resources: with errors of reads,
// absent and odd states.
func TestPartsInTheKit(t *testing.T) {
	const (
		folder  = "testdata/parts"
		www     = group + "Microsoft.Cdn/profiles/fd1/customDomains/www"
		account = group + "Microsoft.Batch/batchAccounts/batch1"
	)
	suites := map[string]extensiontest.Suite{
		"afd-route-domains": {
			ID: group + "Microsoft.Cdn/profiles/fd1/afdEndpoints/e1/routes/r1", IgnoresForce: true,
			Desired: `{"properties":{"customDomains":[{"id":"` + www + `"}]}}`, Resources: map[string]string{www: `{"properties":{}}`},
			Self: []extensiontest.States{{
				Of: www, Path: "properties.domainValidationState", Block: []string{"Pending"}, Pass: []string{"Approved"}, AbsentBlocks: true, Reason: "DomainNotValidated",
			}},
		},
		"batch-pool-quota": {
			ID: account + "/pools/p1", IgnoresForce: true, Desired: `{"properties":{"vmSize":"STANDARD_D4S_V3"}}`,
			Lists: map[string][]string{account + "/pools": {`{"name":"p0","properties":{"vmSize":"STANDARD_D2S_V3","currentDedicatedNodes":0}}`}},
			Self:  []extensiontest.States{{Path: "properties.allocationState", Pass: []string{"Steady"}}},
		},
	}
	for name, suite := range suites {
		t.Run(name, func(t *testing.T) {
			suite.Entry = linkOf(t, folder, extensiontest.ID(t, suite.ID).Type(), name)
			extensiontest.Run(t, suite)
		})
	}
}
