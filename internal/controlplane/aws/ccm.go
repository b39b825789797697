package aws

import (
	"path"
	"strings"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/controlplane/component"
	"github.com/trellis-garden/trellis/internal/controlplane/featuregates"
	"github.com/trellis-garden/trellis/internal/controlplane/rbac"
)

const (
	// ccmName is the name of the Deployment, of its image, and of the ServiceAccount in the shoot.
	ccmName = "cloud-controller-manager"
	// ccmCertificate is its server certificate for metrics and health.
	ccmCertificate = "cloud-controller-manager-server"

	ccmPort         = 10258
	ccmServerFolder = "/var/lib/cloud-controller-manager-server"
	// nonrootUser is the user of images without a distribution.
	nonrootUser = 65532

	// rolePrefix is the prefix of the names of roles and bindings in the shoot.
	rolePrefix = "extensions.gardener.cloud:provider-aws:"
	// upstreamCCMBinding is the ClusterRoleBinding by which upstream's extension makes the cloud-controller-manager an administrator of the shoot. ccmRole is
	// another name, since the role of a binding cannot be changed.
	upstreamCCMBinding = rolePrefix + ccmName
	ccmRole            = upstreamCCMBinding + ":controllers"
)

// cloudControllerManager initializes nodes and creates load balancers. Routes are the custom route controller's, which supports a route table in each zone.
func (in *inputs) cloudControllerManager() component.Component {
	return component.Component{
		Name: ccmName,
		Selector: map[string]string{
			v1beta1constants.LabelApp: v1beta1constants.LabelKubernetes, v1beta1constants.LabelRole: ccmName,
		},
		Priority:   v1beta1constants.PriorityClassNameShootControlPlane300,
		User:       nonrootUser,
		Containers: []component.Container{in.withCredentials(in.ccmContainer())},
		Egress:     []component.Destination{component.PublicNetworks},
		Metrics:    ccmMetrics(),
	}
}

func (in *inputs) ccmContainer() component.Container {
	return component.Container{
		Name:    "aws-cloud-controller-manager",
		Image:   ccmName,
		Command: []string{"/bin/aws-cloud-controller-manager"},
		Args:    in.ccmFlags(),
		Ports:   []corev1.ContainerPort{{Name: "metrics", ContainerPort: ccmPort, Protocol: corev1.ProtocolTCP}},
		Liveness: &corev1.Probe{
			ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
				Path: "/healthz", Scheme: corev1.URISchemeHTTPS, Port: intstr.FromInt32(ccmPort),
			}},
			InitialDelaySeconds: 15, PeriodSeconds: 10, TimeoutSeconds: 15, SuccessThreshold: 1, FailureThreshold: 2,
		},
		Requests: requests("20m", "64Mi"),
		Files: []component.Files{
			{Source: cloudConfigName, Path: cloudConfigFolder},
			{Source: ccmCertificate, Path: ccmServerFolder},
		},
		ShootAccess: ccmName,
	}
}

// ccmFlags leaves out --use-service-account-credentials: with it, the cloud-controller-manager would need the right to create tokens for any
// ServiceAccount.
func (in *inputs) ccmFlags() []string {
	flags := []string{
		"--allocate-node-cidrs=false",
		"--cloud-provider=aws",
		"--cloud-config=" + path.Join(cloudConfigFolder, cloudConfigFile),
		"--cluster-name=" + in.technicalID,
		"--concurrent-service-syncs=10",
		"--configure-cloud-routes=false",
		"--kubeconfig=" + component.KubeconfigPath,
		"--authentication-kubeconfig=" + component.KubeconfigPath,
		"--authorization-kubeconfig=" + component.KubeconfigPath,
		"--leader-elect=true",
		"--profiling=false",
		"--v=2",
	}
	if len(in.podRanges) > 0 {
		flags = append(flags, "--cluster-cidr="+strings.Join(in.podRanges, ","))
	}
	if !in.hasLoadBalancerSubnets() {
		flags = append(flags, "--controllers=*,-service") // no Service could get a load balancer
	}
	flags = append(flags, component.ServingFlags(ccmPort, ccmServerFolder)...)
	return append(flags, in.featureGates().Flags()...)
}

// featureGates are the user's for the cloud-controller-manager.
func (in *inputs) featureGates() featuregates.Gates {
	gates := featuregates.Gates{KubernetesVersion: in.kubernetesVersion}
	if manager := in.config.CloudControllerManager; manager != nil {
		gates.Configured = manager.FeatureGates
	}
	return gates
}

func requests(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
}

// retiredBinding is upstream's binding without subjects. Upstream's extension makes gardener-resource-manager keep it; this one may be deleted.
func retiredBinding() client.Object {
	binding := rbac.ClusterRoleBinding(upstreamCCMBinding, "cluster-admin")
	binding.Annotations = map[string]string{resourcesv1alpha1.KeepObject: "false"}
	return binding
}

func ccmMetrics() *component.Metrics {
	const job = `{job="` + ccmName + `"}`
	return &component.Metrics{
		Port:        "metrics",
		Certificate: ccmCertificate,
		Keep: []string{
			"rest_client_requests_total", "process_max_fds", "process_open_fds",
			"cloudprovider_aws_api_request_duration_seconds_count", "cloudprovider_aws_api_request_errors", "cloudprovider_aws_api_throttled_requests_total",
		},
		Alerts: []component.Alert{
			{
				Name:       "CloudControllerManagerDown",
				Expression: `absent(up` + job + ` == 1)`,
				For:        "15m",
				Severity:   "critical", Visibility: "all",
				Summary:     "The cloud-controller-manager is down.",
				Description: "New nodes stay out of use, and load balancers do not follow the Services and nodes of the shoot.",
			},
			{
				Name: "CloudControllerManagerRefusedByAWS",
				Expression: `sum(rate(cloudprovider_aws_api_request_errors` + job + `[15m])) / (sum(rate(cloudprovider_aws_api_request_errors` + job +
					`[15m])) + sum(rate(cloudprovider_aws_api_request_duration_seconds_count` + job + `[15m]))) > 0.5`,
				For:      "30m",
				Severity: "warning", Visibility: "all",
				Summary:     "AWS refuses most requests of the cloud-controller-manager.",
				Description: "More than half of its requests fail: look whether the credentials of the shoot are still good and have all permissions, and for a quota that is exhausted.",
			},
		},
	}
}
