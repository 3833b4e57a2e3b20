//go:build unix

package regular

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestReadRegularFilesOnly checks that a special file is refused at once, also behind a
// link.
func TestReadRegularFilesOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, fifo := filepath.Join(dir, "file"), filepath.Join(dir, "fifo")
	if err := errors.Join(os.WriteFile(file, []byte("abc"), 0o600), syscall.Mkfifo(fifo, 0o600),
		os.Symlink(file, filepath.Join(dir, "link")), os.Symlink(fifo, filepath.Join(dir, "pipe")), os.Symlink("/dev/zero", filepath.Join(dir, "zero"))); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		reason string
		path   string
		max    int64
		fails  error
	}{
		"file":   {reason: "a regular file", path: file, max: 3},
		"link":   {reason: "the user named the link", path: filepath.Join(dir, "link"), max: 3},
		"folder": {reason: "a folder has no content", path: dir, max: 3, fails: ErrSpecial},
		"fifo":   {reason: "it would wait for a writer", path: fifo, max: 3, fails: ErrSpecial},
		"pipe":   {reason: "so would a link to it", path: filepath.Join(dir, "pipe"), max: 3, fails: ErrSpecial},
		"device": {reason: "it has no end", path: "/dev/zero", max: 3, fails: ErrSpecial},
		"zero":   {reason: "so has a link to it", path: filepath.Join(dir, "zero"), max: 3, fails: ErrSpecial},
		"absent": {reason: "no file", path: filepath.Join(dir, "none"), max: 3, fails: fs.ErrNotExist},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := Read(c.path, c.max)
			if !errors.Is(err, c.fails) || err == nil && string(data) != "abc" {
				t.Errorf("%s: %q, %v", c.reason, data, err)
			}
		})
	}
	var tooLarge *SizeError
	if _, err := Read(file, 2); !errors.As(err, &tooLarge) {
		t.Errorf("a larger file: %v", err)
	}
	if _, err := os.Stat("/proc/self/environ"); err == nil {
		if _, err := Read("/proc/self/environ", 1<<20); !errors.Is(err, ErrSpecial) {
			t.Errorf("/proc: %v", err)
		}
	}
}

// TestIsWithin checks links into, inside and out of a folder.
func TestIsWithin(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, out := filepath.Join(dir, "root"), filepath.Join(dir, "root2")
	if err := errors.Join(os.Mkdir(root, 0o700), os.Mkdir(out, 0o700), os.WriteFile(filepath.Join(root, "a"), nil, 0o600), os.WriteFile(filepath.Join(out, "b"), nil, 0o600),
		os.Symlink("a", filepath.Join(root, "relative")), os.Symlink(filepath.Join(root, "a"), filepath.Join(root, "absolute")),
		os.Symlink("../root2/b", filepath.Join(root, "out")), os.Symlink("out", filepath.Join(root, "twice")), os.Symlink(root, filepath.Join(dir, "linked"))); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		"root/a": true, "root/relative": true, "root/absolute": true, "root/out": false, "root/twice": false, "linked/a": true, "root2/b": false, "linked/out": false,
	} {
		for _, folder := range []string{root, filepath.Join(dir, "linked")} {
			if got, err := IsWithin(folder, filepath.Join(dir, path)); got != want || err != nil {
				t.Errorf("%s in %s: %t, want %t (%v)", path, folder, got, want, err)
			}
		}
	}
}

// TestCreate checks that a file is private, replaced as a whole, and that neither a link
// nor a device is written through.
func TestCreate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old, victim, link := filepath.Join(dir, "old"), filepath.Join(dir, "victim"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(old, []byte("before"), 0o644), os.WriteFile(victim, []byte("kept"), 0o644), os.Symlink(victim, link)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{old, filepath.Join(dir, "new")} {
		if err := Create(path, []byte("after")); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		data, readErr := os.ReadFile(path)
		if err != nil || readErr != nil || info.Mode().Perm() != 0o600 || string(data) != "after" {
			t.Errorf("%s: %v %q %v %v", path, info.Mode(), data, err, readErr)
		}
	}
	for _, path := range []string{link, "/dev/null", dir} {
		if err := Create(path, []byte("after")); !errors.Is(err, ErrSpecial) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if data, err := os.ReadFile(victim); string(data) != "kept" || err != nil {
		t.Errorf("the target of a link is %q: %v", data, err)
	}
	if entries, err := os.ReadDir(dir); len(entries) != 4 || err != nil {
		t.Errorf("%d files are left: %v", len(entries), err)
	}
}
