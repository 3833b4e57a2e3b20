package stack

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Build builds all programs into folder; root is the folder of the product
// module. The working folder is one of module dev.
func Build(ctx context.Context, root, folder string) (Programs, error) {
	p := Programs{
		Worker: filepath.Join(folder, "static", "worker"), Armsim: filepath.Join(folder, "static", "cmd"),
		Server: filepath.Join(folder, "temporal-server"), SQLTool: filepath.Join(folder, "temporal-sql-tool"),
		WebUI: filepath.Join(folder, "ui-server"), Postgres: FindPostgres(),
	}
	if err := os.Chmod(folder, 0o755); err != nil {
		return p, fmt.Errorf("open %s to other users: %w", folder, err)
	}
	// As the Dockerfile builds them.
	static := []string{"build", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(folder, "static") + "/", "./worker", "./armsim/cmd"}
	if _, err := command(ctx, root, []string{"CGO_ENABLED=0"}, static...); err != nil {
		return p, err
	}
	for _, program := range [][2]string{
		{p.Server, "go.temporal.io/server/cmd/server"},
		{p.SQLTool, "go.temporal.io/server/cmd/tools/sql"},
		{p.WebUI, "github.com/temporalio/ui-server/v2/cmd/server"},
	} {
		if _, err := command(ctx, "", nil, "build", "-o", program[0], program[1]); err != nil {
			return p, err
		}
	}
	for into, from := range map[*string][2]string{
		&p.Schema:      {"go.temporal.io/server", "schema"},
		&p.WebUIConfig: {"github.com/temporalio/ui-server/v2", "config/docker.yaml"},
	} {
		module, err := command(ctx, "", nil, "list", "-m", "-f", "{{.Dir}}", from[0])
		if err != nil {
			return p, err
		}
		*into = filepath.Join(strings.TrimSpace(module), from[1])
	}
	return p, nil
}

func command(ctx context.Context, folder string, env []string, args ...string) (string, error) {
	run := exec.CommandContext(ctx, "go", args...)
	run.Dir, run.Env = folder, append(os.Environ(), env...)
	var failed strings.Builder
	run.Stderr = &failed
	out, err := run.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, failed.String())
	}
	return string(out), nil
}
