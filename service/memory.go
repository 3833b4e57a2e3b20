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
	// the live heap. Most of a worker's heap are idle workflows, so Go's default of
	// 100 would double their memory for garbage.
	gcPercent = 30
	// memoryLimitRatio is the part of the container's memory that the Go runtime may
	// use before it collects more often; the rest is for what it does not count.
	memoryLimitRatio = 0.9
)

// tuneMemory sets the garbage collector's percentage, and its soft memory limit from
// the container's memory. The environment variables GOGC and GOMEMLIMIT take
// precedence; memlimit reads the latter. Outside a container with a memory limit there
// is no soft limit.
func tuneMemory(log *slog.Logger, provider memlimit.Provider) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	limit, err := memlimit.Set(memlimit.WithProvider(provider), memlimit.WithRatio(memoryLimitRatio))
	switch {
	case errors.Is(err, memlimit.ErrNoCgroup), errors.Is(err, memlimit.ErrCgroupsNotSupported):
	case err != nil:
		log.Warn("cannot read the container's memory limit, set GOMEMLIMIT instead", "error", err)
	case limit < math.MaxInt64:
		log.Info("soft memory limit set", "bytes", limit)
	}
}
