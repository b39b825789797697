package openstack

import (
	"cmp"
	"path"
	"slices"
	"strings"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/trellis-garden/trellis/internal/controlplane/component"
	"github.com/trellis-garden/trellis/internal/controlplane/featuregates"
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
)

// cloudControllerManager initializes nodes, and creates load balancers and, if pods are routed natively, routes.
func (in *inputs) cloudControllerManager() component.Component {
	return component.Component{
		Name: ccmName,
		Selector: map[string]string{
			v1beta1constants.LabelApp: v1beta1constants.LabelKubernetes, v1beta1constants.LabelRole: ccmName,
		},
		Priority:   v1beta1constants.PriorityClassNameShootControlPlane300,
		User:       nonrootUser,
		Containers: []component.Container{in.ccmContainer()},
		Egress:     []component.Destination{component.PublicNetworks, component.PrivateNetworks},
		Metrics:    ccmMetrics(),
	}
}

func (in *inputs) ccmContainer() component.Container {
	return component.Container{
		Name:    "openstack-cloud-controller-manager",
		Image:   ccmName,
		Command: []string{"/bin/openstack-cloud-controller-manager"},
		Args:    in.ccmFlags(),
		Ports:   []corev1.ContainerPort{{Name: "metrics", ContainerPort: ccmPort, Protocol: corev1.ProtocolTCP}},
		Liveness: &corev1.Probe{
			ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
				Path: "/healthz", Scheme: corev1.URISchemeHTTPS, Port: intstr.FromInt32(ccmPort),
			}},
			InitialDelaySeconds: 15, PeriodSeconds: 10, TimeoutSeconds: 15, SuccessThreshold: 1, FailureThreshold: 2,
		},
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("20m"), corev1.ResourceMemory: resource.MustParse("64Mi")},
		Files: []component.Files{
			{Source: ccmConfigName, Path: cloudConfigFolder},
			{Source: ccmCertificate, Path: ccmServerFolder},
		},
		ShootAccess: ccmName,
	}
}

// ccmFlags leaves out --use-service-account-credentials: with it, the cloud-controller-manager would need the right to create tokens for any
// ServiceAccount.
func (in *inputs) ccmFlags() []string {
	flags := []string{
		"--cloud-provider=openstack",
		"--cloud-config=" + path.Join(cloudConfigFolder, cloudConfigFile),
		"--cluster-name=" + in.clusterName,
		"--concurrent-service-syncs=10",
		"--kubeconfig=" + component.KubeconfigPath,
		"--authentication-kubeconfig=" + component.KubeconfigPath,
		"--authorization-kubeconfig=" + component.KubeconfigPath,
		"--leader-elect=true",
		"--profiling=false",
		"--v=2",
	}
	flags = append(flags, component.ServingFlags(ccmPort, ccmServerFolder)...)
	flags = append(flags, in.routeFlags()...)
	flags = append(flags, in.featureGates().Flags()...)
	for _, agent := range in.userAgents() {
		flags = append(flags, "--user-agent="+agent)
	}
	return flags
}

// featureGates are the user's for the cloud-controller-manager.
func (in *inputs) featureGates() featuregates.Gates {
	gates := featuregates.Gates{KubernetesVersion: in.kubernetesVersion}
	if manager := in.config.CloudControllerManager; manager != nil {
		gates.Configured = manager.FeatureGates
	}
	return gates
}

// routeFlags switch the route controller, which is on by default. The ranges of nodes are kube-controller-manager's to give in
// any case.
func (in *inputs) routeFlags() []string {
	if !in.routesPods {
		return []string{"--configure-cloud-routes=false"}
	}
	return []string{
		"--configure-cloud-routes=true",
		"--allocate-node-cidrs=true",
		"--cluster-cidr=" + strings.Join(in.podRanges, ","),
	}
}

// userAgents name the shoot in the logs of OpenStack. An application credential may leave domain and project open.
func (in *inputs) userAgents() []string {
	return slices.DeleteFunc([]string{
		cmp.Or(in.credentials.DomainName, in.credentials.DomainID),
		cmp.Or(in.credentials.TenantName, in.credentials.TenantID),
		in.technicalID,
	}, func(agent string) bool { return agent == "" })
}

func ccmMetrics() *component.Metrics {
	const job = `{job="` + ccmName + `"}`
	return &component.Metrics{
		Port:        "metrics",
		Certificate: ccmCertificate,
		Keep: []string{
			"rest_client_requests_total", "process_max_fds", "process_open_fds",
			"openstack_api_requests_total", "openstack_api_request_errors_total",
			"cloudprovider_openstack_reconcile_total", "cloudprovider_openstack_reconcile_errors_total",
		},
		Alerts: []component.Alert{
			{
				Name:       "CloudControllerManagerDown",
				Expression: `absent(up` + job + ` == 1)`,
				For:        "15m",
				Severity:   "critical", Visibility: "all",
				Summary:     "The cloud-controller-manager is down.",
				Description: "New nodes stay out of use, and load balancers and routes do not follow the Services and nodes of the shoot.",
			},
			{
				Name: "CloudControllerManagerRefusedByOpenStack",
				Expression: `sum(rate(openstack_api_request_errors_total` + job + `[15m])) / sum(rate(openstack_api_requests_total` +
					job + `[15m])) > 0.5`,
				For:      "30m",
				Severity: "warning", Visibility: "all",
				Summary:     "OpenStack refuses most requests of the cloud-controller-manager.",
				Description: "More than half of its requests fail: look whether the credentials of the shoot are still good, and for a quota that is exhausted.",
			},
		},
	}
}
