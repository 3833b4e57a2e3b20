package harness

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// userTick is the unit of times in /proc/PID/stat, which Linux has fixed for
// programs.
const userTick = 10 * time.Millisecond

// CPU is the processor time that the worker's process took so far, by
// /proc/PID/stat.
func (k *Worker) CPU() time.Duration {
	k.world.T.Helper()
	path := fmt.Sprintf("/proc/%d/stat", k.command.Process.Pid)
	data, err := os.ReadFile(path)
	if err != nil {
		k.world.T.Fatalf("measure the worker: %v", err)
	}
	// Behind the name, which may hold spaces, utime and stime are the 12th and
	// 13th field.
	fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
	ticks := 0
	for _, field := range fields[11:13] {
		n, err := strconv.Atoi(field)
		if err != nil {
			k.world.T.Fatalf("read %s: %v", path, err)
		}
		ticks += n
	}
	return time.Duration(ticks) * userTick
}
