package manifest

import (
	"fmt"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// UnknownAction is the rule of exports with an action that the type lacks, or whose answers
// are not the same twice.
const UnknownAction types.Rule = "unknown-action"

// checkExports reports exports with actions that the type lacks or that may not be
// repeated, and with paths that lead to nothing.
func (v validator) checkExports(shape *types.Shape) {
	list := v.draft.root.get("export")
	if list == nil || len(v.draft.desired.Exports) != len(list.items) {
		return
	}
	for i, export := range v.draft.desired.Exports {
		from, at := list.items[i].get("from"), fmt.Sprintf("export[%d].from", i)
		answer := shape
		if name := export.From.Action; name != "" {
			action, version, err := types.FindListAction(shape.Type, shape.Version, name, v.loader.options.facts(shape.Type).ReadActions...)
			if err != nil {
				v.report(found{rule: UnknownAction, isFault: true, at: from.get("action").position, path: at + ".action"}, "%v", err)
				continue
			}
			if answer = nil; action.Output != nil {
				answer = &types.Shape{Type: shape.Type, Version: version, Body: action.Output}
			}
		}
		path, err := resource.ParsePath(export.From.Path)
		if err != nil || answer == nil {
			continue
		}
		if properties, free := answer.Find(path); len(properties) == 0 && !free {
			v.report(found{rule: types.UnknownProperty, at: from.get("path").position, path: at + ".path"},
				"%s leads to nothing that is published of %s; the export may never have a value", export.From.Path, answerName(export.From, shape))
		}
	}
}

// answerName returns how messages name what a source reads.
func answerName(source resource.ExportSource, shape *types.Shape) string {
	if source.Action != "" {
		return "the answer of " + source.Action
	}
	return shape.Type
}
