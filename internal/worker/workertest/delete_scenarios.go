package workertest

import (
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func deleteScenarios() []scenario {
	return []scenario{
		{"delete before the first reconciliation", func(t T, env *environment) {
			s := newHarness(t, env, NewServers(), 1)
			s.object.Finalizers = []string{finalizer}
			s.deploy(v1beta1constants.GardenerOperationWaitForState)
			s.delete()
		}},
		{"delete again", func(t T, env *environment) {
			s := newHarness(t, env, NewServers(), 1)
			status := s.create().Status
			s.delete()
			s.object.Finalizers = []string{finalizer}
			s.deploy(v1beta1constants.GardenerOperationWaitForState)
			require.NoError(t, s.PatchStatus(t.Context(), func(object *extensionsv1alpha1.Worker) { object.Status = status }))
			s.delete()
		}},
		{"delete without status", func(t T, env *environment) {
			s := newHarness(t, env, NewServers(), 1)
			s.create()
			require.NoError(t, s.PatchStatus(t.Context(), func(object *extensionsv1alpha1.Worker) { object.Status.ProviderStatus = nil }))
			s.delete()
		}},
		{"delete during creation", func(t T, env *environment) {
			s := newHarness(t, env, NewServers(), 1)
			s.manager.SetCreateFailure(s.firstDeployment(), &CreateFailure{Code: "Unavailable", Message: "not now"})
			s.deploy(v1beta1constants.GardenerOperationReconcile)
			s.waitForProgress("not now")
			s.delete()
		}},
		{"delete before machine-controller-manager starts", func(t T, env *environment) {
			s := newHarness(t, env, NewServers(), 0)
			s.deploy(v1beta1constants.GardenerOperationReconcile)
			s.waitForProgress("machine-controller-manager")
			require.NoError(t, s.Destroy(t.Context()))
			s.stop()
			s.scale(1)
			s.start()
			s.wait("deleted", func(object *extensionsv1alpha1.Worker) bool { return object == nil })
			require.Empty(t, s.checkDeleted(t.Context()))
		}},
		{"delete without classes", deleteWithoutClasses},
		{"delete without credentials", deleteWithoutCredentials},
		{"force-delete", func(t T, env *environment) {
			s := newHarness(t, env, NewServers(), 1)
			s.create()
			s.scale(0)
			s.updateShoot(func(shoot *gardencorev1beta1.Shoot) {
				shoot.DeletionTimestamp = new(metav1.Now())
				shoot.Annotations = map[string]string{v1beta1constants.AnnotationConfirmationForceDeletion: "true"}
			})
			require.NoError(t, s.Destroy(t.Context()))
			require.NoError(t, s.WaitGone(s.timeoutContext()))
		}},
	}
}

const finalizer = "extensions.gardener.cloud/worker"

// deleteWithoutClasses deletes the classes that machine-controller-manager needs to delete machines.
func deleteWithoutClasses(t T, env *environment) {
	s := newHarness(t, env, NewServers(), 1)
	s.create()
	s.manager.pause()
	h, _ := s.read(t.Context())
	for i := range h.classes.Items {
		require.NoError(t, deleteWithoutFinalizers(t.Context(), s.client, &h.classes.Items[i]))
	}
	for i := range h.secrets.Items {
		require.NoError(t, deleteWithoutFinalizers(t.Context(), s.client, &h.secrets.Items[i]))
	}
	s.manager.resume()
	s.delete()
}

// deleteWithoutCredentials reports what is left until the credentials are restored.
func deleteWithoutCredentials(t T, env *environment) {
	s := newHarness(t, env, NewServers(), 1)
	s.create()
	s.manager.pause()
	credentials := &corev1.Secret{}
	key := client.ObjectKey{Namespace: s.namespace, Name: v1beta1constants.SecretNameCloudProvider}
	require.NoError(t, s.client.Get(t.Context(), key, credentials))
	credentials.Finalizers = nil
	require.NoError(t, s.client.Update(t.Context(), credentials))
	require.NoError(t, s.client.Delete(t.Context(), credentials))
	require.NoError(t, s.Destroy(t.Context()))
	s.waitForError("does not exist; restore it", "machine")
	require.NoError(t, s.client.Create(t.Context(), s.env.gardener.fixture(nil).Secret(s.namespace)))
	s.manager.resume()
	s.wait("deleted", func(object *extensionsv1alpha1.Worker) bool { return object == nil })
	require.Empty(t, s.checkDeleted(t.Context()))
}
