package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/armature-io/armature/dev/internal/overlay"
)

// ErrNoCommit means that the repository does not have a commit, as a shallow clone.
var ErrNoCommit = errors.New("the history has no such commit")

// BuildCommit builds the programs of an earlier commit into folder. It returns
// ErrNoCommit where the history does not reach back to it.
func BuildCommit(ctx context.Context, commit, folder string) (Binaries, error) {
	root, err := Root(ctx)
	if err != nil {
		return Binaries{}, err
	}
	if err := exec.CommandContext(ctx, "git", "-C", root, "cat-file", "-e", commit+"^{commit}").Run(); err != nil {
		return Binaries{}, fmt.Errorf("%w: %s", ErrNoCommit, commit)
	}
	source := filepath.Join(folder, "source")
	if err := os.MkdirAll(source, 0o700); err != nil {
		return Binaries{}, fmt.Errorf("create folder of commit %s: %w", commit, err)
	}
	if err := overlay.CheckOut(ctx, root, commit, source); err != nil {
		return Binaries{}, err
	}
	b := Binaries{Worker: filepath.Join(folder, "worker"), CLI: filepath.Join(folder, "armature")}
	if err := BuildProgram(ctx, source, "./worker", b.Worker); err != nil {
		return Binaries{}, err
	}
	help, err := exec.CommandContext(ctx, b.Worker, "--help").CombinedOutput()
	if err != nil {
		return Binaries{}, fmt.Errorf("read the help of the worker of commit %s: %w\n%s", commit, err, help)
	}
	for flag, setting := range quickWaits() {
		if strings.Contains(string(help), flag) {
			b.Settings = append(b.Settings, setting)
		}
	}
	cli := "./starter/cmd"
	if _, err := os.Stat(filepath.Join(source, "starter", "cmd")); err != nil {
		cli = "./starter" // its place in earlier commits
	}
	return b, BuildProgram(ctx, source, cli, b.CLI)
}
