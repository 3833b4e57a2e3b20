package rules_test

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/armature-io/armature/extensions/rules"
	"github.com/armature-io/armature/internal/regular"
)

// TestSpecialRuleFiles holds that reading rules never waits: a FIFO without a writer does not
// end, and a device may never.
func TestSpecialRuleFiles(t *testing.T) {
	folder := t.TempDir()
	fifo := filepath.Join(folder, "a.yaml")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{fifo, folder, "/dev/zero"} {
		done := make(chan error, 1)
		go func() {
			_, _, err := rules.Load(path)
			done <- err
		}()
		select {
		case err := <-done:
			if !errors.Is(err, regular.ErrSpecial) {
				t.Errorf("%s: %v, want that it is not a regular file", path, err)
			}
		case <-time.After(5 * time.Second):
			t.Fatalf("reading %s does not end", path)
		}
	}
}
