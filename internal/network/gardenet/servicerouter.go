package gardenet

import (
	"net/netip"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// routerName is the name of the service routers' DaemonSet, of its container and image, and of its ServiceAccount.
	routerName = "gardenet-service-router"
	// routerPort is where a router serves metrics and answers probes, on the loopback of its node.
	routerHost, routerPort = "127.0.0.1", 19082
)

// serviceRouter returns the objects of the service routers. They have a DaemonSet of their own, since they need other rights than agents and are released with
// Kubernetes' proxier, and since a router that hands over is not ready, which must not keep agents from being updated.
func (s *settings) serviceRouter() []client.Object {
	pod := onEachNode(routerName)
	pod.Containers = []corev1.Container{s.router()}
	objects := append(accountWith(routerName, routerRole, routerRules()), daemonSetOf(routerName, pod))
	if s.verticalAutoscaling {
		objects = append(objects, autoscalerOf(routerName, routerResources()))
	}
	return objects
}

// routerRules are the rights of a router: to watch what it routes, and its Node.
func routerRules() []rbacv1.PolicyRule {
	watches := []string{"list", "watch"}
	return []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"nodes", "services"}, Verbs: watches},
		{APIGroups: []string{"discovery.k8s.io"}, Resources: []string{"endpointslices"}, Verbs: watches},
	}
}

// routerResources are those of kube-proxy in Gardener: what a router needs depends on the number of Services and endpoints, which nothing here knows.
func routerResources() corev1.ResourceRequirements {
	return corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("20m"), corev1.ResourceMemory: resource.MustParse("64Mi")},
		Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("2Gi")},
	}
}

func (s *settings) router() corev1.Container {
	args := []string{
		"--pod-ranges=" + joined(s.podRanges),
		"--bind-address=" + routerHost + ":" + strconv.Itoa(routerPort),
	}
	if len(s.serviceRanges) > 0 {
		args = append(args, "--service-ranges="+joined(s.serviceRanges))
	}
	if s.form.Services == servicesHandedOver {
		args = append(args, "--hand-over")
	}
	return corev1.Container{
		Name:            routerName,
		Image:           s.routerImage,
		ImagePullPolicy: corev1.PullIfNotPresent,
		Command:         []string{"/" + routerName},
		Args:            args,
		Env:             s.environment(),
		Resources:       routerResources(),
		SecurityContext: securityContext("NET_ADMIN"),
		LivenessProbe:   probe("/healthz", routerHost, routerPort, 10, 6),
		ReadinessProbe:  probe("/readyz", routerHost, routerPort, 5, 3),
	}
}

func joined(ranges []netip.Prefix) string {
	texts := make([]string, 0, len(ranges))
	for _, prefix := range ranges {
		texts = append(texts, prefix.String())
	}
	return strings.Join(texts, ",")
}
