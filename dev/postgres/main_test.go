// Package postgres tests the product on the services of docker-compose.yml:
// Temporal on PostgreSQL, workers with exactly the environment of the file, the
// simulator over HTTPS with a client secret, the Web UI and the codec server.
//
//	make test-postgres
//
// runs it on processes of this machine (package stack) and needs root. Where the
// variables below are set, it runs against servers that run already, for example
// those of docker compose up, and kills nothing:
//
//	TEMPORAL_ADDRESS=127.0.0.1:7233 ARMSIM_URL=https://127.0.0.1:4545 ARMSIM_CA_FILE=ca.pem
package postgres

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/internal/stack"
)

const (
	// wantedVariable makes what is missing a failure instead of a skipped test.
	wantedVariable = "ARMATURE_TEST_POSTGRES"
	// joinVariable and the next two name servers that run already.
	joinVariable      = "TEMPORAL_ADDRESS"
	simulatorVariable = "ARMSIM_URL"
	caVariable        = "ARMSIM_CA_FILE"
	// workers is the number of replicas of the worker.
	workers = 2
	// setUp bounds the start of all services.
	setUp = 4 * time.Minute
)

// built is what TestMain built.
var built struct {
	binaries harness.Binaries
	programs stack.Programs
	root     string
	// missing is the reason why nothing was built.
	missing string
}

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	folder, err := os.MkdirTemp("", "armature-postgres-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(folder) }()
	if err := build(context.Background(), folder); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

func build(ctx context.Context, folder string) error {
	joins := os.Getenv(joinVariable) != "" && os.Getenv(simulatorVariable) != ""
	switch {
	case joins:
	case os.Getenv(wantedVariable) == "":
		built.missing = "takes root and PostgreSQL's programs: make test-postgres runs it"
		return nil
	case os.Getuid() != 0 || stack.FindPostgres() == "":
		return fmt.Errorf("%s is set, and this takes root and Debian's package postgresql: make test-postgres brings both", wantedVariable)
	}
	var err error
	if built.root, err = harness.Root(ctx); err != nil {
		return err
	}
	if built.binaries, err = harness.Build(ctx, folder); err != nil || joins {
		return err
	}
	built.programs, err = stack.Build(ctx, built.root, folder)
	return err
}

// ground is a world on the stack; stack is nil where it joined servers.
type ground struct {
	*harness.World
	stack *stack.Stack
}

// on returns the ground for a subtest.
func (g ground) on(t *testing.T) ground { return ground{World: g.On(t), stack: g.stack} }

// start starts everything, or joins what runs.
func start(t *testing.T) ground {
	t.Helper()
	if built.missing != "" {
		t.Skip(built.missing)
	}
	if address := os.Getenv(joinVariable); address != "" {
		return ground{World: harness.Join(t, built.binaries, harness.Servers{
			Temporal: address, Simulator: os.Getenv(simulatorVariable), CA: read(t, os.Getenv(caVariable)),
		})}
	}
	folder, err := os.MkdirTemp("", "armature-stack-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	s, err := stack.Load(t.Context(), filepath.Join(built.root, "docker-compose.yml"), stack.Options{
		Folder: folder, Programs: built.programs, Scale: map[string]int{"worker": workers},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Down()
		if t.Failed() {
			t.Log(s.Logs())
		}
	})
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), setUp)
	defer cancel()
	if err := s.Up(ctx, s.All()...); err != nil {
		t.Fatal(err)
	}
	t.Logf("all services are healthy after %s", time.Since(began).Round(100*time.Millisecond))
	return ground{stack: s, World: harness.Join(t, built.binaries, harness.Servers{
		Temporal: s.Address("temporal", "7233"), Simulator: s.Environment("worker", "ARMATURE_AZURE_ENDPOINT"),
		SimulatorAddress: s.Address("armsim", "4545"), CA: read(t, filepath.Join(folder, "armsim-1", "tls", "ca.pem")),
	})}
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
