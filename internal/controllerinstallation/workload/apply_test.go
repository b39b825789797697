package workload

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/gardener/gardener/pkg/resourcemanager/controller/garbagecollector/references"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func TestApply(t *testing.T) {
	s := newTestSeed(t)
	s.installation.PodSecurity, s.facts.IsGarden = "privileged", true
	kubeconfig, err := kubeconfigSecret(s.installation, s.garden)
	require.NoError(t, err)

	require.NoError(t, s.apply(s.deployment()))
	resource := s.managedResource()
	require.Len(t, resource.Spec.SecretRefs, 1)
	content := resource.Spec.SecretRefs[0].Name
	assert.Equal(t, []string{
		"create Namespace extension-" + s.installation.Name, "create Secret " + kubeconfig.Name, "create Secret garden-access-extension",
		"create Secret " + content, "create ManagedResource " + s.installation.Name,
	}, s.takeWrites())

	namespace := s.namespace()
	delete(namespace.Labels, corev1.LabelMetadataName)
	assert.Equal(t, map[string]string{
		"gardener.cloud/role": "extension", "controllerregistration.core.gardener.cloud/name": "network",
		"high-availability-config.resources.gardener.cloud/consider": "true",
		"networking.gardener.cloud/access-target-apiserver":          "allowed", "pod-security.kubernetes.io/enforce": "privileged",
	}, namespace.Labels)
	assert.Equal(t, map[string]string{"high-availability-config.resources.gardener.cloud/zones": "a,b"}, namespace.Annotations)

	assert.Equal(t, resourcesv1alpha1.ManagedResourceSpec{
		Class: new("seed"), KeepObjects: new(false), SecretRefs: []corev1.LocalObjectReference{{Name: content}},
	}, resource.Spec)
	assert.Equal(t, map[string]string{"controllerinstallation-name": s.installation.Name, "controllerregistration-name": "network"}, resource.Labels)
	assert.Equal(t, map[string]string{
		"installation.trellis.garden/revision":                   "0123456789",
		references.AnnotationKey(references.KindSecret, content): content,
	}, resource.Annotations)

	secret := s.secret(v1beta1constants.GardenNamespace, content)
	assert.Regexp(t, "^managedresource-"+s.installation.Name+"-[0-9a-f]{8}$", content)
	assert.True(t, *secret.Immutable)
	assert.Equal(t, "true", secret.Labels[references.LabelKeyGarbageCollectable])
	written := map[string]any{}
	require.NoError(t, json.Unmarshal(secret.Data["0000-deployment-controller.json"], &written))
	assert.Equal(t, s.deployment().Object["spec"], written["spec"])

	access := s.secret(namespace.Name, "garden-access-extension")
	assert.Equal(t, map[string]string{"resources.gardener.cloud/purpose": "token-requestor", "resources.gardener.cloud/class": "garden"}, access.Labels)
	assert.Equal(t, map[string]string{
		"serviceaccount.resources.gardener.cloud/name":   "extension-" + s.installation.Name,
		"serviceaccount.resources.gardener.cloud/labels": `{"controllerregistration.core.gardener.cloud/name":"network"}`,
	}, access.Annotations)
	assert.Empty(t, access.Data)
	mounted := s.secret(namespace.Name, kubeconfig.Name)
	assert.Equal(t, kubeconfig.Data, mounted.Data)
	assert.True(t, *mounted.Immutable)
}

