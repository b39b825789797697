package shoot_test

import (
	"fmt"
	"testing"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	gardenerutils "github.com/gardener/gardener/pkg/utils/gardener"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// allowCloudControllerManager grants the rights in the shoot that it needs, and creates a Secret for a token.
func (env *environment) allowCloudControllerManager(t *testing.T) {
	t.Helper()
	rule := func(group, resource string, verbs ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
	}
	meta, local := metav1.ObjectMeta{Name: ccm}, metav1.ObjectMeta{Name: ccm, Namespace: metav1.NamespaceSystem}
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: ccm, Namespace: metav1.NamespaceSystem}}
	for _, object := range []client.Object{
		&rbacv1.ClusterRole{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
			rule("", "nodes", "get", "list", "watch", "update", "patch", "delete"),
			rule("", "nodes/status", "patch"),
			rule("", "services", "list", "watch", "patch"),
			rule("", "services/status", "patch"),
			rule("", "events", "create", "patch"),
			rule("authentication.k8s.io", "tokenreviews", "create"),
			rule("authorization.k8s.io", "subjectaccessreviews", "create"),
		}},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: meta, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: ccm},
		},
		&rbacv1.Role{ObjectMeta: local, Rules: []rbacv1.PolicyRule{
			rule("coordination.k8s.io", "leases", "get", "create", "update"),
			rule("", "configmaps", "get", "list", "watch"),
		}},
		&rbacv1.RoleBinding{
			ObjectMeta: local, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: ccm},
		},
	} {
		require.NoError(t, env.cluster.Client.Create(t.Context(), object))
	}
	require.NoError(t, gardenerutils.NewShootAccessSecret(ccm, env.shoot.Namespace()).Reconcile(t.Context(), env.seed.Client))
}

// deployCloudControllerManager creates its Deployment, and the Secrets that it mounts.
func (env *environment) deployCloudControllerManager(t *testing.T, site site) *appsv1.Deployment {
	t.Helper()
	certificate, key, err := cert.GenerateSelfSignedCertKey(ccm, nil, nil)
	require.NoError(t, err)
	meta := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: name, Namespace: env.shoot.Namespace()}
	}
	labels := map[string]string{"app": "kubernetes", "role": ccm}
	deployment := &appsv1.Deployment{ObjectMeta: meta(ccm), Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: podTemplate(labels, "default", v1beta1constants.PriorityClassNameShootControlPlane300),
	}}
	spec := &deployment.Spec.Template.Spec
	container := &spec.Containers[0]
	container.Name, container.Image = ccm, "registry.k8s.io/provider-os/openstack-cloud-controller-manager:v1.36.0"
	container.Command = []string{"/bin/openstack-cloud-controller-manager"}
	container.Args = env.ccmArgs()
	container.Env = []corev1.EnvVar{{Name: "WHO", Value: "a-test"}}
	for secret, path := range map[string]string{"cloud-config": "/etc/kubernetes/cloudprovider", "server": "/var/lib/cloud-controller-manager-server"} {
		spec.Volumes = append(spec.Volumes, corev1.Volume{
			Name: secret, VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: ccm + "-" + secret}},
		})
		container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: secret, MountPath: path})
	}
	require.NoError(t, gardenerutils.InjectGenericKubeconfig(deployment, env.genericKubeconfig(t), "shoot-access-"+ccm))
	for _, object := range []client.Object{
		&corev1.Secret{ObjectMeta: meta(ccm + "-cloud-config"), Data: map[string][]byte{"cloudprovider.conf": env.cloudConf(site)}},
		&corev1.Secret{ObjectMeta: meta(ccm + "-server"), Data: map[string][]byte{"tls.crt": certificate, "tls.key": key}},
		deployment,
	} {
		require.NoError(t, env.seed.Client.Create(t.Context(), object))
	}
	return deployment
}

func (env *environment) ccmArgs() []string {
	return []string{
		"--cloud-provider=openstack",
		"--cloud-config=/etc/kubernetes/cloudprovider/cloudprovider.conf",
		"--cluster-name=" + env.shoot.Namespace(),
		"--allocate-node-cidrs=true",
		"--cluster-cidr=100.96.0.0/11",
		"--configure-cloud-routes=true",
		"--kubeconfig=" + gardenerutils.PathGenericKubeconfig,
		"--authentication-kubeconfig=" + gardenerutils.PathGenericKubeconfig,
		"--authorization-kubeconfig=" + gardenerutils.PathGenericKubeconfig,
		"--leader-elect=true",
		"--secure-port=10258",
		"--tls-cert-file=/var/lib/cloud-controller-manager-server/tls.crt",
		"--tls-private-key-file=/var/lib/cloud-controller-manager-server/tls.key",
		"--user-agent=" + env.shoot.Namespace(),
		"--user-agent=$(WHO)",
		"--v=2",
	}
}

func (env *environment) cloudConf(site site) []byte {
	return fmt.Appendf(nil, `[Global]
auth-url=%q
region=%q
domain-name="Default"
tenant-name=%q
username=%q
password=%q
[LoadBalancer]
lb-version=v2
lb-provider=amphora
floating-network-id=%q
subnet-id=%q
[Route]
router-id=%q
`, env.cloud.AuthURL(), env.cloud.Region(), env.account.Project, env.account.User, env.account.Password, site.external, site.subnet, site.router)
}
