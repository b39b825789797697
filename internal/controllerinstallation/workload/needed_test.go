package workload

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/seeds"
)

func TestNeeded(t *testing.T) {
	s := newTestSeed(t)
	namespace := newNamespace(t)
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: namespace, Name: name} }
	spec := func(extensionType string, class *extensionsv1alpha1.ExtensionClass) extensionsv1alpha1.DefaultSpec {
		return extensionsv1alpha1.DefaultSpec{Type: extensionType, Class: class}
	}
	garden, seed, shoot := extensionsv1alpha1.ExtensionClassGarden, extensionsv1alpha1.ExtensionClassSeed, extensionsv1alpha1.ExtensionClassShoot
	for _, object := range []client.Object{
		&extensionsv1alpha1.Extension{ObjectMeta: meta("default"), Spec: extensionsv1alpha1.ExtensionSpec{DefaultSpec: spec("a", nil)}},
		&extensionsv1alpha1.Extension{ObjectMeta: meta("shoot"), Spec: extensionsv1alpha1.ExtensionSpec{DefaultSpec: spec("b", &shoot)}},
		&extensionsv1alpha1.Extension{ObjectMeta: meta("seed"), Spec: extensionsv1alpha1.ExtensionSpec{DefaultSpec: spec("c", &seed)}},
		&extensionsv1alpha1.Extension{ObjectMeta: meta("garden"), Spec: extensionsv1alpha1.ExtensionSpec{DefaultSpec: spec("d", &garden)}},
		&extensionsv1alpha1.BackupBucket{ObjectMeta: metav1.ObjectMeta{Name: s.installation.Name}, Spec: extensionsv1alpha1.BackupBucketSpec{
			DefaultSpec: spec("a", nil), Region: "x",
		}},
	} {
		require.NoError(t, s.admin.Create(t.Context(), object))
		t.Cleanup(func() { require.NoError(t, s.admin.Delete(context.WithoutCancel(t.Context()), object)) })
	}

	needed := func(resources ...string) []string {
		var list []gardencorev1beta1.ControllerResource
		for i := 0; i < len(resources); i += 2 {
			list = append(list, gardencorev1beta1.ControllerResource{Kind: resources[i], Type: resources[i+1]})
		}
		found, err := Needed(t.Context(), s.cluster, list)
		require.NoError(t, err)
		return found
	}
	assert.Equal(t, []string{"Extension/a"}, needed("Extension", "a"))
	assert.Equal(t, []string{"Extension/b"}, needed("Extension", "b"))
	assert.Equal(t, []string{"Extension/c"}, needed("Extension", "c"))
	assert.Empty(t, needed("Extension", "d"), "class garden is not the seed's")
	assert.Empty(t, needed("Extension", "other", "Worker", "a"))
	assert.Empty(t, needed("Unheard", "a"), "a kind without CRD has no objects")
	assert.Empty(t, needed())
	assert.Equal(t, []string{"BackupBucket/a"}, needed("BackupBucket", "a"), "it has no namespace")
	assert.Equal(t, []string{"BackupBucket/a", "Extension/a", "Extension/c"},
		needed("Extension", "c", "Worker", "c", "BackupBucket", "a", "Extension", "d", "Extension", "a", "Extension", "a"))
	assert.Empty(t, s.takeWrites())
}

