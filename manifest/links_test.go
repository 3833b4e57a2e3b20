//go:build unix

package manifest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestLinksAndSpecialFiles checks that a folder does not choose what else is read.
func TestLinksAndSpecialFiles(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"stack/a.yaml": account + "body: {}\n", "private/b.json": `{"contosoKey": 1}`})
	stack := filepath.Join(dir, "stack")
	if err := errors.Join(os.Symlink("../private/b.json", filepath.Join(stack, "out.json")), os.Symlink("/proc/self/environ", filepath.Join(stack, "proc.yaml")),
		os.Symlink("none", filepath.Join(stack, "broken.yaml")), os.Symlink("a.yaml", filepath.Join(stack, "again.txt")), syscall.Mkfifo(filepath.Join(stack, "fifo.yaml"), 0o600)); err != nil {
		t.Fatal(err)
	}
	_, err := Load(Options{}, stack)
	got := strings.ReplaceAll(err.Error(), stack+"/", "")
	for _, want := range []string{"out.json: is a link out of the folder", "proc.yaml: is a link out of the folder", "broken.yaml: cannot be read", "fifo.yaml: cannot be read: it is not a regular file"} {
		if !strings.Contains(got, want) {
			t.Errorf("no issue %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "contoso") || strings.Count(got, "\n") != 3 {
		t.Errorf("the issues are\n%s", got)
	}
	for _, path := range []string{"/dev/zero", "/proc/self/environ", filepath.Join(stack, "fifo.yaml")} {
		if _, err := Load(Options{}, path); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: %v", path, err)
		}
	}
	inside := write(t, map[string]string{"data/a.yaml": account + "body: {}\n"})
	if err := errors.Join(os.Symlink("data/a.yaml", filepath.Join(inside, "linked.yaml")), os.Rename(filepath.Join(inside, "data"), filepath.Join(inside, "..data")),
		os.Symlink("..data", filepath.Join(inside, "data"))); err != nil {
		t.Fatal(err)
	}
	if set, err := Load(Options{ResourceGroup: "rg", Subscription: "11111111-2222-3333-4444-555555555555"}, inside); err != nil || len(set.Resources) != 1 {
		t.Errorf("a link inside of the folder: %v", err)
	}
}
