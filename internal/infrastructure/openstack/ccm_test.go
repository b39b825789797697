package openstack

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The texts below are what k8s.io/cloud-provider-openstack writes, see ccm.go.
func TestCCMLoadBalancerService(t *testing.T) {
	ours := ccmService{cluster: "shoot--a", namespace: "default", name: "web"}
	for name, test := range map[string]struct {
		name, description string
		want              ccmService
		ok                bool
	}{
		"by its description":               {"anything", "Kubernetes external service default/web from cluster shoot--a", ours, true},
		"by its name, without description": {"kube_service_shoot--a_default_web", "", ours, true},
		"the description beats the name": {
			"kube_service_shoot--a_default_web", "Kubernetes external service default/web from cluster shoot--b",
			ccmService{cluster: "shoot--b", namespace: "default", name: "web"},
			true,
		},
		"a longer cluster name is another cluster": {
			"kube_service_shoot--a-b_default_web", "",
			ccmService{cluster: "shoot--a-b", namespace: "default", name: "web"},
			true,
		},
		"not by a description of the user's":        {"kube_service_shoot--a_default_web", "my load balancer", ccmService{}, false},
		"not by a name with too few parts":          {"kube_service_shoot--a_default", "", ccmService{}, false},
		"not by a name with too many parts":         {"kube_service_shoot--a_default_web_2", "", ccmService{}, false},
		"not by a description with a trailing word": {"", "Kubernetes external service default/web from cluster shoot--a (old)", ccmService{}, false},
		"not by a description without a service":    {"", "Kubernetes external service web from cluster shoot--a", ccmService{}, false},
		"not by an empty cluster":                   {"", "Kubernetes external service default/web from cluster ", ccmService{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := ccmLoadBalancerService(test.name, test.description)
			assert.Equal(t, test.ok, ok)
			assert.Equal(t, test.want, got)
		})
	}
}

func TestCCMFloatingIPService(t *testing.T) {
	service, ok := ccmFloatingIPService("Floating IP for Kubernetes external service default/web from cluster shoot--a")
	assert.True(t, ok)
	assert.Equal(t, ccmService{cluster: "shoot--a", namespace: "default", name: "web"}, service)
	assert.Equal(t, "Security Group for default/web Service LoadBalancer in cluster shoot--a", service.securityGroupDescription())
	_, ok = ccmFloatingIPService("Kubernetes external service default/web from cluster shoot--a")
	assert.False(t, ok, "a load balancer's description is none of a floating IP")
}
