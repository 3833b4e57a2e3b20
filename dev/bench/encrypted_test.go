package bench

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/api/workflowservice/v1"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/temporaldev"
	"github.com/armature-io/armature/internal/payload"
)

const (
	// encryptedTurns is how often each side of the comparison of lists is measured.
	encryptedTurns = 7
	// maxEncryptedList is what reading encrypted memos may add to the processor time of a
	// list: three tenths were measured, and work for each payload that could be done once,
	// such as the derivation of a key, would add more.
	maxEncryptedList = 0.5
)

// benchKey returns the key of the sides with encryption, and the variables that configure it.
func benchKey() (payload.Key, []string) {
	key := payload.Key{ID: "bench", Secret: []byte("0123456789abcdef0123456789abcdef")}
	return key, []string{"BENCH_KEY=" + hex.EncodeToString(key.Secret), "ARMATURE_ENCRYPTION_KEYS=bench=env:BENCH_KEY", "ARMATURE_ENCRYPTION_WRITE_KEY=bench"}
}

// compareEncrypted compares `get` of the resources of plain with `get` of as many whose memos
// are encrypted, on a server of their own. A turn runs both commands, in an order that
// changes; a ratio is the median over the turns.
func compareEncrypted(plain *harness.World, all figures) {
	t := plain.T
	key, env := benchKey()
	converters, err := payload.New(payload.Options{Keys: []payload.Key{key}, WriteKey: key.ID})
	if err != nil {
		t.Fatal(err)
	}
	sealed := harness.New(t, plain.Binaries, harness.Options{Converters: converters})
	sealed.Env = append(sealed.Env, env...)
	sealed.Meter() // the other server has one too
	sealed.SeedReady(listedCount, crowd{subscriptions: 10, kind: thingType}.id)
	checkSealed(sealed)
	type turn struct{ cpu, wall float64 }
	measured := map[*harness.World][]turn{}
	for i := range encryptedTurns + 1 {
		for side := range 2 {
			w := []*harness.World{plain, sealed}[(i+side)%2]
			begun := time.Now()
			result := w.MustCLI("get")
			if n := strings.Count(result.Out, "Ready"); n < listedCount {
				t.Fatalf("get lists %d resources, want %d", n, listedCount)
			}
			if i > 0 { // the first turn fills the caches of the servers
				measured[w] = append(measured[w], turn{result.CPU.Seconds(), time.Since(begun).Seconds()})
			}
		}
	}
	middle := func(value func(i int) float64) float64 {
		var values []float64
		for i := range encryptedTurns {
			values = append(values, value(i))
		}
		slices.Sort(values)
		return median(values)
	}
	for name, w := range map[string]*harness.World{"plain": plain, "encrypted": sealed} {
		all["lists."+name+"_cpu_seconds"] = middle(func(i int) float64 { return measured[w][i].cpu })
		all["lists."+name+"_seconds"] = middle(func(i int) float64 { return measured[w][i].wall })
	}
	all["lists.encrypted_cpu_ratio"] = middle(func(i int) float64 { return measured[sealed][i].cpu / measured[plain][i].cpu })
	all["lists.encrypted_ratio"] = middle(func(i int) float64 { return measured[sealed][i].wall / measured[plain][i].wall })
	if ratio := all["lists.encrypted_cpu_ratio"]; ratio > 1+maxEncryptedList {
		t.Errorf("a list with encrypted memos takes %.2f of the processor time of a plain one, at most %.2f is allowed", ratio, 1+maxEncryptedList)
	}
}

// checkSealed checks that the memos are encrypted: otherwise the comparison shows nothing.
func checkSealed(w *harness.World) {
	w.T.Helper()
	page, err := w.Client.WorkflowService().ListWorkflowExecutions(w.T.Context(), &workflowservice.ListWorkflowExecutionsRequest{Namespace: temporaldev.Namespace, PageSize: 10})
	if err != nil {
		w.T.Fatal(err)
	}
	sealed := 0
	for _, info := range page.GetExecutions() {
		for name, value := range info.GetMemo().GetFields() {
			if payload.KeyID(value) == "" {
				w.T.Fatalf("the memo %s is not encrypted", name)
			}
			sealed++
		}
	}
	fmt.Printf("%-44s %12d\n", "encrypted memo fields in ten workflows", sealed)
	if sealed == 0 {
		w.T.Fatal("no workflow has a memo")
	}
}
