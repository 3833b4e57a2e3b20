package worlds

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	enumspb "go.temporal.io/api/enums/v1"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/manifest"
)

const (
	// timeScale is the number of simulated seconds in one real second: a cluster takes two.
	timeScale = 300
	// hangs is longer than a world needs to come to rest on a quiet machine.
	hangs = 45 * time.Second
	// invalid is the exit code of a command with faulty manifests or flags.
	invalid = 2
	// postgres is the name of the example with the one secret, passwordVariable.
	postgres         = "armature-demo-postgres"
	passwordVariable = "ARMATURE_SECRET_POSTGRES_PASSWORD"
)

// worlds counts the worlds of the process: each has its own subscriptions, label and task queue.
var worlds atomic.Int64

// world is one run of a script.
type world struct {
	*harness.World
	examples *catalogue
	// label is the value of the label world of all manifests.
	label string
	// subscription has the resources, empty the same resources as a fresh apply creates them.
	subscription, empty string
	worker              *harness.Worker
	// rotations is the number of passwords before the present one.
	rotations int
	// manifests are the last ones by name, ids the IDs of all examples in the subscription.
	manifests map[string]document
	ids       map[string]string
	// removed are the names of deleted manifests.
	removed map[string]bool
	frozen  bool
	// written is the number of writes when the freeze was confirmed.
	written int
	foreign []foreignValue
	// vanished are the names of resources that another client deleted, to be created again.
	vanished []string
}

// foreignValue is a value that another client set.
type foreignValue struct {
	step
	// creations is how often Armature had created the resource: another creation takes the
	// value along.
	creations int
}

// play runs a script and compares its end with a fresh apply.
func play(t testing.TB, server *harness.World, examples *catalogue, s script) {
	w := newWorld(t, server, examples)
	for _, step := range s {
		t.Logf("%s %s", time.Now().Format(time.TimeOnly), step)
		kinds()[step.kind](w, step)
	}
	w.rest()
	w.compare()
}

func newWorld(t testing.TB, server *harness.World, examples *catalogue) *world {
	number := worlds.Add(1)
	w := &world{
		examples: examples, label: fmt.Sprintf("w%d", number), manifests: map[string]document{}, removed: map[string]bool{},
		subscription: fmt.Sprintf("11111111-0000-0000-0000-%012d", number), empty: fmt.Sprintf("22222222-0000-0000-0000-%012d", number),
	}
	w.World = server.Branch(t, w.label, harness.Options{Simulator: armsim.Options{TimeScale: timeScale, Seed: number, MaxRequests: 1_000_000}})
	w.ids = w.findIDs()
	w.quickPolls()
	w.startWorker()
	return w
}

// quickPolls makes the simulator return a Retry-After of one simulated minute.
func (w *world) quickPolls() {
	w.Sim.Call(http.MethodPost, "/operations", armsim.OperationRule{Spec: armsim.OperationSpec{RetryAfter: []float64{60}}}, nil)
}

// password is the present value of the secret.
func (w *world) password() string { return fmt.Sprintf("worlds-postgres-%d", 4711+w.rotations) }

func (w *world) startWorker() {
	w.worker = w.StartWorker(harness.WorkerOptions{NotReady: true, Env: []string{
		passwordVariable + "=" + w.password(),
		// Rotations are noticed with a mask key only.
		"ARMATURE_MASK_KEY=env:WORLDS_MASK_KEY", "WORLDS_MASK_KEY=a-mask-key-of-enough-length-0123456789",
	}})
}

// file writes the manifests of a subscription and returns the path.
func (w *world) file(subscription string, manifests map[string]document) string {
	w.T.Helper()
	var list []document
	for _, name := range slices.Sorted(maps.Keys(manifests)) {
		list = append(list, manifests[name])
	}
	content, err := json.MarshalIndent(list, "", " ")
	if err != nil {
		w.T.Fatal(err)
	}
	return w.Write(subscription+".json", strings.ReplaceAll(string(content), exampleSubscription, subscription))
}

