package starter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/project"
)

func TestValidate(t *testing.T) {
	clean := accountManifest("")
	warning := accountManifest("  properties: {accessTier: hot}\n")
	fault := accountManifest("  properties: {isHnsEnabled: 1}\n")
	private := "type: Microsoft.Example/things@2024-01-01\nname: t\nowner: " + group + "\nbody: {properties: {a: 1}}\n"
	cases := map[string]struct {
		reason, text string
		stdin        string
		args         []string
		code         int
		out, err     []string
		hides        string
	}{
		"clean":            {reason: "nothing is found", text: clean, code: cli.ExitOK, out: []string{"1 manifest, 0 faults, 0 warnings\n"}},
		"warning":          {reason: "warnings do not fail", text: warning, code: cli.ExitOK, out: []string{"m.yaml:8:28: warning: body.properties.accessTier", "1 manifest, 0 faults, 1 warning\n"}},
		"strict":           {reason: "warnings fail with --strict", text: warning, args: []string{"--strict"}, code: cli.ExitFailed},
		"strict and clean": {reason: "nothing to fail for", text: clean, args: []string{"--strict"}, code: cli.ExitOK},
		"fault":            {reason: "a fault fails, and how to lower it is said once", text: fault, code: cli.ExitBadInput, out: []string{"m.yaml:8:30: body.properties.isHnsEnabled: "}, err: []string{"--validation warn"}},
		"fault lowered":    {reason: "a fault becomes a warning", text: fault, args: []string{"--validation", "warn"}, code: cli.ExitOK, out: []string{"0 faults, 1 warning"}},
		"all raised":       {reason: "a warning becomes a fault", text: warning, args: []string{"--validation", "strict"}, code: cli.ExitBadInput, out: []string{"1 fault, 0 warnings"}},
		"off":              {reason: "nothing is checked", text: fault, args: []string{"--validation", "off"}, code: cli.ExitOK, out: []string{"0 faults, 0 warnings"}},
		"manifest":         {reason: "the manifest decides without the flag", text: fault + "reconcile: {validation: warn}\n", code: cli.ExitOK, out: []string{"0 faults, 1 warning"}},
		"broken":           {reason: "a manifest that cannot be read is a fault that nothing lowers", text: "type: [\n", args: []string{"--validation", "off"}, code: cli.ExitBadInput, out: []string{"m.yaml:1: broken YAML", "0 manifests, 1 fault"}},
		"private":          {reason: "a type that is not published is one warning", text: private, code: cli.ExitOK, out: []string{"1 manifest, 0 faults, 1 warning"}},
		"stdin":            {reason: "standard input is a file", stdin: fault, args: []string{"-f", "-"}, code: cli.ExitBadInput, out: []string{"-:8:30: body.properties.isHnsEnabled"}},
		"json":             {reason: "the summary is not in the document", text: fault, args: []string{"-o", "json"}, code: cli.ExitBadInput, out: []string{`"rule": "wrong-kind"`}, err: []string{"1 manifest, 1 fault, 0 warnings"}},
		"sarif":            {reason: "code scanning", text: fault, args: []string{"-o", "sarif"}, code: cli.ExitBadInput, out: []string{`"version": "2.1.0"`, `"startColumn": 30`}},
		"github":           {reason: "annotations", text: fault, args: []string{"-o", "github"}, code: cli.ExitBadInput, out: []string{"::error file=", ",line=8,col=30,title=wrong-kind::body.properties.isHnsEnabled: "}},
		"junit":            {reason: "test reports", text: fault, args: []string{"-o", "junit"}, code: cli.ExitBadInput, out: []string{"<testcase ", "<failure "}},
		"group":            {reason: "the flags of apply locate manifests without an owner", text: strings.Replace(clean, "owner: "+group+"\n", "", 1), args: []string{"--resource-group", "g", "--subscription", "11111111-2222-3333-4444-555555555555"}, code: cli.ExitOK},
		"bad group":        {reason: "a wrong flag is no finding of a file", text: clean, args: []string{"--subscription", "prod", "-o", "sarif"}, code: cli.ExitBadInput, err: []string{"--subscription: the subscription \"prod\" is not a GUID"}},
		"bad word":         {reason: "names the allowed ones", text: clean, args: []string{"--validation", "stict"}, code: cli.ExitBadInput, err: []string{"did you mean strict?", "default, strict, warn, off"}},
		"bad format":       {reason: "names the allowed ones", text: clean, args: []string{"-o", "yaml"}, code: cli.ExitBadInput, err: []string{"table, json, sarif, github, junit"}},
		"no file":          {reason: "names what it needs", args: []string{}, code: cli.ExitBadInput, err: []string{"validate needs -f PATH"}},
		"secret":           {reason: "no output repeats a secret", text: "type: Microsoft.Compute/virtualMachines@2023-03-01\nname: v\nowner: " + group + "\nbody: {location: westus2, properties: {osProfile: {adminPassword: [hunter22], secrets: hunter22}}}\n", code: cli.ExitBadInput, hides: "hunter22"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.in = strings.NewReader(tc.stdin)
			w.connect = func(context.Context, backend.Options) (*connection, error) {
				t.Errorf("%s: validate connects to Temporal", tc.reason)
				return nil, errors.New("no Temporal")
			}
			args := []string{"validate"}
			if tc.text != "" {
				args = append(args, "-f", manifests(t, map[string]string{"m.yaml": tc.text}))
			}
			if code := w.run(append(args, tc.args...)...); code != tc.code {
				t.Errorf("%s: exit code %d, want %d\n%s%s", tc.reason, code, tc.code, w.out, w.err)
			}
			for _, text := range tc.out {
				if !strings.Contains(w.out.String(), text) {
					t.Errorf("%s: standard output lacks %q:\n%s", tc.reason, text, w.out)
				}
			}
			for _, text := range tc.err {
				if strings.Count(w.err.String(), text) != 1 {
					t.Errorf("%s: standard error has %q not once:\n%s", tc.reason, text, w.err)
				}
			}
			if tc.hides != "" && strings.Contains(w.out.String()+w.err.String(), tc.hides) {
				t.Errorf("%s:\n%s%s", tc.reason, w.out, w.err)
			}
		})
	}
}

