package e2e

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/collector"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/internal/leaks"
	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/internal/testonly/canary"
	"github.com/armature-io/armature/workflows"
)

// TestCanaries lets ten resources live with every kind of secret: plans, refused and failed
// writes, drift, imports, exports, a freeze and deletions, in which ARM repeats the secrets in
// every encoding. Then no secret is in anything that the programs wrote. With -short some of the
// kinds and encodings do it.
func TestCanaries(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string]*payload.Converters{"clear": nil, "encrypted": bothKeys(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newCanaryScene(t, keys)
			s.live()
			s.search()
		})
	}
}

// The ten resources by the channel in which ARM repeats secrets, and one that is never applied
// and one that Armature does not manage.
const (
	canaryCalm      = "canary-calm"
	canaryDrifting  = "canary-drifting"
	canaryRefused   = "canary-refused"
	canaryText      = "canary-text"
	canaryOnce      = "canary-once"
	canaryFailing   = "canary-failing"
	canaryUnread    = "canary-unread"
	canaryPolled    = "canary-polled"
	canaryKept      = "canary-kept"
	canaryHeaders   = "canary-headers"
	canaryLiteral   = "canary-literal"
	canaryUnmanaged = "canary-unmanaged"
)

func canaryNames() []string {
	return []string{canaryCalm, canaryDrifting, canaryRefused, canaryText, canaryOnce, canaryFailing, canaryUnread, canaryPolled, canaryKept, canaryHeaders}
}

// canaryScene is a world whose resources have canaries.
type canaryScene struct {
	scenarios
	worker *harness.Worker
	spans  *collector.Collector
	// keys decrypt what Temporal stores; nil in a world without encryption.
	keys *payload.Converters
	// kinds are the secrets, by the names of their references.
	kinds map[string]canary.Secret
	// echoes are texts in which ARM repeats a secret, and echoed the next that it returns.
	echoes []string
	echoed int
	// output is the output of all CLI calls, by call.
	output map[string]string
}

// plantedEcho is around each echo: messages that contain it were not cut before.
func plantedEcho(i int) string { return fmt.Sprintf("planted-echo-%d-end", i) }