// findIDs returns the resource IDs of all examples by name.
func (w *world) findIDs() map[string]string {
	w.T.Helper()
	set, err := manifest.Load(manifest.Options{}, w.file(w.subscription, w.examples.documents))
	if err != nil {
		w.T.Fatal(err)
	}
	ids := map[string]string{}
	for _, desired := range set.Resources {
		ids[desired.ID.Name()] = desired.ID.String()
	}
	return ids
}

// try runs a command of a user. A command that fails, as one during a deletion may, is repeated
// at the end of the script.
func (w *world) try(args ...string) {
	w.T.Helper()
	switch result := w.CLI(args...); result.Code {
	case 0:
	case invalid:
		w.T.Fatalf("%s", result)
	default:
		w.T.Logf("%s", result)
	}
}

// apply applies the last manifests. A resource that a deletion has not left yet is refused until
// it is gone; a freeze keeps it in Azure, and the apply is repeated at the end of the script.
func (w *world) apply() {
	if len(w.manifests) == 0 {
		return
	}
	args := []string{"apply", "-f", w.file(w.subscription, w.manifests)}
	if w.frozen {
		w.try(args...)
		return
	}
	w.repeat(args...)
}

// idsOf returns the IDs of names.
func (w *world) idsOf(names []string) []string {
	ids := make([]string, len(names))
	for i, name := range names {
		ids[i] = w.ids[name]
	}
	return ids
}

// creations returns how often Armature has created a resource.
func (w *world) creations(id string) int {
	n := 0
	for _, write := range w.writes() {
		if write.Verb == "create" && strings.EqualFold(write.ID, id) {
			n++
		}
	}
	return n
}

// writes returns all writes of the worker, oldest first.
func (w *world) writes() []armsim.Write {
	w.T.Helper()
	var writes []armsim.Write
	w.Sim.Call(http.MethodGet, "/writes", nil, &writes)
	return writes
}

// stored returns the resources in Azure whose ID matches the glob.
func (w *world) stored(glob string) []armsim.StoredResource {
	w.T.Helper()
	var all []armsim.StoredResource
	w.Sim.Call(http.MethodGet, "/resources?id="+glob, nil, &all)
	return all
}

// rest ends the freeze, repeats what the user wants last and waits until nothing is left to do.
// The next round then writes nothing.
func (w *world) rest() {
	if w.frozen {
		unfreeze(w, step{})
	}
	w.apply()
	if left := w.stillManaged(); len(left) > 0 {
		w.repeat(append([]string{"delete", "--with-data", "--wait", "--timeout", "60s"}, left...)...)
	}
	if len(w.manifests) == 0 {
		return
	}
	round := []string{"reconcile", "-l", "world=" + w.label, "--wait", "--timeout", "60s"}
	w.repeat(round...)
	w.checkPassword()
	before := len(w.writes())
	w.repeat(round...)
	for _, write := range w.writes()[before:] {
		w.T.Errorf("a round in sync sends %s %s", write.Method, write.ID)
	}
}

// checkPassword verifies that the last password of the PostgreSQL server that was sent is the
// present one: no read shows it.
func (w *world) checkPassword() {
	sent := ""
	for _, write := range w.writes() {
		if password, found := valueAt(write.Body, "properties.administratorLoginPassword"); found {
			sent, _ = password.(string)
		}
	}
	if w.manifests[postgres] != nil && sent != w.password() {
		w.T.Errorf("the last password that was sent is %q, want %q", sent, w.password())
	}
}

// repeat runs a command until it succeeds.
func (w *world) repeat(args ...string) {
	w.T.Helper()
	begun := time.Now()
	w.Until(hangs, "success of armature "+strings.Join(args, " "), func() (bool, string) {
		result := w.CLI(args...)
		if result.Code == invalid {
			w.T.Fatalf("%s", result)
		}
		return result.Code == 0, result.String()
	})
	w.T.Logf("  %s: armature %s", time.Since(begun).Round(time.Second), strings.Join(args, " "))
}

