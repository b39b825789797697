package controlplane

import (
	"strings"
	"testing"
	"time"

	extensionssecretsmanager "github.com/gardener/gardener/extensions/pkg/util/secret/manager"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/gardener/gardener/pkg/extensions"
	gardenerutils "github.com/gardener/gardener/pkg/utils/gardener"
	"github.com/gardener/gardener/pkg/utils/managedresources"
	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	resourceShootWebhooks = "extension-controlplane-shoot-webhooks"
	upstreamConfiguration = "extension-controlplane-configuration-seed"
)

// simulateUpstream creates the objects of upstream's extension for a reconciled ControlPlane, with the functions of Gardener's library that
// upstream uses. Objects that exist are changed, as in its reconciliation.
func (env *environment) simulateUpstream(t *testing.T) {
	t.Helper()
	namespace := env.Shoot.Namespace()
	words := []string{"NAMESPACE", namespace, "GENERIC-KUBECONFIG", env.genericKubeconfig(t)}
	words = append(words, env.simulateUpstreamCertificates(t)...)
	for _, account := range env.upstream.accounts {
		require.NoError(t, gardenerutils.NewShootAccessSecret(account, namespace).Reconcile(t.Context(), env.seed.Client))
	}
	file := func(name string) []byte {
		return []byte(strings.NewReplacer(words...).Replace(string(env.upstream.file(t, name))))
	}
	for _, resource := range []struct {
		name, chart string
		content     []byte
		overwrite   bool
	}{
		{resourceShootWebhooks, "shoot-webhooks", file("shoot-webhooks"), false},
		{resourceShoot, "shoot-system-components", append(file("shoot"), env.upstream.sidecarRoles()...), false},
		{resourceShootCRDs, "shoot-crds", env.upstream.definitions(t), false},
		{resourceStorageClasses, "shoot-storageclasses", file("storageclasses"), true},
	} {
		require.NoError(t, managedresources.Create(t.Context(), env.seed.Client, namespace, resource.name, nil, false, "",
			map[string][]byte{resource.chart: resource.content}, new(false), map[string]string{v1beta1constants.ShootNoCleanup: "true"}, &resource.overwrite))
	}
	for name, of := range map[string]string{upstreamConfiguration: "configuration-seed", resourceSeed: "seed"} {
		require.NoError(t, managedresources.CreateForSeed(t.Context(), env.seed.Client, namespace, name, false, map[string][]byte{of: file(of)}))
	}
	env.awaitResources(t, append(managedResources(), upstreamConfiguration, resourceShootWebhooks)...)
	env.simulateUpstreamStatus(t)
}

// simulateUpstreamCertificates returns the words of the files for the names of the Secrets with the servers' certificates, and these names.
func (env *environment) simulateUpstreamCertificates(t *testing.T) (words []string) {
	t.Helper()
	cluster, err := extensions.GetCluster(t.Context(), env.seed.Client, env.Shoot.Namespace())
	require.NoError(t, err)
	configs := env.upstream.certificates(env.Shoot.Namespace())
	manager, err := extensionssecretsmanager.SecretsManagerForCluster(
		t.Context(), logr.Discard(), clock.RealClock{}, env.seed.Client, cluster, env.upstream.identity(), configs)
	require.NoError(t, err)
	issued, err := extensionssecretsmanager.GenerateAllSecrets(t.Context(), manager, configs)
	require.NoError(t, err)
	for name := range env.upstream.servers {
		words = append(words, "CERTIFICATE:"+name, issued[name].Name)
	}
	return words
}

// simulateUpstreamStatus creates the ControlPlane with a status of success.
func (env *environment) simulateUpstreamStatus(t *testing.T) {
	t.Helper()
	require.NoError(t, env.seed.Gardenlet.ControlPlane(env.Shoot).Deploy(t.Context()))
	object := env.object(t)
	patch := client.MergeFrom(object.DeepCopy())
	object.Finalizers = []string{"extensions.gardener.cloud/controlplane"}
	delete(object.Annotations, v1beta1constants.GardenerOperation)
	require.NoError(t, env.seed.Client.Patch(t.Context(), object, patch))
	patch = client.MergeFrom(object.DeepCopy())
	object.Status.ObservedGeneration = object.Generation
	object.Status.LastOperation = &gardencorev1beta1.LastOperation{
		Type: gardencorev1beta1.LastOperationTypeCreate, State: gardencorev1beta1.LastOperationStateSucceeded, Progress: 100,
		Description: "Successfully reconciled controlplane", LastUpdateTime: metav1.NewTime(time.Now()),
	}
	require.NoError(t, env.seed.Client.Status().Patch(t.Context(), object, patch))
	require.NoError(t, env.seed.Gardenlet.ControlPlane(env.Shoot).Wait(t.Context()), "gardenlet is content")
}
