package aws

import (
	"fmt"
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/trellis-garden/trellis/internal/controlplane"
	"github.com/trellis-garden/trellis/internal/controlplane/component"
	"github.com/trellis-garden/trellis/internal/controlplane/rbac"
)

const (
	routeControllerName = "aws-custom-route-controller"
	ipamControllerName  = "aws-ipam-controller"

	nodeControllerMetricsPort = 10258
	nodeControllerHealthPort  = 10259
	// ipamDefaultRange stands for the ranges of pods of IPv4 in a shoot that has none.
	ipamDefaultRange = "192.168.0.0/16"
)

// routeController programs a route to each node's range of pods in all route tables of the shoot.
func (in *inputs) routeController() component.Component {
	c := in.nodeController(routeControllerName, []string{
		"--pod-network-cidr=" + strings.Join(in.podRangesOf(gardencorev1beta1.IPFamilyIPv4), ","),
	})
	// The third label is part of the selector, which cannot be changed.
	c.Selector["clusterrole"] = routeControllerName
	c.Metrics = nodeControllerMetrics(component.Alert{
		Name:       "CustomRouteControllerDown",
		Expression: `absent(up{job="` + routeControllerName + `"} == 1)`,
		For:        "15m",
		Severity:   "critical", Visibility: "all",
		Summary:     "The aws-custom-route-controller is down.",
		Description: "Pods on new nodes cannot be reached from other nodes.",
	})
	return c
}

// routeEvents: the controller reports a route that it cannot program. The one cause that only users can remove is a full route table.
func routeEvents() controlplane.EventReporter {
	return controlplane.EventReporter{
		Account: routeControllerName,
		Codes:   map[string]gardencorev1beta1.ErrorCode{"RouteLimitExceeded": gardencorev1beta1.ErrorInfraQuotaExceeded},
	}
}

// ipamController gives nodes their ranges of pods: those of IPv6 are prefixes of their network interfaces, which kube-controller-manager does not know.
func (in *inputs) ipamController() component.Component {
	ranges := in.podRangesOf(gardencorev1beta1.IPFamilyIPv4)
	if len(ranges) == 0 {
		ranges = []string{ipamDefaultRange}
	}
	maskIPv4, maskIPv6 := int32(24), int32(64)
	switch {
	case in.nodeMaskSize == 0 || len(in.families) != 1:
	case in.hasFamily(gardencorev1beta1.IPFamilyIPv4):
		maskIPv4 = in.nodeMaskSize
	default:
		maskIPv6 = in.nodeMaskSize
	}
	c := in.nodeController(ipamControllerName, []string{
		"--mode=" + in.ipamMode(),
		"--primary-ip-family=" + strings.ToLower(string(in.families[0])),
		"--cluster-cidrs=" + strings.Join(ranges, ","),
		fmt.Sprintf("--node-cidr-mask-size-ipv4=%d", maskIPv4),
		fmt.Sprintf("--node-cidr-mask-size-ipv6=%d", maskIPv6),
		"--v=2",
	})
	c.Metrics = nodeControllerMetrics(component.Alert{
		Name:       "IPAMControllerDown",
		Expression: `absent(up{job="` + ipamControllerName + `"} == 1)`,
		For:        "15m",
		Severity:   "critical", Visibility: "all",
		Summary:     "The aws-ipam-controller is down.",
		Description: "New nodes get no addresses for their pods, and stay out of use.",
	})
	return c
}

func (in *inputs) ipamMode() string {
	if len(in.families) > 1 {
		return "dual-stack"
	}
	return strings.ToLower(string(in.families[0]))
}

// nodeController is what both controllers have in common: they watch the nodes of the shoot, and read the credentials from the seed by themselves.
func (in *inputs) nodeController(name string, args []string) component.Component {
	container := component.Container{
		Name:    name,
		Image:   name,
		Command: []string{"/" + name},
		Args: append([]string{
			"--control-kubeconfig=inClusterConfig",
			"--cluster-name=" + in.technicalID,
			"--namespace=" + in.namespace,
			"--region=" + in.region,
			"--target-kubeconfig=" + component.KubeconfigPath,
			fmt.Sprintf("--health-probe-port=%d", nodeControllerHealthPort),
			fmt.Sprintf("--metrics-port=%d", nodeControllerMetricsPort),
			"--leader-election=true",
			"--leader-election-namespace=" + metav1.NamespaceSystem,
		}, args...),
		Ports: []corev1.ContainerPort{
			{Name: "metrics", ContainerPort: nodeControllerMetricsPort, Protocol: corev1.ProtocolTCP},
			{Name: "healthz", ContainerPort: nodeControllerHealthPort, Protocol: corev1.ProtocolTCP},
		},
		Liveness: &corev1.Probe{
			ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
				Path: "/healthz", Scheme: corev1.URISchemeHTTP, Port: intstr.FromInt32(nodeControllerHealthPort),
			}},
			InitialDelaySeconds: 30, PeriodSeconds: 10, TimeoutSeconds: 5, SuccessThreshold: 1, FailureThreshold: 3,
		},
		Requests:    requests("10m", "32Mi"),
		ShootAccess: name,
	}
	return in.readsCredentials(component.Component{
		Name:       name,
		Selector:   map[string]string{v1beta1constants.LabelApp: v1beta1constants.LabelKubernetes, v1beta1constants.LabelRole: name},
		Priority:   v1beta1constants.PriorityClassNameShootControlPlane300,
		User:       nonrootUser,
		Containers: []component.Container{in.withIdentity(container)},
		Egress:     []component.Destination{component.PublicNetworks},
	})
}

// nodeControllerMetrics are those of controller-runtime, without TLS: none says anything of a shoot's content.
func nodeControllerMetrics(alerts ...component.Alert) *component.Metrics {
	return &component.Metrics{
		Port:   "metrics",
		Keep:   []string{"process_max_fds", "process_open_fds", "rest_client_requests_total", "controller_runtime_reconcile_total"},
		Alerts: alerts,
	}
}

// credentialsRules permit to read the credentials in the seed, and no other Secret of the shoot's namespace.
func credentialsRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{rbac.NamedRule("", "secrets", []string{v1beta1constants.SecretNameCloudProvider}, "get")}
}

// routeControllerPermissions: it reports routes in a condition of nodes, and problems in Events.
func routeControllerPermissions() rbac.Permissions {
	return rbac.Permissions{
		Name: rolePrefix + routeControllerName, Account: routeControllerName,
		Rules: []rbacv1.PolicyRule{
			rbac.WatchRule("", "nodes"),
			rbac.Rule("", "nodes/status", "get", "patch", "update"),
			rbac.Rule("", "events", "create", "patch", "update"),
			rbac.Rule("events.k8s.io", "events", "create", "patch", "update"),
		},
		SystemRules: rbac.LeaderElectionRules(routeControllerName + "-leader-election"),
	}
}

// ipamControllerPermissions have upstream's name.
func ipamControllerPermissions() rbac.Permissions {
	return rbac.Permissions{
		Name: ipamControllerName, Account: ipamControllerName,
		Rules: []rbacv1.PolicyRule{
			rbac.WatchRule("", "nodes", "patch", "update"),
			rbac.Rule("", "events", "create", "patch", "update"),
		},
		SystemRules: rbac.LeaderElectionRules(ipamControllerName + "-leader-election"),
	}
}