func newCanaryScene(t *testing.T, keys *payload.Converters) *canaryScene {
	t.Helper()
	w := harness.New(t, binaries, harness.Options{TLS: true, Vaults: true, Converters: keys, Simulator: armsim.Options{TimeScale: 600}})
	s := &canaryScene{scenarios: scenarios{w}, spans: collector.Start(t), keys: keys, kinds: map[string]canary.Secret{}, output: map[string]string{}}
	s.putGroup("canaries")
	s.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": exportGroup, "body": map[string]any{"location": "westus2"}}, nil)
	if keys != nil {
		w.Env = append(w.Env, keyEnv("a", "a")...)
	}
	for _, folder := range []string{"tmp-worker", "tmp-cli"} {
		if err := os.Mkdir(filepath.Join(w.Folder, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	env := append(s.spans.HTTP(), "ARMATURE_LOG_LEVEL=debug", "ARMATURE_AUDIT_FILE="+filepath.Join(w.Folder, "audit-canaries.jsonl"),
		"ARMATURE_SECRETS_DIR="+filepath.Join(w.Folder, "secrets.d"), "TMPDIR="+filepath.Join(w.Folder, "tmp-worker"),
		"ARMATURE_EXPORT_VAULTS=https://kv.vault.example/secrets/app-*")
	secrets := canary.Secrets()
	all := slices.Sorted(maps.Keys(secrets))
	characters, groups := canary.Encodings()
	maps.Copy(characters, groups)
	encodings := slices.Sorted(maps.Keys(characters))
	if testing.Short() {
		all, encodings = every(all, 4), every(encodings, 3)
	}
	for i, kind := range all {
		name := fmt.Sprintf("canary-%02d", i)
		if i%2 == 0 {
			name = fmt.Sprintf("CANARY_%02d", i)
			env = append(env, "ARMATURE_SECRET_"+name+"="+secrets[kind].Value())
		} else {
			s.Write("secrets.d/"+name, secrets[kind].Value())
		}
		s.kinds[name] = secrets[kind]
		for _, encoding := range encodings {
			s.echoes = append(s.echoes, "planted-echo "+characters[encoding](secrets[kind].Value())+" "+plantedEcho(len(s.echoes)))
		}
	}
	t.Logf("%d kinds in %d encodings", len(all), len(encodings))
	s.worker = w.StartWorker(harness.WorkerOptions{Env: env})
	w.Env = append(append(w.Env, s.spans.GRPC()...), "TMPDIR="+filepath.Join(w.Folder, "tmp-cli"))
	return s
}

// every returns each nth text of a list.
func every(list []string, n int) []string {
	var some []string
	for i := 0; i < len(list); i += n {
		some = append(some, list[i])
	}
	return some
}

func (s *canaryScene) id(name string) string { return thing{group: "canaries", name: name}.id() }

// manifest returns a manifest with all secrets, some of them under the name of a password.
func (s *canaryScene) manifest(name, size string) string {
	var values []string
	for i, reference := range slices.Sorted(maps.Keys(s.kinds)) {
		source := "file:" + reference
		if strings.HasPrefix(reference, "CANARY") {
			source = "env:ARMATURE_SECRET_" + reference
		}
		values = append(values, fmt.Sprintf("{name: n%d, %s: {$secret: %s}}", i, []string{"content", "password"}[i/2%2], source))
	}
	return fmt.Sprintf("type: Microsoft.Example/things@2024-01-01\nname: %s\nowner: %s/resourceGroups/canaries\nbody:\n  location: westus2\n  properties:\n    size: %s\n    list: [%s]\n"+
		"reconcile: {interval: 0}\nlabels: {stack: canaries}\n", name, subscription, size, strings.Join(values, ", "))
}

// maxEcho is the length of a message that no program cuts.
const maxEcho = 900

// message returns the next echoes that a message has room for, and the plant of the last one.
func (s *canaryScene) message() (message, last string) {
	for s.echoed < len(s.echoes) || message == "" {
		next := s.echoes[s.echoed%len(s.echoes)]
		if message != "" && len(message)+len(next) > maxEcho {
			break
		}
		message, last = message+next+" ", plantedEcho(s.echoed%len(s.echoes))
		s.echoed++
	}
	return message, last
}

// body returns a body of an error that repeats a message wherever it has a text.
func (s *canaryScene) body(message string) json.RawMessage {
	s.T.Helper()
	detail := map[string]any{"code": "Weak", "message": message, "target": message}
	body, err := json.Marshal(map[string]any{"error": map[string]any{
		"code": "InvalidPassword", "message": message, "target": message, "details": []any{detail},
		"innererror":     map[string]any{"code": "Weak", "message": message},
		"additionalInfo": []any{map[string]any{"type": "PolicyViolation", "info": detail}},
	}})
	if err != nil {
		s.T.Fatal(err)
	}
	return body
}

func (s *canaryScene) fault(fault armsim.Fault) {
	s.T.Helper()
	s.Sim.Call(http.MethodPost, "/faults", fault, nil)
}

// run calls the CLI, which must exit with the code, and keeps its output.
func (s *canaryScene) run(code int, args ...string) {
	s.T.Helper()
	result := s.CLI(harness.Patient(args)...)
	if result.Code != code {
		s.T.Errorf("want exit code %d of %s", code, result)
	}
	s.output[fmt.Sprintf("%02d: armature %s", len(s.output), strings.Join(args, " "))] = result.Out + result.Err
}

// live takes the resources through their life.
func (s *canaryScene) live() {
	s.T.Helper()
	until := map[string]string{}
	say := func(name string) string {
		message, last := s.message()
		until[name] = last
		return message
	}
	for _, fault := range []armsim.Fault{
		{Method: http.MethodPut, Path: s.id(canaryOnce), Status: http.StatusInternalServerError, Body: s.body(say(canaryOnce)), Count: 2},
		{Method: http.MethodGet, Path: s.id(canaryPolled), On: "operation", Status: http.StatusInternalServerError, Body: s.body(say(canaryPolled)), Count: 2},
		{Method: http.MethodDelete, Path: s.id(canaryKept), Status: http.StatusConflict, Body: s.body(say(canaryKept))},
	} {
		s.fault(fault)
	}
	text, _ := json.Marshal(say(canaryText))
	s.fault(armsim.Fault{Method: http.MethodPut, Path: s.id(canaryText), Status: http.StatusBadRequest, Body: text})
	s.fault(armsim.Fault{Method: http.MethodPut, Path: s.id(canaryHeaders), Status: http.StatusBadRequest, Code: "planted-headers", Message: "planted-headers", Headers: s.headers()})
	failure := say(canaryFailing)
	s.Sim.Call(http.MethodPost, "/operations", armsim.OperationRule{ID: s.id(canaryFailing), Spec: armsim.OperationSpec{
		Shape: armsim.ShapeAsync, Polls: 1, RetryAfter: []float64{60}, Outcome: "Failed", ErrorCode: "InvalidPassword", ErrorMessage: failure,
		ErrorDetails: []any{map[string]any{"code": "Weak", "message": failure, "target": failure}},
	}}, nil)
	s.Sim.Call(http.MethodPost, "/operations", armsim.OperationRule{ID: s.id(canaryPolled), Spec: armsim.OperationSpec{
		Shape: armsim.ShapeAsync, Polls: 1, RetryAfter: []float64{60},
	}}, nil)

	var documents []string
	for _, name := range canaryNames() {
		if name != canaryRefused {
			documents = append(documents, s.manifest(name, "small"))
		}
	}
	file := s.Write("manifests/canaries.yaml", strings.Join(documents, "---\n"))
	s.run(0, "validate", "-f", file)
	s.run(2, "plan", "-f", file, "--out", "canaries.plan")
	s.run(0, "apply", "--plan-file", "canaries.plan")
	s.literals()
	for _, name := range []string{canaryCalm, canaryDrifting, canaryOnce, canaryUnread, canaryPolled, canaryKept} {
		s.UntilPhase(60*time.Second, s.id(name), workflows.PhaseReady)
	}
	s.fault(armsim.Fault{Method: http.MethodGet, Path: s.id(canaryUnread), Status: http.StatusBadRequest, Body: s.body(say(canaryUnread))})
	s.run(1, "drift", canaryUnread)
	s.run(0, "reconcile", canaryUnread)
	s.run(0, "delete", "--yes", s.id(canaryKept))
	for _, name := range []string{canaryUnread, canaryFailing, canaryKept} {
		s.untilSaid(name, until[name])
	}
	s.untilSaid(canaryText, "the response is text/")
	s.untilSaid(canaryHeaders, "planted-headers")
	s.refusals()
	s.drift()
	s.read()
	s.convert()
	s.export()
	s.run(0, "freeze", "-l", "stack=none", "--reason", "planted-freeze")
	s.run(0, "unfreeze", "-l", "stack=none")
	s.run(0, "pause", canaryCalm, "--reason", "planted-pause")
	s.run(0, "resume", canaryCalm)
	s.run(2, "plan", "--delete", canaryCalm, "--out", "delete.plan")
	s.run(0, "delete", "--yes", "--wait", "--timeout", "60s", canaryCalm, canaryDrifting)
	s.run(0, "forget", "--yes", s.id(canaryOnce))
}

// headers returns headers with secrets. Some would be no header in every encoding.
func (s *canaryScene) headers() map[string]string {
	headers := map[string]string{}
	references := slices.Sorted(maps.Keys(s.kinds))
	for i, name := range []string{"X-Ms-Failure-Cause", "Www-Authenticate", "Warning", "X-Ms-Error-Code", "X-Ms-Request-Id", "X-Ms-Correlation-Request-Id", "Retry-After", "Etag", "Set-Cookie", "Server"} {
		quoted, _ := json.Marshal(s.kinds[references[i%len(references)]].Value())
		headers[name] = strings.Trim(string(quoted), `"`)
	}
	return headers
}

func (s *canaryScene) untilSaid(name, message string) {
	s.T.Helper()
	s.UntilStatus(60*time.Second, s.id(name), "has message "+message, func(status workflows.Status) bool {
		return strings.Contains(status.Condition.Message, message)
	})
}

// literals tries manifests that have the secrets as text, which no command takes or shows.
func (s *canaryScene) literals() {
	s.T.Helper()
	for reference, secret := range s.kinds {
		property := "note"
		if !secret.Form {
			property = "adminPassword"
		}
		value, _ := json.Marshal(secret.Value())
		file := s.Write("manifests/"+reference+".yaml", fmt.Sprintf("type: Microsoft.Example/things@2024-01-01\nname: %s\nowner: %s/resourceGroups/canaries\nbody: {location: westus2, properties: {%s: %s}}\n",
			canaryLiteral, subscription, property, value))
		for command, code := range map[string]int{"validate": 2, "plan": 1, "apply": 2} {
			s.run(code, command, "-f", file)
		}
	}
}

// refusals refuses the PUTs of a resource until ARM has repeated every secret in every encoding.
func (s *canaryScene) refusals() {
	s.T.Helper()
	file := s.Write("manifests/refused.yaml", s.manifest(canaryRefused, "small"))
	s.echoed = 0 // the other channels show some of their messages only
	fault := armsim.Fault{ID: "refusals", Method: http.MethodPut, Path: s.id(canaryRefused), Status: http.StatusBadRequest}
	message, last := s.message()
	fault.Body = s.body(message)
	s.fault(fault)
	s.run(0, "apply", "-f", file)
	s.untilSaid(canaryRefused, last)
	for s.echoed < len(s.echoes) {
		message, last = s.message()
		fault.Body = s.body(message)
		s.fault(fault)
		s.Update([]string{s.WorkflowID(s.id(canaryRefused))}, workflows.ReconcileUpdate, func(int) any { return workflows.ReconcileInput{Force: true, Reason: "planted", By: "test"} })
		s.untilSaid(canaryRefused, last)
	}
}

// drift changes a resource outside of Armature: its other properties repeat every secret.
func (s *canaryScene) drift() {
	s.T.Helper()
	properties := map[string]any{"size": "large", "setting": "changed"}
	for i, echo := range s.echoes {
		properties[fmt.Sprintf("echo%d", i)] = echo
	}
	s.Sim.Patch(s.id(canaryDrifting), map[string]any{"properties": properties})
	s.run(2, "drift", s.id(canaryDrifting), "--foreign")
	s.run(0, "reconcile", s.id(canaryDrifting), "--wait", "--timeout", "60s")
}

// read calls every command that shows resources.
func (s *canaryScene) read() {
	s.T.Helper()
	for _, output := range []string{"table", "wide", "json", "yaml"} {
		s.run(0, "get", "-o", output)
	}
	for _, name := range canaryNames() {
		s.run(0, "describe", name)
		s.run(0, "why", name)
		s.run(0, "history", name)
		s.run(0, "outputs", name, "-o", "json")
	}
	s.run(0, "doctor", s.id(canaryDrifting))
	s.run(0, "import", s.id(canaryDrifting))
	// Without a manifest, forms and names alone show what is secret.
	properties := map[string]any{}
	for reference, secret := range s.kinds {
		if secret.Form {
			properties["note"+reference] = secret.Value()
		} else {
			properties["settings"+reference] = map[string]any{"password": secret.Value()}
		}
	}
	s.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": s.id(canaryUnmanaged), "body": map[string]any{"location": "westus2", "properties": properties}}, nil)
	s.run(0, "import", s.id(canaryUnmanaged), "-o", "imported")
}

// convert converts a file of another tool.
func (s *canaryScene) convert() {
	s.T.Helper()
	var settings, protected []string
	for reference, secret := range s.kinds {
		value, _ := json.Marshal(secret.Value())
		setting := fmt.Sprintf("k%s = %s", strings.ReplaceAll(reference, "-", "_"), strings.NewReplacer("${", "$${", "%{", "%%{").Replace(string(value)))
		if protected = append(protected, setting); secret.Form {
			settings = append(settings, setting)
		}
	}
	s.run(0, "convert", "--from", "azapi", s.Write("manifests/main.tf", fmt.Sprintf(`resource "azapi_resource" "e" {
  type      = "Microsoft.Compute/virtualMachines/extensions@2024-07-01"
  name      = "e"
  parent_id = "%s/resourceGroups/canaries/providers/Microsoft.Compute/virtualMachines/v"
  location  = "westus2"
  body = { properties = {
    publisher = "Microsoft.Azure.Extensions"
    protectedSettings = {
%s
    }
    settings = {
%s
    }
  } }
}
`, subscription, strings.Join(protected, "\n"), strings.Join(settings, "\n"))))
}

// export writes keys of an account to a key vault, which refuses once. TestSecretsOfExports
// lets the vault repeat them.
func (s *canaryScene) export() {
	s.T.Helper()
	s.fault(armsim.Fault{Method: http.MethodPut, Path: "/vaults/kv/secrets/app-*", Status: http.StatusForbidden, Message: "planted-vault", Count: 1})
	s.run(0, "apply", "-f", s.Write("manifests/account.yaml", exportManifest+"labels: {stack: canaries}\n"))
	s.UntilStatus(60*time.Second, exportAccount, "has an export refused", func(status workflows.Status) bool {
		return strings.Contains(status.Condition.Message, "planted-vault")
	})
	s.run(0, "reconcile", exportAccount, "--wait", "--timeout", "60s")
	s.run(0, "describe", exportAccount)
	s.run(0, "outputs", exportAccount)
}

// search stops the worker and looks for the secrets, after planted values that it must find.
func (s *canaryScene) search() {
	s.T.Helper()
	metrics := s.worker.OpenMetrics()
	s.worker.Stop()
	_, trail := auditTrail(s.T, s.Folder)
	places := map[string]string{
		inTemporal: strings.Join(s.Texts(), "\n"), inLog: s.worker.Log(), inTrail: trail, inSpans: string(s.spans.Raw()), inMetrics: metrics,
	}
	decrypted := places[inTemporal]
	if s.keys != nil {
		decrypted = strings.Join(s.DecryptedTexts(s.keys), "\n")
		places["Temporal, decrypted"] = decrypted
	}
	maps.Copy(places, s.output)
	s.files(places)
	for i := range s.echoes {
		if !strings.Contains(decrypted, plantedEcho(i)) {
			s.T.Errorf("the echo %d was cut, so that its secret was not tried: %s", i, s.echoes[i])
		}
	}
	for place, planted := range map[string]string{inLog: canaryRefused, inTrail: canaryRefused, inSpans: canaryRefused, inMetrics: "microsoft.example/things"} {
		if !strings.Contains(places[place], planted) {
			s.T.Errorf("the search does not find %q in %s", planted, place)
		}
	}
	secrets := map[string]string{harness.ClientSecret: "the worker's client secret"}
	for _, value := range madeValues(s.World) {
		secrets[value] = "a key that the server made"
	}
	for _, secret := range s.kinds {
		kind := nameOf(secret)
		for _, piece := range leaks.Pieces(secret) {
			secrets[piece] = kind
		}
		secrets[secret.Value()] = kind
	}
	for _, leak := range leaks.Find(places, secrets) {
		s.T.Error(leak)
	}
}

// nameOf returns the name of a kind.
func nameOf(secret canary.Secret) string {
	for kind, other := range canary.Secrets() {
		if other.Text == secret.Text {
			return kind
		}
	}
	return ""
}

// files adds what is in the world's folder but the sources of the secrets: the database, audit
// trail, plans, imports, and temporary files.
func (s *canaryScene) files(places map[string]string) {
	s.T.Helper()
	sources := []string{"manifests", "secrets.d"}
	err := filepath.WalkDir(s.Folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(s.Folder, path)
		if err != nil {
			return err //nolint:wrapcheck // the test shows it
		}
		if entry.IsDir() && slices.Contains(sources, name) {
			return fs.SkipDir
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(path)
		places[name] = string(data)
		return err //nolint:wrapcheck // the test shows it
	})
	if err != nil {
		s.T.Fatal(err)
	}
	for _, name := range []string{"canaries.plan", "delete.plan", "audit-canaries.jsonl"} {
		if places[name] == "" {
			s.T.Errorf("the search has no file %s", name)
		}
	}
}
