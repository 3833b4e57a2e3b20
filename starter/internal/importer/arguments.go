package importer

import (
	"cmp"
	"strings"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
)

// ParseArgs returns the inputs for the resource IDs among the arguments of an import, and the
// other arguments as names. apiVersion is for IDs without one.
func ParseArgs(args []string, apiVersion string, children bool) (inputs []activities.ImportResourceInput, names []string, err error) {
	for _, arg := range args {
		if !strings.HasPrefix(arg, "/") {
			names = append(names, arg)
			continue
		}
		text, version, at := strings.Cut(arg, "@")
		id, err := resource.ParseID(text)
		switch {
		case err != nil:
			return nil, nil, cli.BadInput("%w", err)
		case at && version == "":
			return nil, nil, cli.BadInput("%q has no api-version after the @; use one like @2023-08-15, or omit the @ for the newest stable one", arg)
		}
		inputs = append(inputs, activities.ImportResourceInput{ID: id, APIVersion: cmp.Or(version, apiVersion), Children: children})
	}
	return inputs, names, nil
}
