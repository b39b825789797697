package admission

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/repo"
)

// testExamples creates the objects of the landscape page, in its order: gardener-apiserver decodes them strictly, and it and admission validate
// them.
func testExamples(t *testing.T, env *environment) {
	users := (&warnings{}).clientOf(t, env.Config, env.Client.Scheme())
	for _, file := range []string{"provider-openstack", "cloudprofile", "project", "credentials", "shoot"} {
		for _, object := range exampleObjects(t, file) {
			var last error
			eventually(t, file+".yaml is accepted", func() bool {
				options := []client.CreateOption{client.FieldValidation(metav1.FieldValidationStrict)}
				if file == "shoot" {
					options = append(options, client.DryRunAll)
				}
				last = users.Create(t.Context(), object.DeepCopy(), options...)
				if file == "project" { // it is there already
					last = client.IgnoreAlreadyExists(last)
				}
				return last == nil
			}, &last)
			if file == "provider-openstack" { // others count registrations
				t.Cleanup(func() { assert.NoError(t, users.Delete(context.WithoutCancel(t.Context()), object.DeepCopy())) })
			}
		}
	}
	shoot := exampleObjects(t, "shoot")[0]
	require.NoError(t, unstructured.SetNestedField(shoot.Object, "another", "spec", "provider", "infrastructureConfig", "floatingPoolName"))
	assert.ErrorContains(t, users.Create(t.Context(), shoot, client.DryRunAll), "spec.provider.infrastructureConfig.floatingPoolName", "admission is asked")
}

// exampleObjects are the objects in a file of the examples.
func exampleObjects(t *testing.T, name string) (objects []*unstructured.Unstructured) {
	t.Helper()
	path, err := repo.Path("docs", "examples", "openstack", name+".yaml")
	require.NoError(t, err)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096); ; {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(object)
		if errors.Is(err, io.EOF) {
			return objects
		}
		require.NoError(t, err)
		objects = append(objects, object)
	}
}
