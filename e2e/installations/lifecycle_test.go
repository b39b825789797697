package installations

import (
	"strings"
	"testing"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
)

const (
	ourFinalizer   = "installation.trellis.garden/controllerinstallation"
	helmsFinalizer = "core.gardener.cloud/controllerinstallation"
	shootNamespace = "shoot--dev--first"
)

// testInstalled waits until a shoot has all controllers that it needs, and asserts that neither gardenlet nor operator changed the other's.
func testInstalled(t *testing.T, env *environment) {
	env.onBoth(t, func(t *testing.T, s *site) {
		for _, each := range trellis() {
			installation := env.inUse(t, s.name, each.name)
			assert.Equal(t, []string{ourFinalizer}, installation.Finalizers, each.name)
			env.assertStatus(t, s, installation)
			if each.inject {
				env.assertToken(t, s, installation)
			}
		}
		for _, each := range others() {
			installation := env.installed(t, s.name, each.Name)
			assert.Equal(t, []string{helmsFinalizer}, installation.Finalizers, each.Name)
			assert.Nil(t, installation.Status.ProviderStatus, each.Name)
			assert.NotContains(t, installation.Annotations, installationv1alpha1.AnnotationRevision, each.Name)
		}
		env.extensionsReady(t, s.name)
	})
}

// inUse waits until an installation is healthy, and gardenlet has reported it as needed.
func (env *environment) inUse(t *testing.T, seedName, registration string) *gardencorev1beta1.ControllerInstallation {
	t.Helper()
	return env.waitFor(t, seedName, registration, "is installed and in use", func(i *gardencorev1beta1.ControllerInstallation) bool {
		return isReady(i) && is(i, gardencorev1beta1.ControllerInstallationRequired, gardencorev1beta1.ConditionTrue)
	})
}

// assertStatus checks the operator's status of a healthy installation.
func (env *environment) assertStatus(t *testing.T, s *site, installation *gardencorev1beta1.ControllerInstallation) {
	t.Helper()
	installation = env.phase(t, s.name, installation.Spec.RegistrationRef.Name, installationv1alpha1.PhaseHealthy)
	status := statusOf(t, installation)
	assert.Equal(t, s.mode, status.Operator)
	assert.Regexp(t, "^[0-9a-f]{10}$", status.Revision)
	assert.Empty(t, status.TargetRevision)
	assert.NotNil(t, status.AppliedAt)
	assert.NotNil(t, status.HealthySince)
	assert.Empty(t, status.History)
	assert.Nil(t, status.LastError)
	valid := conditionOf(installation, gardencorev1beta1.ControllerInstallationValid)
	assert.Equal(t, "RegistrationValid", valid.Reason)
	if s.mode == byGarden {
		assert.Equal(t, installationv1alpha1.RestWave, status.Wave)
		assert.Equal(t, status.Revision, installation.Annotations[installationv1alpha1.AnnotationRevision])
		return
	}
	assert.Empty(t, status.Wave)
	assert.NotContains(t, installation.Annotations, installationv1alpha1.AnnotationRevision, "there is nobody who would decide")
}

// phase waits until an installation is in a phase.
func (env *environment) phase(t *testing.T, seedName, registration string, want installationv1alpha1.Phase) *gardencorev1beta1.ControllerInstallation {
	t.Helper()
	return env.waitFor(t, seedName, registration, "is "+string(want), func(i *gardencorev1beta1.ControllerInstallation) bool {
		return statusOf(t, i).Phase == want
	})
}

func statusOf(t *testing.T, installation *gardencorev1beta1.ControllerInstallation) *installationv1alpha1.ControllerInstallationStatus {
	t.Helper()
	status, err := installationv1alpha1.DecodeControllerInstallationStatus(installation.Status.ProviderStatus)
	require.NoError(t, err)
	return status
}

// assertToken waits until gardenlet has issued a token for the garden to the pods of an installation.
func (env *environment) assertToken(t *testing.T, s *site, installation *gardencorev1beta1.ControllerInstallation) {
	t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "garden-access-extension", Namespace: namespaceOf(installation).Name}}
	eventually(t, installation.Name+" has a token for the garden", func() bool {
		return exists(t, s.Client, secret) && len(secret.Data["token"]) > 0
	}, func() any { return secret })
	assert.True(t, exists(t, env.Client, accountOf(s, installation)))
}

func accountOf(s *site, installation *gardencorev1beta1.ControllerInstallation) *corev1.ServiceAccount {
	return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "extension-" + installation.Name, Namespace: "seed-" + s.name}}
}

func namespaceOf(installation *gardencorev1beta1.ControllerInstallation) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "extension-" + installation.Name}}
}

func managedResourceOf(installation *gardencorev1beta1.ControllerInstallation) *resourcesv1alpha1.ManagedResource {
	return &resourcesv1alpha1.ManagedResource{ObjectMeta: metav1.ObjectMeta{Name: installation.Name, Namespace: "garden"}}
}

