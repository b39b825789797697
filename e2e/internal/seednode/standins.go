package seednode

import (
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/trellis-garden/trellis/e2e/internal/standin"
)

// StandIns lists what the package itself simulates.
func StandIns() []standin.StandIn {
	return []standin.StandIn{
		{Name: "kube-scheduler of the seed", Reason: "the one node takes every pod"},
		{Name: "kubelet and container runtime of the seed", Reason: "images cannot be pulled; programs run as processes as root, without limits, capabilities, working directories and " +
			"lifecycle hooks; no logs, exec or port forwarding through the API server"},
		{Name: "times of the kubelet of the seed", Reason: "a container that is not ready is probed each second, a probe may take 5 s at least, files are updated each second, " +
			"and restarts are delayed by 1 to 30 s: all would only lengthen a run"},
		{Name: "kube-proxy of the seed", Reason: "connections to a Service are forwarded by this process, TCP only"},
		{Name: "DNS of the seed", Reason: "names are in /etc/hosts"},
		{Name: "network plugin of the seed", Reason: "pods are on one bridge; NetworkPolicies do not hold"},
		{Name: "Istio's ingress gateways", Reason: "connections are led by the host that the client asks TLS for, according to VirtualServices, and TLS ends at the API server"},
		{Name: "load balancers of the seed", Reason: "the address of a Service of type LoadBalancer is its ClusterIP"},
		{Name: "persistent volumes of the seed", Reason: "they are empty folders that last as long as the pod"},
	}
}

// standIns remembers which images have been reported.
type standIns struct {
	report func(standin.StandIn)

	lock     sync.Mutex
	reported map[string]bool
}

// add reports a container without a program.
func (s *standIns) add(container *corev1.Container) {
	s.addOnce(standin.StandIn{Name: container.Image, Reason: fmt.Sprintf("no program for container %s: it is reported as running and ready", container.Name)})
}

// addCommand reports a probe that cannot run its command.
func (s *standIns) addCommand(container *corev1.Container, command string) {
	s.addOnce(standin.StandIn{Name: command + " in " + container.Image, Reason: fmt.Sprintf("the probe of container %s counts as successful: only the image has the command", container.Name)})
}

func (s *standIns) addOnce(one standin.StandIn) {
	if s.report == nil {
		return
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	if !s.reported[one.Name] {
		s.reported[one.Name] = true
		s.report(one)
	}
}