func TestApply_Idempotent(t *testing.T) {
	for sentence, test := range map[string]func(*testSeed){
		"with access to the garden": func(*testSeed) {},
		"with a token": func(s *testSeed) {
			access := s.secret(Namespace(s.installation.Name), accessSecretName)
			access.Data = map[string][]byte{"token": []byte("secret")}
			access.Annotations["serviceaccount.resources.gardener.cloud/token-renew-timestamp"] = "2026-01-02T03:04:05Z"
			require.NoError(s, s.admin.Update(s.Context(), access))
		},
		"with what others have added": func(s *testSeed) {
			namespace, resource := s.namespace(), s.managedResource()
			metav1.SetMetaDataLabel(&namespace.ObjectMeta, "of", "others")
			require.NoError(s, s.admin.Update(s.Context(), namespace))
			metav1.SetMetaDataAnnotation(&resource.ObjectMeta, "of", "others")
			resource.Finalizers = []string{"resources.gardener.cloud/gardener-resource-manager"}
			require.NoError(s, s.admin.Update(s.Context(), resource))
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newTestSeed(t)
			require.NoError(t, s.apply(s.deployment()))
			test(s)
			s.takeWrites()
			require.NoError(t, s.apply(s.deployment()))
			assert.Empty(t, s.takeWrites())
		})
	}
	t.Run("without anything that is not a must", func(t *testing.T) {
		s := newTestSeed(t)
		s.installation.InjectGardenKubeconfig, s.garden = false, Garden{}
		require.NoError(t, s.apply(s.deployment()))
		assert.Len(t, s.takeWrites(), 3)
		assert.NotContains(t, s.namespace().Labels, "networking.gardener.cloud/access-target-apiserver")
		assert.NotContains(t, s.namespace().Labels, "pod-security.kubernetes.io/enforce")
		require.NoError(t, s.apply(s.deployment()))
		assert.Empty(t, s.takeWrites())
	})
}

func TestApply_Drift(t *testing.T) {
	for sentence, test := range map[string]struct {
		harm func(*testSeed)
		want func(*testSeed) []string
	}{
		"labels of the namespace": {
			func(s *testSeed) {
				namespace := s.namespace()
				delete(namespace.Labels, "gardener.cloud/role")
				namespace.Labels["pod-security.kubernetes.io/enforce"] = "privileged"
				require.NoError(s, s.admin.Update(s.Context(), namespace))
			},
			func(s *testSeed) []string { return []string{"patch Namespace extension-" + s.installation.Name} },
		},
		"the access Secret's annotations": {
			func(s *testSeed) {
				access := s.secret(Namespace(s.installation.Name), accessSecretName)
				access.Annotations = nil
				require.NoError(s, s.admin.Update(s.Context(), access))
			},
			func(*testSeed) []string { return []string{"patch Secret garden-access-extension"} },
		},
		"a whole kubeconfig where a token belongs": {
			func(s *testSeed) {
				access := s.secret(Namespace(s.installation.Name), accessSecretName)
				access.Data = map[string][]byte{"kubeconfig": []byte("x")}
				require.NoError(s, s.admin.Update(s.Context(), access))
			},
			func(*testSeed) []string { return []string{"patch Secret garden-access-extension"} },
		},
		"the content": {
			func(s *testSeed) {
				content := s.secret(v1beta1constants.GardenNamespace, s.managedResource().Spec.SecretRefs[0].Name)
				require.NoError(s, s.admin.Delete(s.Context(), content))
			},
			func(s *testSeed) []string {
				return []string{"create Secret " + s.managedResource().Spec.SecretRefs[0].Name}
			},
		},
		"the ManagedResource, its labels too": {
			func(s *testSeed) {
				resource := s.managedResource()
				resource.Labels, resource.Spec.KeepObjects = nil, new(true)
				resource.Spec.SecretRefs = []corev1.LocalObjectReference{{Name: "old"}}
				resource.Annotations[references.AnnotationKey(references.KindSecret, "old")] = "old"
				require.NoError(s, s.admin.Update(s.Context(), resource))
			},
			func(s *testSeed) []string { return []string{"patch ManagedResource " + s.installation.Name} },
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newTestSeed(t)
			require.NoError(t, s.apply(s.deployment()))
			resource, namespace := s.managedResource(), s.namespace()
			access := s.secret(namespace.Name, accessSecretName)
			s.takeWrites()

			test.harm(s)
			require.NoError(t, s.apply(s.deployment()))
			assert.Equal(t, test.want(s), s.takeWrites())
			assert.Equal(t, resource.Spec, s.managedResource().Spec)
			assert.Equal(t, resource.Labels, s.managedResource().Labels)
			assert.Equal(t, resource.Annotations, s.managedResource().Annotations)
			assert.Equal(t, namespace.Labels, s.namespace().Labels)
			restored := s.secret(namespace.Name, accessSecretName)
			assert.Equal(t, access.Annotations, restored.Annotations)
			assert.Empty(t, restored.Data)
			assert.Equal(t, []string{resource.Spec.SecretRefs[0].Name}, s.secrets())
		})
	}
}

