package workflows

type State struct{}