// TestValidateBeforeSending checks which commands check bodies, and what warnings do.
func TestValidateBeforeSending(t *testing.T) {
	warning := "type: Microsoft.Kusto/clusters@2023-08-15\nname: adx\nowner: " + group + "\nbody: {location: westus2, sku: {name: Standard_E2d_v5}}\n"
	fault := strings.Replace(warning, "sku: {", "sku: {tier: Standard, capacty: 2, ", 1)
	const warned, refused = "body.sku.tier: is missing and required", "body.sku.capacty: unknown property (did you mean capacity?)"
	cases := map[string]struct {
		reason, text string
		args         []string
		refuses      bool
		code         int
		stderr       string
	}{
		"apply warns":      {reason: "a warning stops nothing", text: warning, args: []string{"apply"}, stderr: warned},
		"plan warns":       {reason: "a warning stops nothing", text: warning, args: []string{"plan"}, stderr: warned},
		"apply refuses":    {reason: "nothing is started", text: fault, args: []string{"apply"}, refuses: true, code: cli.ExitBadInput, stderr: refused},
		"plan refuses":     {reason: "the code of an error of plan", text: fault, args: []string{"plan"}, refuses: true, code: cli.ExitFailed, stderr: refused},
		"apply lowers":     {reason: "the flag of the command", text: fault, args: []string{"apply", "--validation", "warn"}, stderr: "warning: " + refused},
		"plan off":         {reason: "the flag of the command", text: fault, args: []string{"plan", "--validation", "off"}},
		"apply raises":     {reason: "the flag of the command", text: warning, args: []string{"apply", "--validation", "strict"}, refuses: true, code: cli.ExitBadInput, stderr: warned},
		"delete ignores":   {reason: "a deletion sends no body", text: fault, args: []string{"delete", "--yes"}},
		"wait ignores":     {reason: "a wait sends no body", text: fault, args: []string{"wait"}},
		"apply of a mixed": {reason: "one fault stops all", text: fault + "---\n" + strings.Replace(warning, "adx", "other", 1), args: []string{"apply"}, refuses: true, code: cli.ExitBadInput, stderr: "and 1 warning"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := sampleWorld(t)
			code := w.run(append(tc.args, "-f", manifests(t, map[string]string{"m.yaml": tc.text}))...)
			if code != tc.code {
				t.Errorf("%s: exit code %d, want %d\n%s%s", tc.reason, code, tc.code, w.out, w.err)
			}
			if n := len(w.temporal.sent) + len(w.temporal.started) + len(w.temporal.runs); tc.refuses && n > 0 {
				t.Errorf("%s: %d messages were sent", tc.reason, n)
			}
			if got := strings.Contains(w.err.String(), "m.yaml:"); got != (tc.stderr != "") || !strings.Contains(w.err.String(), tc.stderr) {
				t.Errorf("%s: standard error is %q, want %q in it", tc.reason, w.err, tc.stderr)
			}
			if tc.refuses != (strings.Count(w.err.String(), "--validation warn") == 1) {
				t.Errorf("%s: how to lower is said once, in a refusal: %s", tc.reason, w.err)
			}
		})
	}
}

