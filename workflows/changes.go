package workflows

import "go.temporal.io/sdk/workflow"

// change is a change of the order of commands that runs of a release must not see: the code
// asks workflow.GetVersion and keeps the branch of each version from min to max.
type change struct {
	// id is the ID for workflow.GetVersion.
	id       string
	min, max workflow.Version
	// reason says why the order changed, and when min can rise.
	reason string
	// before and after are histories in testdata/histories: one of a run that has no event of
	// the change, and one of a run that follows max.
	before, after string
}

// changes are the changes since v0.1.0, oldest first. Until its tag, a change of the order of
// commands records the histories anew, without a branch.
var changes = []change{}
