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
	// userTick is the unit of times in /proc/PID/stat, which Linux has fixed for
	// programs.
	userTick = 10 * time.Millisecond
	mega     = 1 << 20
	// watchEvery is how often the memory of a short process is read.
	watchEvery = 10 * time.Millisecond
)

// usage is what a process took so far: processor time, and resident memory now
// and at most, in bytes; files is what of it now are pages of files.
type usage struct {
	cpu                 time.Duration
	rss, mostRSS, files float64
}

// usageOf reads /proc/PID (Linux).
func usageOf(pid int) (usage, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return usage{}, fmt.Errorf("measure process %d: %w", pid, err)
	}
	// Behind the name, which may hold spaces, utime and stime are the 12th and
	// 13th field.
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
			u.mostRSS = kilobytes * 1024
		case "RssFile":
			u.files = kilobytes * 1024
		}
	}
	return u, nil
}

// memoryWatch reads the largest resident memory of a process until it ends. The
// rusage of an ended child does not do: Linux counts in what the parent held when
// it started the child.
type memoryWatch struct {
	mu   sync.Mutex
	most float64
}

// start begins anew with a process.
func (m *memoryWatch) start(pid int) {
	m.mu.Lock()
	m.most = 0
	m.mu.Unlock()
	go func() {
		ticker := time.NewTicker(watchEvery)
		defer ticker.Stop()
		for ; ; <-ticker.C {
			u, err := usageOf(pid)
			if err != nil || u.mostRSS == 0 {
				return // it ended
			}
			m.mu.Lock()
			m.most = max(m.most, u.mostRSS)
			m.mu.Unlock()
		}
	}()
}

// megabytes is what the last process held at most.
func (m *memoryWatch) megabytes() float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.most / mega
}
