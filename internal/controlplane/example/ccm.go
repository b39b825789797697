package example

import (
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/controlplane/component"
)

const (
	// ccmName is the name of the Deployment, of its image, and of the ServiceAccount in the shoot.
	ccmName = "cloud-controller-manager"
	// ccmCertificate is its server certificate for metrics and health, ccmServerFolder the folder where it is mounted.
	ccmCertificate  = "cloud-controller-manager-server"
	ccmServerFolder = "/var/lib/cloud-controller-manager-server"
	ccmPort         = 10258

	// rolePrefix is the prefix of the names of roles and bindings in the shoot.
	rolePrefix = "extensions.gardener.cloud:provider-example:"
	// nonrootUser is the user of images without a distribution.
	nonrootUser = 65532
)

// cloudControllerManager initializes nodes and creates load balancers.
func (in *inputs) cloudControllerManager() component.Component {
	return component.Component{
		Name:     ccmName,
		Selector: map[string]string{v1beta1constants.LabelApp: ccmName},
		Priority: v1beta1constants.PriorityClassNameShootControlPlane300,
		User:     nonrootUser,
		Containers: []component.Container{{
			Name:  ccmName,
			Image: ccmName,
			Args: []string{
				"--cloud-config=" + cloudConfigFolder + "/" + cloudConfigFile,
				"--cluster-name=" + in.clusterName,
				"--kubeconfig=" + component.KubeconfigPath,
				"--tls-cert-file=" + ccmServerFolder + "/tls.crt",
				"--tls-private-key-file=" + ccmServerFolder + "/tls.key",
			},
			Ports: []corev1.ContainerPort{{Name: "metrics", ContainerPort: ccmPort, Protocol: corev1.ProtocolTCP}},
			Liveness: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
				Path: "/healthz", Scheme: corev1.URISchemeHTTPS, Port: intstr.FromInt32(ccmPort),
			}}},
			Requests:    corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("64Mi")},
			Files:       []component.Files{{Source: cloudConfigName, Path: cloudConfigFolder}, {Source: ccmCertificate, Path: ccmServerFolder}},
			ShootAccess: ccmName,
		}},
		Egress:  []component.Destination{component.PublicNetworks, component.PrivateNetworks},
		Metrics: &component.Metrics{Port: "metrics", Certificate: ccmCertificate, Keep: []string{"process_cpu_seconds_total", "process_resident_memory_bytes"}},
	}
}

// ccmRBAC are the permissions of the cloud-controller-manager in the shoot.
func ccmRBAC() []client.Object {
	name := rolePrefix + ccmName
	typeMeta := func(kind string) metav1.TypeMeta {
		return metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: kind}
	}
	return []client.Object{
		&rbacv1.ClusterRole{TypeMeta: typeMeta("ClusterRole"), ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"get", "list", "watch", "update", "patch", "delete"}},
			{APIGroups: []string{""}, Resources: []string{"nodes/status", "services/status"}, Verbs: []string{"patch"}},
			{APIGroups: []string{""}, Resources: []string{"services"}, Verbs: []string{"list", "watch", "patch"}},
			{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}},
			{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"create", "get", "update"}},
		}},
		&rbacv1.ClusterRoleBinding{
			TypeMeta: typeMeta("ClusterRoleBinding"), ObjectMeta: metav1.ObjectMeta{Name: name},
			RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: ccmName, Namespace: metav1.NamespaceSystem}},
		},
	}
}
