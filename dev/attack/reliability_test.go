package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/workflows"
)

// TestManyApplies checks that of many applies of one resource at once each is accepted, that
// those that came while a pass reads share its write, and that the last generation is the one
// that stays in Azure.
func TestManyApplies(t *testing.T) {
	t.Parallel()
	const applies, repeats = 50, 5
	s := newScene(t, "applies").serve()
	desired, id := s.forged(s.manifest("thing", "")), s.id("thing")
	read := s.sim.AddFault(armsim.Fault{Method: http.MethodGet, Path: id, Gate: true})
	var group errgroup.Group
	for i := range applies {
		own := desired
		own.Body = fmt.Appendf(nil, `{"location":"westus2","properties":{"size":%d}}`, i+1)
		group.Go(func() error {
			// A workflow takes ten messages at a time; a client that waited too long repeats its own.
			err := s.send(own)
			for try := 0; err != nil && try < repeats; try++ {
				t.Logf("repeated: %v", err)
				err = s.send(own)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	s.sim.RemoveFault(read)
	s.UntilStatus(recovers, id, "has all generations", func(status workflows.Status) bool {
		return status.Phase == workflows.PhaseReady && status.Generation >= applies
	})
	s.MustCLI("reconcile", id, "--wait", "--timeout", "60s")
	last, err := s.Status(id)
	if err != nil || !last.Condition.Ready || last.Condition.ObservedGeneration != last.Generation || last.Condition.Message != "in sync" {
		t.Errorf("the last generation is not what Azure has: %v, %+v", err, last.Condition)
	}
	if puts := s.writes(http.MethodPut, id); puts > 2 {
		t.Errorf("%d PUTs for %d applies at once", puts, applies)
	}
}

// TestMaskKeysDiffer checks that workers with different mask keys do not overwrite a
// secret in turns.
func TestMaskKeysDiffer(t *testing.T) {
	t.Parallel()
	s := newScene(t, "keys")
	for _, key := range []string{"a", "b"} {
		env := append(s.environment(), "ATTACK_MASK_KEY="+strings.Repeat(key, 32), "ARMATURE_SECRET_ATTACK=Pa55word-of-two-keys")
		s.StartWorker(harness.WorkerOptions{Env: env})
	}
	id := s.id("thing")
	s.MustCLI("apply", "-f", s.manifest("thing", "note: {$secret: env:ARMATURE_SECRET_ATTACK}"), "--wait", "--timeout", "60s")
	for range 6 {
		s.MustCLI("reconcile", id, "--wait", "--timeout", "30s")
	}
	s.UntilPhase(30*time.Second, id, workflows.PhaseReady)
	if puts := s.writes(http.MethodPut, id); puts > 2 {
		t.Errorf("%d PUTs of a secret that did not change", puts)
	}
}
