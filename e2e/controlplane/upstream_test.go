package controlplane

import (
	"fmt"
	"os"
	"path/filepath"
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

	"github.com/trellis-garden/trellis/e2e/internal/repo"
)

const (
	upstreamConfiguration = "extension-controlplane-configuration-seed"
	upstreamWebhooks      = "extension-controlplane-shoot-webhooks"
)

// simulateUpstream creates the objects of upstream's extension for a reconciled ControlPlane, with the functions of Gardener's library that
// upstream uses.
func (env *environment) simulateUpstream(t *testing.T) {
	t.Helper()
	namespace := env.Shoot.Namespace()
	server := env.simulateUpstreamCertificates(t)
	for _, account := range accounts() {
		require.NoError(t, gardenerutils.NewShootAccessSecret(account, namespace).Reconcile(t.Context(), env.seed.Client))
	}
	words := strings.NewReplacer("NAMESPACE", namespace, "GENERIC-KUBECONFIG", env.genericKubeconfig(t), "SERVER-CERTIFICATE", server)
	for _, resource := range []struct {
		name, chart string
		content     []byte
		overwrite   bool
	}{
		{upstreamWebhooks, "shoot-webhooks", upstreamFile(t, "shoot-webhooks"), false},
		{resourceShoot, "shoot-system-components", append(upstreamFile(t, "shoot"), sidecarRoles()...), false},
		{resourceShootCRDs, "shoot-crds", definitions(t), false},
		{resourceStorageClasses, "shoot-storageclasses", upstreamFile(t, "storageclasses"), true},
	} {
		require.NoError(t, managedresources.Create(t.Context(), env.seed.Client, namespace, resource.name, nil, false, "",
			map[string][]byte{resource.chart: resource.content}, new(false), map[string]string{v1beta1constants.ShootNoCleanup: "true"}, &resource.overwrite))
	}
	for name, file := range map[string]string{upstreamConfiguration: "configuration-seed", resourceSeed: "seed"} {
		require.NoError(t, managedresources.CreateForSeed(t.Context(), env.seed.Client, namespace, name, false,
			map[string][]byte{file: []byte(words.Replace(string(upstreamFile(t, file))))}))
	}
	env.awaitResources(t, append(managedResources(), upstreamConfiguration, upstreamWebhooks)...)
	env.simulateUpstreamStatus(t)
}

// simulateUpstreamCertificates returns the name of the Secret with the server's certificate.
func (env *environment) simulateUpstreamCertificates(t *testing.T) string {
	t.Helper()
	cluster, err := extensions.GetCluster(t.Context(), env.seed.Client, env.Shoot.Namespace())
	require.NoError(t, err)
	configs := upstreamCertificates(env.Shoot.Namespace())
	manager, err := extensionssecretsmanager.SecretsManagerForCluster(
		t.Context(), logr.Discard(), clock.RealClock{}, env.seed.Client, cluster, identity, configs)
	require.NoError(t, err)
	issued, err := extensionssecretsmanager.GenerateAllSecrets(t.Context(), manager, configs)
	require.NoError(t, err)
	return issued[certificate].Name
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

func upstreamFile(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", "upstream", name+".yaml"))
	require.NoError(t, err)
	return content
}

// definitions are the CRDs of the snapshot controller, which upstream's extension has in the same form.
func definitions(t *testing.T) (all []byte) {
	t.Helper()
	folder, err := repo.Path("internal", "controlplane", "csi", "crds")
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	require.NoError(t, err)
	require.Len(t, files, 3)
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		all = append(append(all, "\n---\n"...), content...)
	}
	return all
}

// sidecarRoles are roles of the CSI sidecars, with a part of their rules, which is enough for the adoption.
func sidecarRoles() (all []byte) {
	const roles = `
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: "NAME"}
rules:
- {apiGroups: [""], resources: [persistentvolumes], verbs: [get, list, watch, create, delete, patch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: "NAME"}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "NAME"}
subjects:
- {kind: ServiceAccount, name: ACCOUNT, namespace: kube-system}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: "NAME", namespace: kube-system}
rules:
- {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [get, watch, list, delete, update, create]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: "NAME", namespace: kube-system}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: "NAME"}
subjects:
- {kind: ServiceAccount, name: ACCOUNT, namespace: kube-system}
`
	for _, account := range accounts()[1:] {
		name := fmt.Sprintf("extensions.gardener.cloud:provider-openstack:%s", account)
		all = append(all, strings.NewReplacer("NAME", name, "ACCOUNT", account).Replace(roles)...)
	}
	return all
}
