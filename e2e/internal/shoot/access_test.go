package shoot_test

import (
	"slices"
	"testing"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/gardener/gardener/pkg/client/kubernetes"
	gardenerutils "github.com/gardener/gardener/pkg/utils/gardener"
	"github.com/gardener/gardener/pkg/utils/gardener/tokenrequest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/audit"
	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
)

// testTokens connects to the shoot with the credentials in the seed.
func testTokens(t *testing.T, env *environment) {
	namespaces := &corev1.NamespaceList{}
	admin := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: v1beta1constants.SecretNameGardener, Namespace: env.shoot.Namespace()}}
	require.True(t, clusterstest.Get(t, env.seed.Client, admin))
	config, err := clientcmd.RESTConfigFromKubeConfig(admin.Data[kubernetes.KubeConfig])
	require.NoError(t, err)
	clusterstest.Eventually(t, "Gardener has all rights", func() bool { return clientFor(t, config).List(t.Context(), namespaces) == nil })

	access := gardenerutils.NewShootAccessSecret("component", env.shoot.Namespace())
	require.NoError(t, access.Reconcile(t.Context(), env.seed.Client))
	first := env.awaitToken(t, access.Secret, "")
	require.True(t, clusterstest.Get(t, env.cluster.Client, &corev1.ServiceAccount{
		ObjectMeta: metav1.ObjectMeta{Name: "component", Namespace: metav1.NamespaceSystem},
	}))
	component := env.genericConfig(t)
	component.BearerToken = first
	err = clientFor(t, component).List(t.Context(), namespaces)
	assert.True(t, apierrors.IsForbidden(err), "known, but without a right: %v", err)
	assert.ErrorContains(t, err, "system:serviceaccount:kube-system:component")
	clusterstest.Eventually(t, "the refusal is recorded", func() bool { return slices.Contains(env.forbidden(t, "component"), "list namespaces /") })

	require.NoError(t, tokenrequest.RenewAccessSecrets(t.Context(), env.seed.Client, client.InNamespace(env.shoot.Namespace())))
	component.BearerToken = env.awaitToken(t, access.Secret, first)
	assert.True(t, apierrors.IsForbidden(clientFor(t, component).List(t.Context(), namespaces)), "a new token is as good")
}

// genericKubeconfig returns the name of the Secret with it, from the Cluster.
func (env *environment) genericKubeconfig(t *testing.T) string {
	t.Helper()
	cluster := &extensionsv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: env.shoot.Namespace()}}
	require.True(t, clusterstest.Get(t, env.seed.Client, cluster))
	return cluster.Annotations[v1beta1constants.AnnotationKeyGenericTokenKubeconfigSecretName]
}

// genericConfig reads the generic kubeconfig, which has the path of a token.
func (env *environment) genericConfig(t *testing.T) *rest.Config {
	t.Helper()
	name := env.genericKubeconfig(t)
	assert.Regexp(t, "^generic-token-kubeconfig-[0-9a-f]{8}$", name)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: env.shoot.Namespace()}}
	require.True(t, clusterstest.Get(t, env.seed.Client, secret))
	kubeconfig, err := clientcmd.Load(secret.Data[kubernetes.KubeConfig])
	require.NoError(t, err)
	user := kubeconfig.AuthInfos[kubeconfig.Contexts[kubeconfig.CurrentContext].AuthInfo]
	assert.Equal(t, gardenerutils.PathShootToken, user.TokenFile)
	user.TokenFile = ""
	config, err := clientcmd.NewDefaultClientConfig(*kubeconfig, nil).ClientConfig()
	require.NoError(t, err)
	return config
}

// awaitToken waits until the token in a Secret has changed, and returns it.
func (env *environment) awaitToken(t *testing.T, secret *corev1.Secret, than string) (token string) {
	t.Helper()
	clusterstest.Eventually(t, "there is a new token", func() bool {
		require.True(t, clusterstest.Get(t, env.seed.Client, secret))
		token = string(secret.Data["token"])
		return token != than
	})
	return token
}

func (env *environment) forbidden(t *testing.T, serviceAccount string) []string {
	t.Helper()
	refused, err := env.cluster.AuditLog().Forbidden(audit.UserOf(metav1.NamespaceSystem, serviceAccount))
	require.NoError(t, err)
	return refused
}

func clientFor(t *testing.T, config *rest.Config) client.Client {
	t.Helper()
	c, err := client.New(config, client.Options{Scheme: kubernetes.ShootScheme})
	require.NoError(t, err)
	return c
}

// testHibernation hibernates the shoot's API server, and wakes it up; then it is stopped.
func testHibernation(t *testing.T, env *environment) {
	made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "made-before", Namespace: metav1.NamespaceDefault}}
	require.NoError(t, env.cluster.Client.Create(t.Context(), made))
	require.NoError(t, env.gardenlet.ScaleAPIServer(t.Context(), env.shoot, 0))
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: v1beta1constants.DeploymentNameKubeAPIServer, Namespace: env.shoot.Namespace()}}
	require.True(t, clusterstest.Get(t, env.seed.Client, deployment))
	assert.Zero(t, deployment.Status.Replicas)
	assert.Zero(t, clusterstest.Pods(t, env.seed.Client, env.shoot.Namespace(), deployment.Spec.Selector.MatchLabels))
	require.NoError(t, env.cluster.Hibernate())
	require.Error(t, env.cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(made), made))

	require.NoError(t, env.cluster.WakeUp(t.Context()))
	require.NoError(t, env.gardenlet.ScaleAPIServer(t.Context(), env.shoot, 1))
	assert.True(t, clusterstest.Get(t, env.cluster.Client, made), "nothing is lost")
	require.NoError(t, env.gardenlet.RemoveAccess(t.Context(), env.shoot), "the resource manager has found the shoot again")

	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: env.shoot.Namespace()}}
	require.NoError(t, env.seed.Client.Delete(t.Context(), namespace))
	clusterstest.Eventually(t, "the shoot's namespace is gone", func() bool { return !clusterstest.Get(t, env.seed.Client, namespace) })
}
