package networktest

import (
	"slices"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// requireAcceptedByAPIServer lets an API server validate every object of the shoot by a dry run. It creates only definitions of kinds and the objects of
// these kinds. Objects of undefined kinds are skipped.
func (s *Harness) requireAcceptedByAPIServer(configuration Configuration) {
	s.t.Helper()
	record := s.Manager.Shoot()
	for _, definition := range record.OfKind("CustomResourceDefinition") {
		require.NoError(s.t, s.apply(definition), definition.GetName())
	}
	checked := 0
	for _, key := range record.Keys() {
		object := record.Find(key)
		err := s.apply(object, client.DryRunAll)
		if isNotServed(err) && s.defines(object) {
			require.Eventually(s.t, func() bool {
				err = s.apply(object, client.DryRunAll)
				return !isNotServed(err)
			}, operationTimeout, checkInterval, "%s: nobody serves the kind", key)
		}
		if meta.IsNoMatchError(err) {
			continue
		}
		checked++
		assert.NoError(s.t, err, "configuration %s: %s", configuration.Name, key)
	}
	assert.Positive(s.t, checked)
}

// isNotServed reports whether the API server does not serve a kind, perhaps not yet.
func isNotServed(err error) bool {
	return meta.IsNoMatchError(err) || apierrors.IsNotFound(err)
}

// defines reports whether there is a definition of the object's kind among the objects.
func (s *Harness) defines(object *unstructured.Unstructured) bool {
	return slices.ContainsFunc(s.Manager.Shoot().OfKind("CustomResourceDefinition"), func(definition *unstructured.Unstructured) bool {
		group, _, _ := unstructured.NestedString(definition.Object, "spec", "group")
		kind, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "kind")
		return group == object.GroupVersionKind().Group && kind == object.GetKind()
	})
}

func (s *Harness) apply(object *unstructured.Unstructured, options ...client.ApplyOption) error {
	options = append(options, client.FieldOwner("suite"), client.ForceOwnership)
	return s.Client.Apply(s.t.Context(), client.ApplyConfigurationFromUnstructured(object), options...)
}
