//go:build unix

package audit

import (
	"os"
	"syscall"
)

// lockFile locks a file until the process ends. It does not wait.
func lockFile(file *os.File) error {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
