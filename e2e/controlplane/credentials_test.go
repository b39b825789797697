package controlplane

import (
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
)

// specialCharacters is a password with characters that are special in each of the formats that it is written in.
const specialCharacters = "q\"uo'te\\ back #hash ;semi =eq [x] %20 $HOME `w`\nnewline"

// testCredentials changes the password of the shoot's account. Only its users are restarted.
func testCredentials(t *testing.T, env *environment) {
	before, deployments, pods := env.snapshot(t), env.deployments(t), map[string][]string{}
	for name, deployment := range deployments {
		pods[name] = env.pods(t, deployment)
	}
	require.NoError(t, env.openstack.Cloud.Fake.SetPassword(env.openstack.Account.User, specialCharacters))
	env.Shoot.Credentials["password"] = []byte(specialCharacters)
	env.reconcile(t)
	env.awaitRolledOut(t)

	namespace := env.Shoot.Namespace()
	seed := func(kind, name string) string { return "seed: " + kind + " " + namespace + "/" + name }
	after := env.snapshot(t)
	assert.ElementsMatch(t, []string{
		seed("Secret", "cloud-provider-config-*"), seed("Secret", "cloud-provider-disk-config-csi-*"),
		seed("Secret", "managedresource-"+resourceSeed+"-*"),
	}, withoutHashes(after.AddedSince(before)))
	assert.Equal(t, []string{seed("Secret", "managedresource-"+resourceSeed+"-*")}, withoutHashes(after.RemovedSince(before)))
	assert.Equal(t, []string{
		seed("ControlPlane", "one"), seed("Deployment", ccm), seed("Deployment", csiController),
		seed("ManagedResource", resourceSeed), seed("Secret", "cloudprovider"),
	}, after.ChangedSince(before))
	for name, deployment := range env.deployments(t) {
		replaced := slices.Contains([]string{ccm, csiController}, name)
		assert.Equal(t, replaced, !slices.Equal(pods[name], env.pods(t, deployment)), name)
	}

	t.Run("the one who uses them", func(t *testing.T) {
		env.ccm.rollOut(t)
		env.makeService(t, "after")
		for _, name := range []string{"web", "after"} {
			service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceDefault}}
			require.NoError(t, env.Cluster.Client.Delete(t.Context(), service))
			clusterstest.Eventually(t, name+" is gone", func() bool { return !clusterstest.Get(t, env.Cluster.Client, service) })
		}
		assert.Empty(t, env.loadBalancers(t))
		env.assertNothingForbidden(t)
		env.ccm.Stop()
	})
}

// withoutHashes replaces hashes in names by an asterisk.
func withoutHashes(names []string) []string {
	hashes := regexp.MustCompile(`(-[0-9a-f]{5,8})+$`)
	for i, name := range names {
		names[i] = hashes.ReplaceAllString(name, "-*")
	}
	return names
}