// TestNeeded_StopsEarly counts pages.
func TestNeeded_StopsEarly(t *testing.T) {
	s := newTestSeed(t)
	namespace := newNamespace(t)
	const many = pageSize + 50
	for i := range many {
		extensionType := "common"
		if i == many-1 {
			extensionType = "rare"
		}
		require.NoError(t, s.admin.Create(t.Context(), &extensionsv1alpha1.Network{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("n%03d", i)},
			Spec: extensionsv1alpha1.NetworkSpec{
				DefaultSpec: extensionsv1alpha1.DefaultSpec{Type: extensionType}, PodCIDR: "10.0.0.0/16", ServiceCIDR: "10.1.0.0/16",
			},
		}))
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		require.NoError(t, s.admin.DeleteAllOf(ctx, &extensionsv1alpha1.Network{}, client.InNamespace(namespace)))
	})
	pages := 0
	cluster := &seeds.Cluster{Client: interceptor.NewClient(s.admin, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			pages++
			return c.List(ctx, list, options...)
		},
	})}
	for sentence, test := range map[string]struct {
		types []string
		want  []string
		pages int
	}{
		"all are found at once":     {[]string{"common"}, []string{"Network/common"}, 1},
		"one is found on page two":  {[]string{"rare", "common"}, []string{"Network/common", "Network/rare"}, 2},
		"one is found on no page":   {[]string{"none", "common"}, []string{"Network/common"}, 2},
		"none is found on any page": {[]string{"none"}, nil, 2},
	} {
		t.Run(sentence, func(t *testing.T) {
			var resources []gardencorev1beta1.ControllerResource
			for _, extensionType := range test.types {
				resources = append(resources, gardencorev1beta1.ControllerResource{Kind: "Network", Type: extensionType})
			}
			pages = 0
			found, err := Needed(t.Context(), cluster, resources)
			require.NoError(t, err)
			assert.Equal(t, test.want, found)
			assert.Equal(t, test.pages, pages)
		})
	}
}

// Objects with a state or with files may be so large that not even a small page of them is one answer.
func TestNeeded_LargeObjects(t *testing.T) {
	s := newTestSeed(t)
	namespace := newNamespace(t)
	const many, size = pageSize + 10, 300 << 10
	for i := range many {
		network := &extensionsv1alpha1.Network{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("n%03d", i)},
			Spec: extensionsv1alpha1.NetworkSpec{
				DefaultSpec: extensionsv1alpha1.DefaultSpec{Type: "large", ProviderConfig: &runtime.RawExtension{
					Raw: fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Config","a":%q}`, strings.Repeat("a", size)),
				}},
				PodCIDR: "10.0.0.0/16", ServiceCIDR: "10.1.0.0/16",
			},
		}
		if i == many-1 {
			network.Spec.Type = "rare"
		}
		require.NoError(t, s.admin.Create(t.Context(), network))
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		require.NoError(t, s.admin.DeleteAllOf(ctx, &extensionsv1alpha1.Network{}, client.InNamespace(namespace)))
	})
	access, err := seeds.InCluster("hill", shared.config, seeds.Options{Scheme: s.admin.Scheme()})
	require.NoError(t, err)
	cluster, err := access.Connect(t.Context(), s.installation.Seed)
	require.NoError(t, err)
	found, err := Needed(t.Context(), cluster, []gardencorev1beta1.ControllerResource{{Kind: "Network", Type: "rare"}, {Kind: "Network", Type: "none"}})
	require.NoError(t, err)
	assert.Equal(t, []string{"Network/rare"}, found)
	_, err = access.Connect(t.Context(), s.installation.Seed)
	require.NoError(t, err, "for others the seed is reachable")
}

func TestNeeded_HalvesPages(t *testing.T) {
	s := newTestSeed(t)
	var limits []int64
	tooMuch := interceptor.NewClient(s.admin, interceptor.Funcs{
		List: func(_ context.Context, _ client.WithWatch, _ client.ObjectList, options ...client.ListOption) error {
			asked := &client.ListOptions{}
			asked.ApplyOptions(options)
			if limits = append(limits, asked.Limit); asked.Limit > 1 {
				return fmt.Errorf("reading: %w", &seeds.ResponseTooLarge{Seed: "hill", Err: errBroken})
			}
			return &seeds.Unreachable{Seed: "hill", Err: errBroken}
		},
	})
	_, err := Needed(t.Context(), &seeds.Cluster{Client: tooMuch}, []gardencorev1beta1.ControllerResource{{Kind: "Worker", Type: "a"}})
	_, isUnreachable := errors.AsType[*seeds.Unreachable](err)
	assert.True(t, isUnreachable, "a seed with one object that nobody can hold is in other hands: %v", err)
	assert.Equal(t, []int64{50, 25, 12, 6, 3, 1}, limits)
}

func TestNeeded_Errors(t *testing.T) {
	s := newTestSeed(t)
	broken := interceptor.NewClient(s.admin, interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return errBroken
		},
	})
	_, err := Needed(t.Context(), &seeds.Cluster{Client: broken}, []gardencorev1beta1.ControllerResource{{Kind: "Worker", Type: "a"}})
	assert.ErrorIs(t, err, errBroken)
}
