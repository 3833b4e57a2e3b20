package resource

import "strings"

// DeletesUnmanaged returns the member of a body, with its value, for which ARM deletes
// resources that no manifest names when it gets the PUT, and "" if there is none: a
// deployment in the mode Complete deletes everything in its group that the template lacks, and
// a stack with actionOnUnmanage: delete what it does not contain any more. Such a PUT needs
// Deletion.Unmanaged. Sources: azure-resource-manager/templates/deployment-modes and
// azure-resource-manager/bicep/deployment-stacks at learn.microsoft.com/azure.
func DeletesUnmanaged(resourceType string, body map[string]any) string {
	var paths []string
	value := "delete"
	switch strings.ToLower(resourceType) {
	case "microsoft.resources/deployments":
		paths, value = []string{"properties.mode"}, "Complete"
	case "microsoft.resources/deploymentstacks":
		for _, kind := range []string{"resources", "resourceGroups", "managementGroups"} {
			paths = append(paths, "properties.actionOnUnmanage."+kind)
		}
	}
	object := Object{Observed: body}
	for _, path := range paths {
		if text, _ := object.StringAt(path); strings.EqualFold(text, value) {
			return path + ": " + text
		}
	}
	return ""
}