func (env *environment) extensionsReady(t *testing.T, seedName string) {
	t.Helper()
	seed := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: seedName}}
	eventually(t, "the extensions of "+seedName+" are ready", func() bool {
		require.True(t, exists(t, env.Client, seed))
		condition := v1beta1helper.GetCondition(seed.Status.Conditions, gardencorev1beta1.SeedExtensionsReady)
		return condition != nil && condition.Status == gardencorev1beta1.ConditionTrue
	}, func() any { return seed.Status.Conditions })
}

// testHeld deletes a needed installation. It stays while it is needed, and is created again, since the shoot still needs it.
func testHeld(t *testing.T, env *environment) {
	env.onBoth(t, func(t *testing.T, s *site) {
		const name = "infrastructure"
		installation := env.inUse(t, s.name, name)
		before, owned := snapshot(t, s, installation), ownedObjects(t, s, installation)
		require.NoError(t, env.Client.Delete(t.Context(), installation))
		held := env.phase(t, s.name, name, installationv1alpha1.PhaseHeld)
		require.NotNil(t, statusOf(t, held).LastError)
		assert.Contains(t, statusOf(t, held).LastError.Message, "Infrastructure/openstack")
		assert.Contains(t, statusOf(t, held).LastError.Message, "whileRequired", "there is a way out")
		assert.Equal(t, before, snapshot(t, s, held), "nothing has happened to what runs")

		require.NoError(t, s.Client.Delete(t.Context(), infrastructure()))
		env.gone(t, held)
		assertGone(t, s, owned)
		again := env.installed(t, s.name, name)
		assert.NotEqual(t, installation.Name, again.Name)
	})
}

// testGone deletes the last shoot. What extension objects need stays; then all installations are removed, with all their objects.
func testGone(t *testing.T, env *environment) {
	env.onBoth(t, func(t *testing.T, s *site) {
		var installations []*gardencorev1beta1.ControllerInstallation
		var left []client.Object
		for _, each := range trellis() {
			installation := env.installed(t, s.name, each.name)
			installations, left = append(installations, installation), append(left, ownedObjects(t, s, installation)...)
		}
		require.NoError(t, client.IgnoreNotFound(s.Client.Delete(t.Context(), infrastructure())))
		require.NoError(t, env.DeleteShoot(t.Context(), "on-"+s.name))
		// That of Infrastructure is removed, since no object of its kind exists any more.
		env.gone(t, installations[0])
		for _, installation := range installations[1:] {
			require.True(t, exists(t, env.Client, installation))
			assert.Nil(t, installation.DeletionTimestamp, "gardener-controller-manager waits until %s is not needed", installation.Name)
		}
		for _, object := range extensions()[1:] { // Infrastructure comes first
			require.NoError(t, s.Client.Delete(t.Context(), object))
		}
		for _, installation := range installations {
			env.gone(t, installation)
			assert.False(t, exists(t, env.Client, accountOf(s, installation)), "ServiceAccount of %s in the garden", installation.Name)
		}
		assertGone(t, s, left)
		env.extensionsReady(t, s.name)
	})
	for name, o := range env.operators {
		refused, err := env.ServiceAccountRequests().Forbidden(o.user())
		require.NoError(t, err)
		assert.Empty(t, refused, "the operator %s has asked for what it has no right to", name)
		env.assertNoIdleWrites(t, o)
	}
}

// ownedObjects are the objects of an installation in its seed that must be removed with it. Secrets with earlier revisions are not included:
// gardener-resource-manager collects them minutes later.
func ownedObjects(t *testing.T, s *site, installation *gardencorev1beta1.ControllerInstallation) []client.Object {
	t.Helper()
	managed := managedResourceOf(installation)
	objects := []client.Object{namespaceOf(installation), managed}
	if exists(t, s.Client, managed) {
		for _, reference := range managed.Spec.SecretRefs {
			objects = append(objects, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: reference.Name, Namespace: "garden"}})
		}
	}
	return objects
}

func assertGone(t *testing.T, s *site, owned []client.Object) {
	t.Helper()
	for _, object := range owned {
		assert.False(t, exists(t, s.Client, object), "%T %s", object, object.GetName())
	}
}

// secretsAbout lists Secrets of an installation besides those of its ManagedResource.
func secretsAbout(t *testing.T, s *site, installation *gardencorev1beta1.ControllerInstallation) []string {
	t.Helper()
	list := &corev1.SecretList{}
	require.NoError(t, s.Client.List(t.Context(), list, client.InNamespace("garden")))
	var names []string
	for _, secret := range list.Items {
		if strings.Contains(secret.Name, installation.Name) {
			names = append(names, secret.Name)
		}
	}
	return names
}
