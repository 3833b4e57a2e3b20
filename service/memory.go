package service

import (
	"errors"
	"log/slog"
	"math"
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

const (
	// gcPercent is how far the heap may grow between two collections, in percent of
	// the live heap and the ballast. Most of the heap of a large worker are idle
	// workflows, so Go's default of 100 would double their memory for garbage.
	gcPercent = 20
	// ballastBytes is the size of an allocation that is never written to. It takes
	// address space and no memory, but counts as live heap: without it the few MiB of
	// a worker with 50 resources are collected fifteen times as often, which costs a
	// quarter of the processor time of a pass. With it the heap grows by 38 MiB at
	// least between two collections. No setting replaces it: the percentage and the memory
	// limit can only lower the size at which a collection begins.
	ballastBytes = 192 << 20
	// memoryLimitRatio is the part of the container's memory that the Go runtime may
	// use before it collects more often; the rest is for what it does not count.
	memoryLimitRatio = 0.9
)

// tuneMemory sets the garbage collector's percentage, and its soft memory limit from
// the container's memory. The environment variables GOGC and GOMEMLIMIT take
// precedence; memlimit reads the latter. Outside a container with a memory limit there
// is no soft limit. It returns the ballast, which has to stay reachable while the
// worker runs; nil if GOGC is set.
func tuneMemory(log *slog.Logger, provider memlimit.Provider) []byte {
	limit, err := memlimit.Set(memlimit.WithProvider(provider), memlimit.WithRatio(memoryLimitRatio))
	switch {
	case errors.Is(err, memlimit.ErrNoCgroup), errors.Is(err, memlimit.ErrCgroupsNotSupported):
	case err != nil:
		log.Warn("cannot read the container's memory limit, set GOMEMLIMIT instead", "error", err)
	case limit < math.MaxInt64:
		log.Info("soft memory limit set", "bytes", limit)
	}
	if os.Getenv("GOGC") != "" {
		return nil
	}
	debug.SetGCPercent(gcPercent)
	// The runtime counts the ballast against the limit too.
	if current := debug.SetMemoryLimit(-1); current < math.MaxInt64-ballastBytes {
		debug.SetMemoryLimit(current + ballastBytes)
	}
	return make([]byte, ballastBytes)
}
