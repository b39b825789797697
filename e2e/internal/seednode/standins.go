package seednode

import (
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
)

// StandIn is something that is not real, and why.
type StandIn struct{ Name, Reason string }

// StandIns lists what the package itself simulates.
func StandIns() []StandIn {
	return []StandIn{
		{"kube-scheduler of the seed", "the one node takes every pod"},
		{"kubelet and container runtime of the seed", "images cannot be pulled; programs run as processes as root, without limits, capabilities, working directories and " +
			"lifecycle hooks; no logs, exec or port forwarding through the API server"},
		{"times of the kubelet of the seed", "a container that is not ready is probed each second, a probe may take 5 s at least, files are updated each second, " +
			"and restarts are delayed by 1 to 30 s: all would only lengthen a run"},
		{"kube-proxy of the seed", "connections to a Service are forwarded by this process, TCP only"},
		{"DNS of the seed", "names are in /etc/hosts"},
		{"network plugin of the seed", "pods are on one bridge; NetworkPolicies do not hold"},
		{"Istio's ingress gateways", "connections are led by the host that the client asks TLS for, according to VirtualServices, and TLS ends at the API server"},
		{"load balancers of the seed", "the address of a Service of type LoadBalancer is its ClusterIP"},
		{"persistent volumes of the seed", "they are empty folders that last as long as the pod"},
	}
}

// standIns remembers which images have been reported.
type standIns struct {
	report func(StandIn)

	lock     sync.Mutex
	reported map[string]bool
}

// add reports a container without a program.
func (s *standIns) add(container *corev1.Container) {
	s.addOnce(StandIn{container.Image, fmt.Sprintf("no program for container %s: it is reported as running and ready", container.Name)})
}

// addCommand reports a probe that cannot run its command.
func (s *standIns) addCommand(container *corev1.Container, command string) {
	s.addOnce(StandIn{command + " in " + container.Image, fmt.Sprintf("the probe of container %s counts as successful: only the image has the command", container.Name)})
}

func (s *standIns) addOnce(standIn StandIn) {
	if s.report == nil {
		return
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	if !s.reported[standIn.Name] {
		s.reported[standIn.Name] = true
		s.report(standIn)
	}
}