// What is written from what was read before somebody else wrote, is not written.
func TestApply_Conflict(t *testing.T) {
	s := newTestSeed(t)
	require.NoError(t, s.apply(s.deployment()))
	s.installation.Revision = "9876543210"
	s.beforeWrite = func() {
		resource := s.managedResource()
		resource.Labels["controllerinstallation-name"] = "other"
		require.NoError(t, s.admin.Update(t.Context(), resource))
	}
	assert.True(t, apierrors.IsConflict(s.apply(s.deployment())))
	assert.ErrorContains(t, s.apply(s.deployment()), "belongs to somebody else")

	s = newTestSeed(t)
	require.NoError(t, s.apply(s.deployment()))
	s.installation.Registration = "renamed"
	s.cluster.Client = interceptor.NewClient(s.admin, interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			if object.GetName() == accessSecretName {
				access := s.secret(object.GetNamespace(), accessSecretName)
				access.Data = map[string][]byte{"token": []byte("fresh")}
				require.NoError(t, s.admin.Update(ctx, access))
			}
			return c.Patch(ctx, object, patch, options...)
		},
	})
	assert.True(t, apierrors.IsConflict(s.apply(s.deployment())))
}

func TestApply_OtherRevision(t *testing.T) {
	s := newTestSeed(t)
	require.NoError(t, s.apply(s.deployment()))
	before := s.managedResource().Spec.SecretRefs[0].Name
	s.takeWrites()

	s.installation.Revision = "9876543210"
	require.NoError(t, s.apply(s.deployment()))
	assert.Equal(t, []string{"patch ManagedResource " + s.installation.Name}, s.takeWrites(), "the content is the same")
	assert.Equal(t, "9876543210", s.managedResource().Annotations["installation.trellis.garden/revision"])

	changed := s.deployment()
	changed.SetLabels(map[string]string{"app": "controller"})
	require.NoError(t, s.apply(changed))
	after := s.managedResource().Spec.SecretRefs[0].Name
	assert.NotEqual(t, before, after)
	assert.Equal(t, []string{"create Secret " + after, "patch ManagedResource " + s.installation.Name}, s.takeWrites())
	assert.NotContains(t, s.managedResource().Annotations, references.AnnotationKey(references.KindSecret, before), "the old one can be collected")
}

func TestApply_RemovesGardenAccess(t *testing.T) {
	for sentence, change := range map[string]func(*testSeed) error{
		"when it is not asked for any more": func(s *testSeed) error {
			s.installation.InjectGardenKubeconfig = false
			return s.apply(s.deployment())
		},
		"when no object wants it any more": func(s *testSeed) error {
			shy := s.deployment()
			shy.SetLabels(map[string]string{"extensions.gardener.cloud/inject-garden-kubeconfig": "false"})
			return s.apply(shy)
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newTestSeed(t)
			require.NoError(t, s.apply(s.deployment()))
			s.takeWrites()
			require.NoError(t, change(s))
			assert.Contains(t, s.takeWrites(), "delete Secret garden-access-extension")
			access := &corev1.Secret{}
			err := s.admin.Get(t.Context(), client.ObjectKey{Namespace: Namespace(s.installation.Name), Name: accessSecretName}, access)
			assert.True(t, apierrors.IsNotFound(err))
			require.NoError(t, change(s))
			assert.Empty(t, s.takeWrites())
		})
	}
}

