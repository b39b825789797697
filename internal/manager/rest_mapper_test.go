package manager

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// apiResources is an API server's list of resources, by group and version. It counts requests.
type apiResources struct {
	lists    map[string][]metav1.APIResource
	err      error
	requests int
}

func (r *apiResources) ServerResourcesForGroupVersion(groupVersion string) (*metav1.APIResourceList, error) {
	r.requests++
	resources, found := r.lists[groupVersion]
	switch {
	case r.err != nil:
		return nil, r.err
	case !found:
		return nil, apierrors.NewNotFound(schema.GroupResource{}, groupVersion)
	}
	return &metav1.APIResourceList{GroupVersion: groupVersion, APIResources: resources}, nil
}

func newTestMapper() (*restMapper, *apiResources) {
	resources := &apiResources{lists: map[string][]metav1.APIResource{
		"v1": {{Name: "secrets", Kind: "Secret", Namespaced: true}, {Name: "namespaces/status", Kind: "Namespace"}, {Name: "namespaces", Kind: "Namespace"}},
		"apps/v1": {
			{Name: "deployments/scale", Kind: "Scale", Group: "autoscaling", Version: "v1", Namespaced: true},
			{Name: "deployments", Kind: "Deployment", Namespaced: true},
		},
	}}
	return &restMapper{
		RESTMapper: meta.NewDefaultRESTMapper(nil), discovery: resources, mappings: map[schema.GroupVersionKind]*meta.RESTMapping{},
	}, resources
}

func TestRESTMapper(t *testing.T) {
	for sentence, test := range map[string]struct {
		kind  schema.GroupVersionKind
		want  string
		scope meta.RESTScopeName
	}{
		"a kind in namespaces":               {schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, "secrets", meta.RESTScopeNameNamespace},
		"a kind of the cluster":              {schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}, "namespaces", meta.RESTScopeNameRoot},
		"a kind of a group":                  {schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, "deployments", meta.RESTScopeNameNamespace},
		"a kind that the version lacks":      {kind: schema.GroupVersionKind{Version: "v1", Kind: "Deployment"}},
		"a kind that only a subresource has": {kind: schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Scale"}},
		"a version that the server lacks":    {kind: schema.GroupVersionKind{Group: "apps", Version: "v2", Kind: "Deployment"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			mapper, _ := newTestMapper()
			mapping, err := mapper.RESTMapping(test.kind.GroupKind(), test.kind.Version)
			if test.want == "" {
				assert.True(t, meta.IsNoMatchError(err), "%v", err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.kind.GroupVersion().WithResource(test.want), mapping.Resource)
			assert.Equal(t, test.kind, mapping.GroupVersionKind)
			assert.Equal(t, test.scope, mapping.Scope.Name())
		})
	}
}

func TestRESTMapper_Requests(t *testing.T) {
	mapper, resources := newTestMapper()
	find := func() error {
		_, err := mapper.RESTMapping(schema.GroupKind{Group: "example.com", Kind: "Later"}, "v1")
		return err
	}
	resources.err = errors.New("the API server is on strike")
	require.ErrorIs(t, find(), resources.err)
	resources.err = nil
	require.True(t, meta.IsNoMatchError(find()))

	resources.lists["example.com/v1"] = []metav1.APIResource{{Name: "laters", Kind: "Later"}}
	require.NoError(t, find(), "a kind whose definition is created later is found")
	assert.Equal(t, 3, resources.requests)
	require.NoError(t, find())
	assert.Equal(t, 3, resources.requests, "what was found is kept")

	_, err := mapper.KindFor(schema.GroupVersionResource{Version: "v1", Resource: "secrets"})
	assert.True(t, meta.IsNoMatchError(err), "other questions have no answer")
}
