package main

import (
	"github.com/armature-io/armature/workflows"
	"github.com/spf13/cobra"
)

func (a *app) resumeCommand() *cobra.Command {
	return a.pausing("resume", workflows.ResumeUpdate, "Go on after a pause, with a pass at once",
		"resumed", "was not paused")
}
