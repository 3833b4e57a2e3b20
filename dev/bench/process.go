package bench

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// userTick is the unit of times in /proc/PID/stat, which is fixed on Linux.
	userTick = 10 * time.Millisecond
	mega     = 1 << 20
	// watchInterval is the time between two reads of the memory of a short process.
	watchInterval = 10 * time.Millisecond
)

// usage is the use of a process so far: processor time, and resident memory now and at
// its maximum, in bytes; files is the part of the current memory that consists of pages
// of files.
type usage struct {
	cpu                time.Duration
	rss, maxRSS, files float64
}

// usageOf reads /proc/PID (Linux).
func usageOf(pid int) (usage, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return usage{}, fmt.Errorf("measure process %d: %w", pid, err)
	}
	// After the name, which may contain spaces, utime and stime are the 12th and 13th
	// field.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	var u usage
	for _, field := range fields[11:13] {
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return usage{}, fmt.Errorf("measure process %d: %w", pid, err)
		}
		u.cpu += time.Duration(ticks) * userTick
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return usage{}, fmt.Errorf("measure process %d: %w", pid, err)
	}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		kilobytes, _ := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 64)
		switch name {
		case "VmRSS":
			u.rss = kilobytes * 1024
		case "VmHWM":
			u.maxRSS = kilobytes * 1024
		case "RssFile":
			u.files = kilobytes * 1024
		}
	}
	return u, nil
}

// memoryWatch reads the maximum resident memory of a process until it ends. The rusage
// of an ended child does not serve: on Linux it includes the parent's memory at the
// start of the child.
type memoryWatch struct {
	mu     sync.Mutex
	maxRSS float64
}

// start resets the maximum and watches a new process.
func (m *memoryWatch) start(pid int) {
	m.mu.Lock()
	m.maxRSS = 0
	m.mu.Unlock()
	go func() {
		ticker := time.NewTicker(watchInterval)
		defer ticker.Stop()
		for ; ; <-ticker.C {
			u, err := usageOf(pid)
			if err != nil || u.maxRSS == 0 {
				return // the process ended
			}
			m.mu.Lock()
			m.maxRSS = max(m.maxRSS, u.maxRSS)
			m.mu.Unlock()
		}
	}()
}

// megabytes returns the maximum of the last process.
func (m *memoryWatch) megabytes() float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.maxRSS / mega
}