func TestApply_NotWritable(t *testing.T) {
	for sentence, test := range map[string]struct {
		prepare func(*testSeed, *resourcesv1alpha1.ManagedResource)
		want    string
	}{
		"a ManagedResource of another installation": {
			func(_ *testSeed, resource *resourcesv1alpha1.ManagedResource) {
				resource.Labels = map[string]string{"controllerinstallation-name": "other"}
			},
			`ManagedResource %s in namespace garden of the seed belongs to somebody else: its label controllerinstallation-name is "other"`,
		},
		"a ManagedResource without labels": {
			func(*testSeed, *resourcesv1alpha1.ManagedResource) {},
			`ManagedResource %s in namespace garden of the seed belongs to somebody else: its label controllerinstallation-name is ""`,
		},
		"a ManagedResource that is being deleted": {
			func(s *testSeed, resource *resourcesv1alpha1.ManagedResource) {
				resource.Labels = map[string]string{"controllerinstallation-name": s.installation.Name}
				resource.Finalizers = []string{"test.example.org/stay"}
			},
			`ManagedResource %s is still being deleted: gardener-resource-manager has not begun with its objects`,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newTestSeed(t)
			resource := &resourcesv1alpha1.ManagedResource{
				ObjectMeta: metav1.ObjectMeta{Namespace: v1beta1constants.GardenNamespace, Name: s.installation.Name},
				Spec:       resourcesv1alpha1.ManagedResourceSpec{SecretRefs: []corev1.LocalObjectReference{{Name: "theirs"}}},
			}
			test.prepare(s, resource)
			require.NoError(t, s.admin.Create(t.Context(), resource))
			if len(resource.Finalizers) > 0 {
				require.NoError(t, s.admin.Delete(t.Context(), resource))
			}
			assert.EqualError(t, s.apply(s.deployment()), fmt.Sprintf(test.want, s.installation.Name))
			assert.Empty(t, s.takeWrites())
		})
	}
	t.Run("a namespace that is being deleted", func(t *testing.T) {
		s := newTestSeed(t)
		require.NoError(t, s.admin.Create(t.Context(), namespaced(Namespace(s.installation.Name))))
		require.NoError(t, s.admin.Delete(t.Context(), namespaced(Namespace(s.installation.Name))))
		assert.ErrorContains(t, s.apply(s.deployment()), "it is still being deleted")
		assert.Empty(t, s.takeWrites())
	})
}

func TestApply_AdoptsFromGardenlet(t *testing.T) {
	s := newTestSeed(t)
	resource := &resourcesv1alpha1.ManagedResource{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: v1beta1constants.GardenNamespace, Name: s.installation.Name,
			Labels:      map[string]string{"controllerinstallation-name": s.installation.Name, "controllerregistration-name": "network"},
			Annotations: map[string]string{references.AnnotationKey(references.KindSecret, "theirs"): "theirs"},
		},
		Spec: resourcesv1alpha1.ManagedResourceSpec{Class: new("seed"), SecretRefs: []corev1.LocalObjectReference{{Name: "theirs"}}},
	}
	require.NoError(t, s.admin.Create(t.Context(), resource))
	require.NoError(t, s.apply(s.deployment()))
	adopted := s.managedResource()
	assert.Equal(t, resource.UID, adopted.UID)
	assert.Equal(t, []string{adopted.Spec.SecretRefs[0].Name}, s.secrets())
	assert.NotContains(t, adopted.Annotations, references.AnnotationKey(references.KindSecret, "theirs"))
}

// After a write that fails, whichever it is, the next attempt does the rest.
func TestApply_ResumesAfterError(t *testing.T) {
	for broken := 1; broken <= 5; broken++ {
		t.Run(fmt.Sprint("write ", broken), func(t *testing.T) {
			s := newTestSeed(t)
			s.failingWrite = broken
			require.ErrorIs(t, s.apply(s.deployment()), errBroken)
			assert.Len(t, s.takeWrites(), broken)
			s.failingWrite = 0
			require.NoError(t, s.apply(s.deployment()))
			assert.Len(t, s.takeWrites(), 5-broken+1)
			require.NoError(t, s.apply(s.deployment()))
			assert.Empty(t, s.takeWrites())
		})
	}
}
