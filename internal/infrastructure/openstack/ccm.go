package openstack

import (
	"fmt"
	"strings"
)

// Names and descriptions that Kubernetes' cloud-controller-manager writes (k8s.io/cloud-provider-openstack, pkg/openstack/loadbalancer.go). Names of
// clusters, namespaces and services are DNS labels: they contain no underscore, slash or space, so the texts below can be parsed unambiguously.
const (
	ccmLoadBalancerPrefix  = "Kubernetes external service "
	ccmFloatingIPPrefix    = "Floating IP for Kubernetes external service "
	ccmClusterInfix        = " from cluster "
	ccmNamePrefix          = "kube_service_"
	ccmSecurityGroupFormat = "Security Group for %s/%s Service LoadBalancer in cluster %s"
)

// ccmService is the Service of a cluster for which a cloud-controller-manager created something.
type ccmService struct {
	cluster, namespace, name string
}

// ccmLoadBalancerService returns the Service of a load balancer, by its description, or by its name if it has none.
func ccmLoadBalancerService(name, description string) (ccmService, bool) {
	if description != "" {
		return parseCCMDescription(description, ccmLoadBalancerPrefix)
	}
	return parseCCMName(name)
}

// ccmFloatingIPService returns the Service of a floating IP.
func ccmFloatingIPService(description string) (ccmService, bool) {
	return parseCCMDescription(description, ccmFloatingIPPrefix)
}

// securityGroupDescription is the description of the Service's security group.
func (s ccmService) securityGroupDescription() string {
	return fmt.Sprintf(ccmSecurityGroupFormat, s.namespace, s.name, s.cluster)
}

func parseCCMDescription(description, prefix string) (ccmService, bool) {
	rest, ok := strings.CutPrefix(description, prefix)
	if !ok {
		return ccmService{}, false
	}
	service, cluster, ok := strings.Cut(rest, ccmClusterInfix)
	if !ok {
		return ccmService{}, false
	}
	namespace, name, ok := strings.Cut(service, "/")
	return validCCMService(ccmService{cluster: cluster, namespace: namespace, name: name}, ok)
}

func parseCCMName(name string) (ccmService, bool) {
	rest, ok := strings.CutPrefix(name, ccmNamePrefix)
	if !ok {
		return ccmService{}, false
	}
	parts := strings.Split(rest, "_")
	if len(parts) != 3 {
		return ccmService{}, false
	}
	return validCCMService(ccmService{cluster: parts[0], namespace: parts[1], name: parts[2]}, true)
}

func validCCMService(s ccmService, ok bool) (ccmService, bool) {
	for _, part := range []string{s.cluster, s.namespace, s.name} {
		if part == "" || strings.ContainsAny(part, "/_ \t\n") {
			return ccmService{}, false
		}
	}
	return s, ok
}
