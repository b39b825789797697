//go:build kind

package kind

import (
	"testing"
	"time"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/audit"
	"github.com/trellis-garden/trellis/e2e/internal/kindseed"
)

// TestSeed checks the seed, on which all other tests depend.
func TestSeed(t *testing.T) {
	env := getEnvironment(t)
	pods := &corev1.PodList{}
	require.NoError(t, env.Client.List(t.Context(), pods, client.InNamespace(v1beta1constants.GardenNamespace)))
	assert.Len(t, pods.Items, 2, "gardener-resource-manager")
	for _, pod := range pods.Items {
		assert.Zero(t, pod.Status.ContainerStatuses[0].RestartCount, pod.Name)
	}
	for _, namespace := range []string{v1beta1constants.GardenNamespace, env.namespace(t, "worker-controller")} {
		assert.Subset(t, env.policies(t, namespace), []string{
			"deny-all", "allow-to-dns", "allow-to-runtime-apiserver", "allow-to-public-networks", "allow-to-private-networks",
		}, namespace)
	}
}

// TestControllers checks that all controllers run as their charts require.
func TestControllers(t *testing.T) {
	env := getEnvironment(t)
	for _, binary := range controllers() {
		t.Run(binary, func(t *testing.T) {
			t.Parallel() // the heartbeat is waited for
			pods := env.readyPods(t, binary)
			require.Len(t, pods, 2)
			for _, pod := range pods {
				assertPodHealthy(t, pod)
			}
			leader, err := env.Leader(t.Context(), binary)
			require.NoError(t, err)
			assert.Contains(t, []string{pods[0].Name, pods[1].Name}, leader.Name)
			users, err := env.Users(t.Context(), pods[0], binary)
			require.NoError(t, err)
			assert.Equal(t, []string{"65532", "65532"}, users, "nobody runs as root")
			env.assertHeartbeat(t, binary)
		})
	}
}

// assertPodHealthy checks that a controller's pod has a token of gardener-resource-manager, and did not fail.
func assertPodHealthy(t *testing.T, pod corev1.Pod) {
	t.Helper()
	assert.Zero(t, pod.Status.ContainerStatuses[0].RestartCount, pod.Name)
	var mounted bool
	for _, volume := range pod.Spec.Volumes {
		mounted = mounted || volume.Name == "kube-api-access-gardener" && volume.Projected != nil
	}
	assert.True(t, mounted, "%s has the token of its ServiceAccount", pod.Name)
}

// assertHeartbeat waits until the heartbeat that gardenlet reads is renewed.
func (env *environment) assertHeartbeat(t *testing.T, binary string) {
	t.Helper()
	const name = "gardener-extension-heartbeat"
	first, err := env.Lease(t.Context(), binary, name)
	require.NoError(t, err)
	assert.WithinDuration(t, time.Now(), first.Spec.RenewTime.Time, time.Minute)
	eventually(t, "the heartbeat of "+binary+" goes on", func() bool {
		next, err := env.Lease(t.Context(), binary, name)
		require.NoError(t, err)
		return next.Spec.RenewTime.After(first.Spec.RenewTime.Time)
	})
}

// TestControllers_RootDenied runs a controller's image as root in the controller's namespace, which the API server denies.
func TestControllers_RootDenied(t *testing.T) {
	env := getEnvironment(t)
	pod := env.readyPods(t, "infrastructure-controller")[0]
	asRoot := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "root-", Namespace: pod.Namespace},
		Spec:       *pod.Spec.DeepCopy(),
	}
	asRoot.Spec.NodeName = ""
	asRoot.Spec.SecurityContext.RunAsNonRoot, asRoot.Spec.SecurityContext.RunAsUser = nil, new(int64(0))
	require.ErrorContains(t, env.Client.Create(t.Context(), asRoot, client.DryRunAll), "violates PodSecurity")
}

// TestNetworkPolicies checks which connections of pods are permitted.
func TestNetworkPolicies(t *testing.T) {
	env := getEnvironment(t)
	controller := env.readyPods(t, "worker-controller")[0]
	node, err := env.NodeAddress()
	require.NoError(t, err)
	service := &corev1.Service{}
	require.NoError(t, env.Client.Get(t.Context(), client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: "kubernetes"}, service))
	var (
		apiServer = service.Spec.ClusterIP + ":443"
		cloud     = node + ":5000"
		webhooks  = controller.Status.PodIP + ":10250"
		metrics   = controller.Status.PodIP + ":8080"
		health    = controller.Status.PodIP + ":8081"
		bare      = map[string]string{"app": "stranger"}
		// gardener/docs/operations/network_policies.md
		scraper = map[string]string{"app": "prometheus", "networking.resources.gardener.cloud/to-extensions-all-seed-scrape-targets": "allowed"}
	)
	for description, c := range map[string]struct {
		namespace string
		labels    map[string]string
		address   string
		reaches   bool
	}{
		"a controller's labels permit the API server":                    {env.namespace(t, "worker-controller"), env.labels(t, "worker-controller"), apiServer, true},
		"a controller's labels permit the API server by its name":        {env.namespace(t, "worker-controller"), env.labels(t, "worker-controller"), "kubernetes.default.svc:443", true},
		"no labels permit nothing":                                       {env.namespace(t, "worker-controller"), bare, apiServer, false},
		"a controller's labels permit no other controller":               {env.namespace(t, "controlplane-controller"), env.labels(t, "controlplane-controller"), health, false},
		"webhooks are open to all, since the API server may be anywhere": {metav1.NamespaceDefault, bare, webhooks, true},
		"metrics are open to Prometheus only":                            {metav1.NamespaceDefault, bare, metrics, false},
		"the seed's Prometheus reads metrics by its labels":              {v1beta1constants.GardenNamespace, scraper, metrics, true},
		"the labels of infrastructure-controller permit the cloud":       {env.namespace(t, "infrastructure-controller"), env.labels(t, "infrastructure-controller"), cloud, true},
		"without labels the cloud is not permitted":                      {env.namespace(t, "infrastructure-controller"), bare, cloud, false},
		"network-controller has no labels for the cloud":                 {env.namespace(t, "network-controller"), env.labels(t, "network-controller"), cloud, false},
	} {
		t.Run(description, func(t *testing.T) {
			t.Parallel()
			reached, err := env.CanReach(t.Context(), c.namespace, c.labels, c.address)
			require.NoError(t, err)
			assert.Equal(t, c.reaches, reached, "%s -> %s", c.namespace, c.address)
		})
	}
}

