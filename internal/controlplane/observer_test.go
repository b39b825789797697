package controlplane_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	secretsmanager "github.com/gardener/gardener/pkg/utils/secrets/manager"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/controlplane"
	"github.com/trellis-garden/trellis/internal/controlplane/controlplanetest"
	"github.com/trellis-garden/trellis/internal/controlplane/example"
	"github.com/trellis-garden/trellis/internal/observer"
)

// newObserved returns a stage on which a primary and a secondary controller work side by side, with a shoot of an old version of Kubernetes.
func newObserved(t *testing.T) *controlplanetest.Harness {
	t.Helper()
	d := &driver{}
	h := newHarness(t, d, func(s *controlplanetest.Subject) {
		s.Program = func(mgr manager.Manager, options contract.Options) error {
			drivers := map[string]controlplane.Driver{example.Type: d}
			return errors.Join(
				controlplane.Add(mgr, drivers, exampleImages(t), options),
				controlplane.AddObserver(mgr, drivers, exampleImages(t), observer.Options{Types: options.Types, Interval: 200 * time.Millisecond}),
			)
		}
	})
	h.ChangeShoot(withVersion(oldestKubernetes))
	h.Start()
	h.Create()
	return h
}

func withVersion(version string) func(*gardencorev1beta1.Shoot) {
	return func(shoot *gardencorev1beta1.Shoot) { shoot.Spec.Kubernetes.Version = version }
}

// waitForObservation waits until the condition of an observation has the status, and returns its message.
func waitForObservation(h *controlplanetest.Harness, name string, status gardencorev1beta1.ConditionStatus) string {
	message := ""
	h.Wait(func(object *extensionsv1alpha1.ControlPlane) error {
		for _, observation := range controlplane.Observations() {
			if observation.Name != name {
				continue
			}
			condition := v1beta1helper.GetCondition(object.Status.Conditions, observation.Condition)
			if condition == nil || condition.Status != status {
				return fmt.Errorf("condition %s is not %s: %v", observation.Condition, status, condition)
			}
			message = condition.Message
		}
		return nil
	})
	return message
}

// deploySeed creates and changes the Deployments in the seed as gardener-resource-manager does.
func deploySeed(t *testing.T, h *controlplanetest.Harness) {
	t.Helper()
	resource, secret := &resourcesv1alpha1.ManagedResource{}, &corev1.Secret{}
	c, err := client.New(controlplane.APIServer().Get(t).Config, client.Options{Scheme: newScheme(t)})
	require.NoError(t, err)
	require.NoError(t, c.Get(t.Context(), client.ObjectKey{Namespace: h.Namespace, Name: controlplanetest.Seed}, resource))
	require.NoError(t, c.Get(t.Context(), client.ObjectKey{Namespace: h.Namespace, Name: resource.Spec.SecretRefs[0].Name}, secret))
	for _, manifest := range secret.Data {
		wanted := &appsv1.Deployment{}
		if require.NoError(t, yaml.Unmarshal(manifest, wanted)); wanted.Kind != "Deployment" {
			continue
		}
		found := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: h.Namespace, Name: wanted.Name}}
		_, err := controllerutil.CreateOrUpdate(t.Context(), c, found, func() error {
			found.Spec = wanted.Spec
			return nil
		})
		require.NoError(t, err)
	}
}

func newScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, controlplane.AddToScheme(scheme))
	return scheme
}

func TestObserver_ComponentVersions(t *testing.T) {
	h := newObserved(t)
	message := waitForObservation(h, controlplane.ObservationComponentVersions, gardencorev1beta1.ConditionFalse)
	assert.Contains(t, message, "Deployment cloud-controller-manager does not exist")
	deploySeed(t, h)
	message = waitForObservation(h, controlplane.ObservationComponentVersions, gardencorev1beta1.ConditionTrue)
	assert.Contains(t, message, "All components have the images for Kubernetes "+oldestKubernetes)

	h.ChangeShoot(withVersion(newestKubernetes))
	message = waitForObservation(h, controlplane.ObservationComponentVersions, gardencorev1beta1.ConditionFalse)
	assert.Contains(t, message, "Deployment cloud-controller-manager has image registry.example.org/cloud-controller-manager:v1.33.0, "+
		"not registry.example.org/cloud-controller-manager:v1.36.0")
	assert.Contains(t, message, "the next reconciliation of the shoot deploys what is wanted")

	h.Reconcile()
	deploySeed(t, h)
	message = waitForObservation(h, controlplane.ObservationComponentVersions, gardencorev1beta1.ConditionTrue)
	assert.Contains(t, message, newestKubernetes)
}

func TestObserver_Certificates(t *testing.T) {
	h := newObserved(t)
	message := waitForObservation(h, controlplane.ObservationCertificates, gardencorev1beta1.ConditionTrue)
	assert.Contains(t, message, "Of 2 certificates, ")

	secrets := &corev1.SecretList{}
	require.NoError(t, h.Client.List(t.Context(), secrets, client.InNamespace(h.Namespace), client.MatchingLabels{secretsmanager.LabelKeyName: ccmCertificate}))
	require.Len(t, secrets.Items, 1)
	changed := secrets.Items[0].DeepCopy()
	changed.Labels[secretsmanager.LabelKeyValidUntilTime] = fmt.Sprint(time.Now().Add(13 * 24 * time.Hour).Unix())
	require.NoError(t, h.Client.Patch(t.Context(), changed, client.MergeFrom(&secrets.Items[0])))
	message = waitForObservation(h, controlplane.ObservationCertificates, gardencorev1beta1.ConditionFalse)
	assert.Contains(t, message, "certificate "+ccmCertificate+" (Secret "+changed.Name+") ends at ")
	for _, value := range changed.Data {
		assert.NotContains(t, message, string(value))
	}
}
