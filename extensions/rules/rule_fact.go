package rules

import (
	"go.yaml.in/yaml/v3"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

// statePaths are where a resource shows its state, if a rule with busy or stopped states
// no path.
func statePaths() []string { return []string{"properties.provisioningState", "properties.state"} }

// facts compiles a rule with busy or stopped.
func (f *file) facts(s *source, compiled *rule) {
	paths := statePaths()
	if path := s.fields["path"]; path.node != nil {
		paths = []string{path.text}
		compiled.pathNode = path.node
		if _, err := resource.ParsePath(path.text); err != nil {
			f.report(path.node, "%v", err)
		}
	}
	compiled.statePaths = paths
	for _, name := range []string{"busy", "stopped"} {
		if node := s.parts[name]; node != nil {
			compiled.stateWords = append(compiled.stateWords, scalars(node)...)
		}
	}
	var facts extensions.Facts
	for _, path := range paths {
		if node := s.parts["busy"]; node != nil {
			state := extensions.BlockingState{Path: path, Source: extensions.Source(compiled.ExtensionName())}
			for _, word := range f.texts("busy", node) {
				state.States = append(state.States, word.text)
			}
			facts.Busy = append(facts.Busy, state)
		}
		if node := s.parts["stopped"]; node != nil {
			for _, word := range f.texts("stopped", node) {
				facts.Stopped = append(facts.Stopped, extensions.StoppedState{
					Path: path, State: word.text, Start: startText(s.text("start")), HoldsReferences: true,
					Source: extensions.Source(compiled.ExtensionName()),
				})
			}
		}
	}
	if s.has("start") && !s.has("stopped") {
		f.report(s.fieldNode("start"), "start is only valid beside stopped")
	}
	compiled.facts = facts
}

// startText completes "start it ...".
func startText(stated string) string {
	if stated == "" {
		return "with the start action of its type"
	}
	return stated
}

// scalars returns the texts of a list, or of one text.
func scalars(node *yaml.Node) []field {
	items := []*yaml.Node{node}
	if node.Kind == yaml.SequenceNode {
		items = node.Content
	}
	found := make([]field, len(items))
	for i, item := range items {
		found[i] = field{text: item.Value, node: item}
	}
	return found
}
