package aws

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/controlplane"
	"github.com/trellis-garden/trellis/internal/controlplane/component"
)

const (
	namespace   = "shoot--dev--one"
	accessKeyID = "AKIAIOSFODNN7EXAMPLE"
	secretKey   = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
	roleARN     = "arn:aws:iam::123456789012:role/shoots"
)

// document returns a document of AWS' API.
func document(kind, fields string) *runtime.RawExtension {
	return &runtime.RawExtension{Raw: []byte(`{"apiVersion":"aws.provider.extensions.gardener.cloud/v1alpha1","kind":"` + kind + `"` + fields + `}`)}
}

func accessKey() map[string][]byte {
	return map[string][]byte{"accessKeyID": []byte(accessKeyID), "secretAccessKey": []byte(secretKey)}
}

func workloadIdentity() map[string][]byte {
	return map[string][]byte{"config": document("WorkloadIdentityConfig", `,"roleARN":"`+roleARN+`"`).Raw, "token": []byte("a.jwt.token")}
}

const subnets = `{"purpose":"internal","id":"subnet-internal-b","zone":"eu-west-1b"},
	{"purpose":"public","id":"subnet-public-b","zone":"eu-west-1b"},
	{"purpose":"nodes","id":"subnet-nodes-a","zone":"eu-west-1a"},
	{"purpose":"public","id":"subnet-public-a","zone":"eu-west-1a"},
	{"purpose":"internal","id":"subnet-internal-a","zone":"eu-west-1a"}`

func infrastructureStatus(subnets, more string) *runtime.RawExtension {
	return document("InfrastructureStatus", `,"ec2":{"keyName":""},"iam":{"instanceProfiles":[],"roles":[]},"vpc":{"id":"vpc-1","subnets":[`+
		subnets+`],"securityGroups":[]}`+more)
}

// awsShoot returns a shoot with IPv4 whose pods are routed natively, with an access key.
func awsShoot(changes ...func(*controlplane.Shoot)) *controlplane.Shoot {
	shoot := &controlplane.Shoot{
		ControlPlane: &extensionsv1alpha1.ControlPlane{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace},
			Spec: extensionsv1alpha1.ControlPlaneSpec{
				DefaultSpec: extensionsv1alpha1.DefaultSpec{
					ProviderConfig: document("ControlPlaneConfig", `,"cloudControllerManager":{"useCustomRouteController":true}`),
				},
				Region:                       "eu-west-1",
				InfrastructureProviderStatus: infrastructureStatus(subnets, ""),
			},
		},
		Cluster: &contract.Cluster{Shoot: &gardencorev1beta1.Shoot{
			Spec: gardencorev1beta1.ShootSpec{
				Region:     "eu-west-1",
				Kubernetes: gardencorev1beta1.Kubernetes{Version: "1.36.3"},
				Networking: &gardencorev1beta1.Networking{
					Type:           new("calico"),
					ProviderConfig: &runtime.RawExtension{Raw: []byte(`{"overlay":{"enabled":false}}`)},
					IPFamilies:     []gardencorev1beta1.IPFamily{gardencorev1beta1.IPFamilyIPv4},
				},
				Provider: gardencorev1beta1.Provider{
					Type: Type, InfrastructureConfig: document("InfrastructureConfig", `,"networks":{"vpc":{"cidr":"10.250.0.0/16"},"zones":[]}`),
				},
			},
		}, CloudProfile: &gardencorev1beta1.CloudProfile{}},
		Credentials: accessKey(),
		TechnicalID: namespace,
		PodRanges:   []string{"100.96.0.0/11"},
	}
	for _, change := range changes {
		change(shoot)
	}
	return shoot
}

func withConfig(fields string) func(*controlplane.Shoot) {
	return func(shoot *controlplane.Shoot) {
		shoot.ControlPlane.Spec.ProviderConfig = document("ControlPlaneConfig", fields)
	}
}

func withKubernetes(version string) func(*controlplane.Shoot) {
	return func(shoot *controlplane.Shoot) { shoot.Cluster.Shoot.Spec.Kubernetes.Version = version }
}

func withAnnotation(name, value string) func(*controlplane.Shoot) {
	return func(shoot *controlplane.Shoot) {
		metav1.SetMetaDataAnnotation(&shoot.Cluster.Shoot.ObjectMeta, name, value)
	}
}

func withFamilies(families ...gardencorev1beta1.IPFamily) func(*controlplane.Shoot) {
	return func(shoot *controlplane.Shoot) { shoot.Cluster.Shoot.Spec.Networking.IPFamilies = families }
}

// dualStack is a shoot with both families, IPv6 first, a workload identity, an elastic file system and the load balancer controller.
func dualStack(shoot *controlplane.Shoot) {
	withConfig(`,"cloudControllerManager":{"useCustomRouteController":true},"loadBalancerController":{"enabled":true}`)(shoot)
	withFamilies(gardencorev1beta1.IPFamilyIPv6, gardencorev1beta1.IPFamilyIPv4)(shoot)
	shoot.PodRanges = []string{"100.96.0.0/11", "2001:db8::/56"}
	shoot.ControlPlane.Spec.InfrastructureProviderStatus = infrastructureStatus(subnets, `,"elasticFileSystem":{"ID":"fs-1"}`)
	shoot.Credentials = workloadIdentity()
	shoot.Cluster.Shoot.Status.Networking = &gardencorev1beta1.NetworkingStatus{Nodes: []string{"2001:db8::/56", "10.250.0.0/16"}}
}

func planOf(t *testing.T, shoot *controlplane.Shoot) *controlplane.Plan {
	t.Helper()
	require.Empty(t, New().Validate(shoot))
	plan, err := New().Plan(shoot)
	require.NoError(t, err)
	return plan
}

// isNamed matches the component with a name.
func isNamed(name string) func(component.Component) bool {
	return func(c component.Component) bool { return c.Name == name }
}