// TestWebhooks creates objects that the webhooks change through their Services.
func TestWebhooks(t *testing.T) {
	env := getEnvironment(t)
	shoot := env.newShoot(t, "hooked")
	t.Cleanup(func() { env.release(t, shoot) })
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: shoot.Namespace(), Name: v1beta1constants.SecretNameCloudProvider}
	require.NoError(t, env.Client.Get(t.Context(), key, secret))
	assert.Equal(t, env.Cloud.AuthURL(), string(secret.Data["authURL"]), "the controlplane-controller completes credentials")
	assert.NotContains(t, shoot.Credentials, "authURL")
}

// TestShoot takes a shoot through its life, with all controllers and with real pods.
func TestShoot(t *testing.T) {
	env := getEnvironment(t)
	shoot := env.newShoot(t, "one")
	require.NoError(t, shoot.Create(t.Context()))
	nodes, err := shoot.Nodes(t.Context())
	require.NoError(t, err)
	require.Len(t, nodes, 2)
	for _, node := range nodes {
		assert.NotEmpty(t, node.Spec.ProviderID, "the cloud-controller-manager has seen %s", node.Name)
	}
	for _, name := range []string{"cloud-controller-manager", "machine-controller-manager", "csi-driver-controller", "csi-snapshot-controller"} {
		require.NoError(t, shoot.AwaitDeployment(t.Context(), name))
	}
	resources, err := shoot.Account.Resources(t.Context())
	require.NoError(t, err)
	assert.NotEmpty(t, resources)
	env.assertNothingForbidden(t, shoot)
	env.assertReachable(t, shoot)

	require.NoError(t, shoot.Delete(t.Context()))
	resources, err = shoot.Account.Resources(t.Context())
	require.NoError(t, err)
	assert.Empty(t, resources)
}

// assertReachable checks that the shoot's API server is reachable for the controllers that need it, and for no other pods.
func (env *environment) assertReachable(t *testing.T, shoot *kindseed.Shoot) {
	t.Helper()
	address := "kube-apiserver." + shoot.Namespace() + ".svc:443"
	for binary, reaches := range map[string]bool{"controlplane-controller": true, "network-controller": true, "infrastructure-controller": false} {
		reached, err := env.CanReach(t.Context(), env.namespace(t, binary), env.labels(t, binary), address)
		require.NoError(t, err)
		assert.Equal(t, reaches, reached, "%s -> %s", binary, address)
	}
}

// assertNothingForbidden checks that controllers and the shoot's pods had all rights in the seed that they used.
func (env *environment) assertNothingForbidden(t *testing.T, shoot *kindseed.Shoot) {
	t.Helper()
	for _, binary := range controllers() {
		refused, err := env.Audit().Forbidden(audit.UserOf(env.namespace(t, binary), kindseed.ObjectName(binary)))
		require.NoError(t, err)
		assert.Empty(t, refused, binary)
	}
	refused, err := env.Audit().Forbidden(audit.UserOf(shoot.Namespace(), v1beta1constants.DeploymentNameMachineControllerManager))
	require.NoError(t, err)
	assert.Empty(t, refused)
}

func (env *environment) namespace(t *testing.T, binary string) string {
	t.Helper()
	namespace, err := env.Namespace(t.Context(), binary)
	require.NoError(t, err)
	return namespace
}

// labels are those of a controller's pods, without those that its Service and its Deployment select.
func (env *environment) labels(t *testing.T, binary string) map[string]string {
	t.Helper()
	labels := env.readyPods(t, binary)[0].DeepCopy().Labels
	delete(labels, "pod-template-hash")
	delete(labels, "app.kubernetes.io/name")
	return labels
}

func (env *environment) policies(t *testing.T, namespace string) []string {
	t.Helper()
	list := &networkingv1.NetworkPolicyList{}
	require.NoError(t, env.Client.List(t.Context(), list, client.InNamespace(namespace)))
	var names []string
	for _, policy := range list.Items {
		names = append(names, policy.Name)
	}
	return names
}
