package workload

import (
	"context"
	"errors"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/rand"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/seeds"
)

// errBroken is that of a write that a test has forbidden.
var errBroken = errors.New("broken by the test")

// testSeed is a seed with one installation that nobody else uses, and remembers what is written.
type testSeed struct {
	*testing.T
	// admin writes without being noticed.
	admin        client.WithWatch
	cluster      *seeds.Cluster
	garden       Garden
	facts        *SeedFacts
	installation Installation

	writes []string
	// failingWrite is the number of the write that fails, counted from 1; no one when it is 0.
	failingWrite int
	// beforeWrite, if there is one, is what somebody else does just before the next write.
	beforeWrite func()
}

func newTestSeed(t *testing.T) *testSeed {
	t.Helper()
	s := &testSeed{T: t, admin: start(t).client, facts: &SeedFacts{}}
	s.garden = Garden{Identity: "landscape", Address: "https://garden.example.org", CABundle: []byte("bundle")}
	s.installation = Installation{
		Name: "network-" + rand.String(5), Registration: "network", Revision: "0123456789", InjectGardenKubeconfig: true,
		Seed: &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "hill"}},
	}
	s.installation.Seed.Spec.Provider.Zones = []string{"a", "b"}

	recordingClient := interceptor.NewClient(s.admin, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			return s.recordWrite("create", object, func() error { return c.Create(ctx, object, options...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			return s.recordWrite("patch", object, func() error { return c.Patch(ctx, object, patch, options...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
			return s.recordWrite("update", object, func() error { return c.Update(ctx, object, options...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			return s.recordWrite("delete", object, func() error { return c.Delete(ctx, object, options...) })
		},
	})
	s.cluster = &seeds.Cluster{Client: recordingClient, KubernetesVersion: "v1.36.3"}
	return s
}

func namespaced(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func (s *testSeed) recordWrite(action string, object client.Object, write func() error) error {
	kind, err := apiutil.GVKForObject(object, s.admin.Scheme())
	require.NoError(s, err)
	s.writes = append(s.writes, action+" "+kind.Kind+" "+object.GetName())
	if len(s.writes) == s.failingWrite {
		return errBroken
	}
	if beforeWrite := s.beforeWrite; beforeWrite != nil {
		s.beforeWrite = nil
		beforeWrite()
	}
	return write()
}

// takeWrites returns what was written since it was last asked for.
func (s *testSeed) takeWrites() []string {
	writes := s.writes
	s.writes = nil
	return writes
}

func (s *testSeed) apply(objects ...*unstructured.Unstructured) error {
	return Apply(s.Context(), s.cluster, s.installation, s.garden, s.facts, objects)
}

func (s *testSeed) managedResource() *resourcesv1alpha1.ManagedResource {
	s.Helper()
	resource, err := readManagedResource(s.Context(), s.admin, s.installation.Name)
	require.NoError(s, err)
	require.NotNil(s, resource)
	return resource
}

func (s *testSeed) namespace() *corev1.Namespace {
	s.Helper()
	namespace := &corev1.Namespace{}
	require.NoError(s, s.admin.Get(s.Context(), client.ObjectKey{Name: Namespace(s.installation.Name)}, namespace))
	return namespace
}

func (s *testSeed) secret(namespace, name string) *corev1.Secret {
	s.Helper()
	secret := &corev1.Secret{}
	require.NoError(s, s.admin.Get(s.Context(), client.ObjectKey{Namespace: namespace, Name: name}, secret))
	return secret
}

// secrets returns the names of the Secrets with the content.
func (s *testSeed) secrets() []string {
	s.Helper()
	list := &corev1.SecretList{}
	require.NoError(s, s.admin.List(s.Context(), list, client.InNamespace(v1beta1constants.GardenNamespace),
		client.MatchingLabels{labelInstallation: s.installation.Name}))
	var names []string
	for _, secret := range list.Items {
		names = append(names, secret.Name)
	}
	return names
}

// deployment is one of the installation's own.
func (s *testSeed) deployment() *unstructured.Unstructured {
	return objectOf(s.T, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: controller, namespace: `+Namespace(s.installation.Name)+`},
		spec: {template: {spec: {containers: [{name: controller, image: x}]}}}}`)
}

func objectOf(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &object.Object))
	return object
}
