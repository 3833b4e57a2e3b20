package main

import (
	"github.com/armature-io/armature/workflows"
	"github.com/spf13/cobra"
)

func (a *app) resumeCommand() *cobra.Command {
	return a.pausing("resume", workflows.ResumeUpdate, "Go on after a pause, with a pass at once",
		"resume ends a pause and begins a pass at once. What is not paused stays as it is.",
		"resumed", "was not paused")
}
