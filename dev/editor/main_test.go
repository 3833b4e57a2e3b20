package editor

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// serverVariable names the program of the YAML language server, a path.
const serverVariable = "YAML_LANGUAGE_SERVER"

// root is the folder of the product.
const root = "../.."

// armature is the path of the CLI.
var armature string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	folder, err := os.MkdirTemp("", "armature-editor-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(folder) }()
	armature = filepath.Join(folder, "armature")
	build := exec.Command("go", "build", "-o", armature, "./starter/cmd")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the CLI: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// cli runs the CLI and returns its output.
func cli(t *testing.T, args ...string) []byte {
	t.Helper()
	command := exec.Command(armature, args...)
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("armature %v: %v", args, err)
	}
	return out
}

// stack returns a folder with the examples and one more manifest.
func stack(t *testing.T, name, manifest string) string {
	t.Helper()
	folder := t.TempDir()
	examples, err := filepath.Glob(filepath.Join(root, "examples", "*.yaml"))
	if err != nil || len(examples) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, example := range examples {
		text, err := os.ReadFile(example)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(folder, filepath.Base(example)), string(text))
	}
	write(t, filepath.Join(folder, name), manifest)
	return folder
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
