package main

import (
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/workflows"
)

// undeclared are properties of a body with a secret that no $secret declares, each with the
// part of it that nothing may show.
var undeclared = map[string]struct{ properties, canary string }{
	"protected":  {"protectedSettings: {commandToExecute: echo CanaryProtected}", "CanaryProtected"},
	"token":      {"note: eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJhIn0.CanaryOfToken", "CanaryOfToken"},
	"hook":       {"note: 'https://hooks.chat.example/services/T1/B1/x8Kq2Lw9Zr4Tv6Yn1Bm3Hj5G'", "x8Kq2Lw9Zr4Tv6Yn1Bm3Hj5G"},
	"connection": {"note: 'AccountName=a;AccountKey=CanaryConnection=='", "CanaryConnection"},
}

// TestSecretsWithoutMarker checks that secrets which are known by the name around them or by
// their form stand in no manifest that starts anything and in no tag, become placeholders of
// a conversion, and are masked in what Azure returns.
func TestSecretsWithoutMarker(t *testing.T) {
	t.Parallel()
	s := newScene(t, "unmarked").serve()
	for name, c := range undeclared {
		file := s.manifest(name, c.properties)
		for _, args := range [][]string{{"validate", "-f", file}, {"plan", "-f", file}, {"apply", "-f", file}} {
			result := s.CLI(args...)
			if result.Code == 0 || strings.Contains(result.Out+result.Err, c.canary) {
				t.Errorf("%s: armature %s took it, or shows it (exit code %d):\n%s", name, args[0], result.Code, result.Out+result.Err)
			}
		}
		if _, err := s.Client.DescribeWorkflowExecution(t.Context(), s.WorkflowID(s.id(name)), ""); err == nil {
			t.Errorf("%s: it is in Temporal", name)
		}
	}
	tag := s.CLI("validate", "-f", s.Write("tag.yaml", "type: Microsoft.Resources/resourceGroups@2021-04-01\nname: attack-tag\nowner: "+subscription+"\nbody: {location: westus2, tags: {c: 'AccountKey=CanaryConnection=='}}\n"))
	if tag.Code == 0 || strings.Contains(tag.Out+tag.Err, "CanaryConnection") {
		t.Errorf("a tag with a key: exit code %d, %s", tag.Code, tag.Out+tag.Err)
	}
	s.apply("seen")
	s.ready(s.id("seen"))
	s.put(s.id("seen"), map[string]any{"location": "westus2", "properties": map[string]any{
		"size": 1, "protectedSettings": map[string]any{"commandToExecute": "echo CanaryProtected"},
		"note": "eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJhIn0.CanaryOfToken", "more": "AccountName=a;AccountKey=CanaryConnection==",
		"hook": "https://hooks.chat.example/services/T1/B1/x8Kq2Lw9Zr4Tv6Yn1Bm3Hj5G",
	}})
	s.sync(s.id("seen"))
	s.UntilStatus(30*time.Second, s.id("seen"), "had a pass", func(status workflows.Status) bool { return status.Pass > 1 })
	shown := s.CLI("get", s.id("seen"), "-o", "json").Out + s.CLI("drift", s.id("seen"), "--foreign").Out
	for name, c := range undeclared {
		s.hidden(s.id("seen"), c.canary)
		if strings.Contains(shown+s.worker.Log(), c.canary) {
			t.Errorf("%s: an output or the log shows it", name)
		}
	}
}

// TestConvertedSecrets checks that a conversion writes and prints no secret.
func TestConvertedSecrets(t *testing.T) {
	t.Parallel()
	s := newScene(t, "converted")
	source := s.Write("main.tf", `resource "azapi_resource" "e" {
  type      = "Microsoft.Compute/virtualMachines/extensions@2024-07-01"
  name      = "e"
  parent_id = "`+s.group()+`/providers/Microsoft.Compute/virtualMachines/v"
  location  = "westus2"
  body = { properties = {
    publisher         = "Microsoft.Azure.Extensions"
    protectedSettings = { commandToExecute = "echo CanaryProtected" }
    settings          = { key = "see", url = "https://hooks.chat.example/services/T1/B1/x8Kq2Lw9Zr4Tv6Yn1Bm3Hj5G" }
  } }
}
`)
	result := s.CLI("convert", "--from", "azapi", source)
	if result.Code != 0 || strings.Count(result.Out, "$secret") != 3 {
		t.Errorf("exit code %d:\n%s%s", result.Code, result.Out, result.Err)
	}
	for name, c := range undeclared {
		if strings.Contains(result.Out+result.Err, c.canary) {
			t.Errorf("%s: the conversion shows it", name)
		}
	}
}
