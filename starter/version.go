package starter

import (
	"runtime"

	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/spf13/cobra"
)

// buildInfo is the output of `armature version`.
type buildInfo struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

func (a *app) versionCommand() *cobra.Command {
	var output cli.Format
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long:  "version prints the version of this armature and of the Go that built it. json and\nyaml are {version, go, os, arch}.",
		Args:  cli.NoArgs(""),
		RunE: func(*cobra.Command, []string) error {
			v := buildInfo{Version: a.options.version(), Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
			if output.IsMachine() {
				return output.Write(a.out, v)
			}
			a.printf("armature %s %s %s/%s\n", v.Version, v.Go, v.OS, v.Arch)
			return nil
		},
	}
	cli.AddFormat(c, &output)
	return c
}
