package chart

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/fake"
)

// cluster is the API server that templates look objects up in.
type cluster struct{ client dynamic.Interface }

// resources are the kinds that the chart looks up.
func resources() map[string]schema.GroupVersionResource {
	return map[string]schema.GroupVersionResource{
		"Deployment": {Group: "apps", Version: "v1", Resource: "deployments"},
		"Secret":     {Version: "v1", Resource: "secrets"},
	}
}

func newCluster(release Release) cluster {
	lists := map[schema.GroupVersionResource]string{}
	for kind, resource := range resources() {
		lists[resource] = kind + "List"
	}
	var objects []runtime.Object
	for _, o := range release.Existing {
		if _, found := resources()[o.Kind]; found {
			objects = append(objects, &unstructured.Unstructured{Object: runtime.DeepCopyJSON(o.Content)})
		}
	}
	return cluster{fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), lists, objects...)}
}

// GetClientFor returns the client for a kind, and whether it is in a namespace.
func (c cluster) GetClientFor(_, kind string) (dynamic.NamespaceableResourceInterface, bool, error) {
	resource, found := resources()[kind]
	if !found {
		return nil, false, fmt.Errorf("look up %s: the tests have none", kind)
	}
	return c.client.Resource(resource), true, nil
}