// TestPlanOutputStaysAlone checks that warnings are not in a machine's output.
func TestPlanOutputStaysAlone(t *testing.T) {
	w := sampleWorld(t)
	dir := manifests(t, map[string]string{"m.yaml": "type: Microsoft.Kusto/clusters@2023-08-15\nname: adx\nowner: " + group + "\nbody: {location: westus2, sku: {name: Standard_E2d_v5}}\n"})
	w.run("plan", "-f", dir, "-o", "json")
	var document any
	if err := json.Unmarshal(w.out.Bytes(), &document); err != nil {
		t.Errorf("standard output is no JSON: %v\n%s", err, w.out)
	}
	if !strings.Contains(w.err.String(), "warning: ") {
		t.Errorf("standard error lacks the warning: %s", w.err)
	}
}

// TestManyIssues checks that a command that sends bodies lists a bounded number of
// findings, and that validate lists all.
func TestManyIssues(t *testing.T) {
	const many = 30
	cases := map[string]struct {
		reason, key string
		args        []string
		lines       int
		more        string
	}{
		"warnings":     {reason: "the first ones, and how to see all", key: "refrigerator%02d", args: []string{"apply"}, lines: project.MaxIssuesShown, more: "… and 5 more; `armature validate` lists all"},
		"faults":       {reason: "the first ones", key: "virtualNetworkRule%02d", args: []string{"apply", "--validation", "strict"}, lines: project.MaxIssuesShown, more: "… and 5 more; fix these first"},
		"all warnings": {reason: "validate is for reading them", key: "refrigerator%02d", args: []string{"validate"}, lines: many},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			properties := ""
			for i := range many {
				properties += fmt.Sprintf("    "+tc.key+": 1\n", i)
			}
			w := sampleWorld(t)
			w.run(append(tc.args, "-f", manifests(t, map[string]string{"m.yaml": accountManifest("  properties:\n" + properties)}))...)
			text := w.out.String() + w.err.String()
			if got := strings.Count(text, "m.yaml:"); got != tc.lines {
				t.Errorf("%s: %d findings are listed, want %d\n%s", tc.reason, got, tc.lines, text)
			}
			if !strings.Contains(text, tc.more) {
				t.Errorf("%s: lacks %q:\n%s", tc.reason, tc.more, text)
			}
		})
	}
}
