package controlplane

import (
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/e2e/internal/ground/groundtest"
)

// nasty is a password that means something in every language on its way into a file.
const nasty = "q\"uo'te\\ back #hash ;semi =eq [x] %20 $HOME `w`\nnewline"

// testCredentials changes the password of the shoot's account. What uses it is replaced, and nothing else.
func testCredentials(t *testing.T, w *world) {
	before, deployments, pods := w.look(t), w.deployments(t), map[string][]string{}
	for name, deployment := range deployments {
		pods[name] = w.pods(t, deployment)
	}
	require.NoError(t, w.Cloud.StandIn.SetPassword(w.Account.User, nasty))
	w.Shoot.Credentials["password"] = []byte(nasty)
	w.fulfil(t)
	w.awaitRolledOut(t)

	namespace := w.Shoot.Namespace()
	seed := func(kind, name string) string { return "seed: " + kind + " " + namespace + "/" + name }
	after := w.look(t)
	assert.ElementsMatch(t, []string{
		seed("Secret", "cloud-provider-config-*"), seed("Secret", "cloud-provider-disk-config-csi-*"),
		seed("Secret", "managedresource-"+resourceSeed+"-*"),
	}, withoutHashes(after.Since(before)))
	assert.Equal(t, []string{seed("Secret", "managedresource-"+resourceSeed+"-*")}, withoutHashes(after.LostSince(before)))
	assert.Equal(t, []string{
		seed("ControlPlane", "one"), seed("Deployment", ccm), seed("Deployment", csiController),
		seed("ManagedResource", resourceSeed), seed("Secret", "cloudprovider"),
	}, after.ChangedSince(before))
	for name, deployment := range w.deployments(t) {
		replaced := slices.Contains([]string{ccm, csiController}, name)
		assert.Equal(t, replaced, !slices.Equal(pods[name], w.pods(t, deployment)), name)
	}

	t.Run("the one who uses them", func(t *testing.T) {
		w.ccm.rollOut(t)
		w.makeService(t, "after")
		for _, name := range []string{"web", "after"} {
			service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceDefault}}
			require.NoError(t, w.Cluster.Client.Delete(t.Context(), service))
			groundtest.Eventually(t, name+" is gone", func() bool { return !groundtest.Get(t, w.Cluster.Client, service) })
		}
		assert.Empty(t, w.loadBalancers(t))
		w.assertNothingRefused(t)
		w.ccm.Stop()
	})
}

// withoutHashes puts an asterisk in the place of what says in a name which content it is.
func withoutHashes(names []string) []string {
	hashes := regexp.MustCompile(`(-[0-9a-f]{5,8})+$`)
	for i, name := range names {
		names[i] = hashes.ReplaceAllString(name, "-*")
	}
	return names
}