// stillManaged returns the IDs of deleted manifests whose workflows run.
func (w *world) stillManaged() []string {
	var left []string
	for _, id := range w.idsOf(slices.Sorted(maps.Keys(w.removed))) {
		description, err := w.Client.DescribeWorkflowExecution(w.T.Context(), w.WorkflowID(id), "")
		if err == nil && description.GetWorkflowExecutionInfo().GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
			left = append(left, id)
		}
	}
	return left
}

// compare compares Azure with a fresh apply of the last manifests, in which other clients set the
// values that belong to them.
func (w *world) compare() {
	got, others := w.bodies(w.subscription), w.othersValues()
	if len(w.manifests) > 0 {
		w.repeat("forget", "-l", "world="+w.label, "--yes")
	}
	w.Sim.Call(http.MethodPost, "/reset?all=true", nil, nil)
	w.quickPolls()
	if len(w.manifests) > 0 {
		w.repeat("apply", "-f", w.file(w.empty, w.manifests), "--wait", "--timeout", "90s")
	}
	for _, value := range others {
		w.patch(strings.Replace(w.ids[value.name], w.subscription, w.empty, 1), value)
	}
	if diff := cmp.Diff(w.bodies(w.empty), got); diff != "" {
		w.T.Errorf("Azure differs from a fresh apply of the last manifests (-fresh +world):\n%s", diff)
	}
}

// othersValues returns the values that other clients set and that stay: those that the manifest
// does not own, in resources that were not created again.
func (w *world) othersValues() []step {
	var values []step
	for _, value := range w.foreign {
		if w.manifests[value.name] != nil && w.creations(w.ids[value.name]) == value.creations && w.belongsToOthers(value.step) {
			values = append(values, value.step)
		}
	}
	return values
}

// patch sets a value in Azure as another client.
func (w *world) patch(id string, s step) {
	patch := map[string]any{}
	setAt(patch, s.path, s.value)
	w.Sim.Patch(id, patch)
}

// bodies returns the resources of a subscription by ID, without what Azure chooses anew for each
// resource. No tags and an empty mapping are the same: that difference has no PUT.
func (w *world) bodies(subscription string) map[string]map[string]any {
	w.T.Helper()
	all := map[string]map[string]any{}
	for _, resource := range w.stored("/subscriptions/" + subscription + "/*") {
		body, _ := w.comparable(map[string]any(resource.Body)).(map[string]any)
		if tags, _ := body["tags"].(map[string]any); len(tags) == 0 {
			delete(body, "tags")
		}
		all[strings.ToLower(w.comparable(resource.ID).(string))] = body
	}
	return all
}

// guids, times and hosts are what Azure chooses anew for each resource, with the members named
// etag.
var (
	guids = regexp.MustCompile(`[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`)
	hosts = regexp.MustCompile(`-[0-9a-f]{8}\.`)
	times = regexp.MustCompile(`20\d\d-\d\d-\d\dT[0-9:.]+Z`)
)

// comparable returns a value of a resource without what differs between two resources of one
// manifest.
func (w *world) comparable(value any) any {
	switch value := value.(type) {
	case map[string]any:
		kept := map[string]any{}
		for name, member := range value {
			if name != "etag" {
				kept[name] = w.comparable(member)
			}
		}
		return kept
	case []any:
		kept := make([]any, len(value))
		for i, item := range value {
			kept[i] = w.comparable(item)
		}
		return kept
	case string:
		value = strings.ReplaceAll(value, w.empty, w.subscription)
		value = guids.ReplaceAllStringFunc(value, func(guid string) string {
			if guid == w.subscription || w.ids[guid] != "" {
				return guid
			}
			return "GUID"
		})
		return hosts.ReplaceAllString(times.ReplaceAllString(value, "TIME"), "-HOST.")
	default:
		return value
	}
}

// examplesOf returns the catalogue of the examples of the product.
func examplesOf(t *testing.T) *catalogue {
	t.Helper()
	root, err := harness.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	examples, err := readCatalogue(filepath.Join(root, "examples"))
	if err != nil {
		t.Fatal(err)
	}
	return examples
}
