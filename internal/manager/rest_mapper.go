package manager

import (
	"fmt"
	"net/http"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

// restMapper finds the resources of kinds. It asks for one group and version at a time and keeps what it was asked for: the API of a seed has hundreds of
// kinds, which controller-runtime's mapper reads and keeps all. It is safe for concurrent use.
type restMapper struct {
	// RESTMapper knows nothing. It answers what no client asks.
	meta.RESTMapper
	discovery resourceLister

	mutex    sync.Mutex
	mappings map[schema.GroupVersionKind]*meta.RESTMapping
}

// resourceLister is the part of a discovery client that the mapper needs.
type resourceLister interface {
	ServerResourcesForGroupVersion(groupVersion string) (*metav1.APIResourceList, error)
}

// newRESTMapper returns a mapper that makes no request before it is asked.
func newRESTMapper(config *rest.Config, httpClient *http.Client) (meta.RESTMapper, error) {
	client, err := discovery.NewDiscoveryClientForConfigAndClient(config, httpClient)
	if err != nil {
		return nil, fmt.Errorf("creating the discovery client: %w", err)
	}
	return &restMapper{
		RESTMapper: meta.NewDefaultRESTMapper(nil), discovery: client, mappings: map[schema.GroupVersionKind]*meta.RESTMapping{},
	}, nil
}

// RESTMapping implements meta.RESTMapper for versions that are given. A kind that the API server does not have is asked for again the next time: its
// definition may be created later.
func (m *restMapper) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	for _, version := range versions {
		found, err := m.find(kind.WithVersion(version))
		if found != nil || err != nil {
			return found, err
		}
	}
	return nil, &meta.NoKindMatchError{GroupKind: kind, SearchedVersions: versions}
}

// find returns nil if the API server does not have the kind.
func (m *restMapper) find(wanted schema.GroupVersionKind) (*meta.RESTMapping, error) {
	if known := m.known(wanted); known != nil {
		return known, nil
	}
	resources, err := m.discovery.ServerResourcesForGroupVersion(wanted.GroupVersion().String())
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("finding the resource of %s: %w", wanted, err)
	}
	found := mappingOf(wanted, resources.APIResources)
	if found != nil {
		m.mutex.Lock()
		defer m.mutex.Unlock()
		m.mappings[wanted] = found
	}
	return found, nil
}

func (m *restMapper) known(wanted schema.GroupVersionKind) *meta.RESTMapping {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.mappings[wanted]
}

// mappingOf returns nil if there is none. Subresources have kinds, too, and a slash in their names.
func mappingOf(wanted schema.GroupVersionKind, resources []metav1.APIResource) *meta.RESTMapping {
	for i := range resources {
		if resources[i].Kind != wanted.Kind || resources[i].Group != "" && resources[i].Group != wanted.Group || strings.Contains(resources[i].Name, "/") {
			continue
		}
		scope := meta.RESTScopeRoot
		if resources[i].Namespaced {
			scope = meta.RESTScopeNamespace
		}
		return &meta.RESTMapping{Resource: wanted.GroupVersion().WithResource(resources[i].Name), GroupVersionKind: wanted, Scope: scope}
	}
	return nil
}
