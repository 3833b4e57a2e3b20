package stack

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Build builds all programs into folder. Root is the folder of the product module.
// The working directory must be inside of module dev.
func Build(ctx context.Context, root, folder string) (Programs, error) {
	p := Programs{
		Worker: filepath.Join(folder, "static", "worker"), Armsim: filepath.Join(folder, "static", "cmd"),
		Server: filepath.Join(folder, "temporal-server"), SQLTool: filepath.Join(folder, "temporal-sql-tool"),
		WebUI: filepath.Join(folder, "ui-server"), Postgres: FindPostgres(),
	}
	if err := os.Chmod(folder, 0o755); err != nil {
		return p, fmt.Errorf("open %s to other users: %w", folder, err)
	}
	// With the flags of the Dockerfile, which names the version too.
	static := []string{"build", "-trimpath", "-o", filepath.Join(folder, "static") + "/", "./worker", "./armsim/cmd"}
	if _, err := runGo(ctx, root, []string{"CGO_ENABLED=0"}, static...); err != nil {
		return p, err
	}
	for _, program := range [][2]string{
		{p.Server, "go.temporal.io/server/cmd/server"},
		{p.SQLTool, "go.temporal.io/server/cmd/tools/sql"},
		{p.WebUI, "github.com/temporalio/ui-server/v2/cmd/server"},
	} {
		if _, err := runGo(ctx, "", nil, "build", "-o", program[0], program[1]); err != nil {
			return p, err
		}
	}
	for into, from := range map[*string][2]string{
		&p.Schema:      {"go.temporal.io/server", "schema"},
		&p.WebUIConfig: {"github.com/temporalio/ui-server/v2", "config/docker.yaml"},
	} {
		module, err := runGo(ctx, "", nil, "list", "-m", "-f", "{{.Dir}}", from[0])
		if err != nil {
			return p, err
		}
		*into = filepath.Join(strings.TrimSpace(module), from[1])
	}
	return p, nil
}

func runGo(ctx context.Context, folder string, env []string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir, command.Env = folder, append(os.Environ(), env...)
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out), nil
}
