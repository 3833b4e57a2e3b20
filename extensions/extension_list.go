package extensions

// ExtensionList is a list of extension resources of a type at a resource or scope. At a scope
// it contains the resources below the scope too.
type ExtensionList struct {
	// At is where the list exists.
	At ListScope `yaml:"at"`
	// Filter leaves out resources that are the same everywhere.
	Filter string `yaml:"filter"`
	// APIVersion is the version of the list, "" for the newest.
	APIVersion string `yaml:"apiVersion"`
	Source     Source `yaml:"source"`
}

// ListScope is where an ExtensionList exists.
type ListScope string

// The scopes of lists.
const (
	// ListAtAnyScope exists at every resource and scope.
	ListAtAnyScope ListScope = "any-scope"
	// ListAtContainers exists at tenants, management groups, subscriptions and resource groups.
	ListAtContainers ListScope = "containers"
	// ListAboveGroups exists at containers above resource groups.
	ListAboveGroups ListScope = "above-groups"
	// ListAtResources exists at subscriptions and single resources, and contains no resources
	// below them.
	ListAtResources ListScope = "resources"
)
