package calico

import (
	"fmt"

	calicov1alpha1 "github.com/trellis-garden/trellis/apis/calico/v1alpha1"
)

// messages returns messages about settings that are in effect but may surprise users. given is the user's configuration before defaults; deployed is nil
// where nothing is deployed.
func (s *settings) messages(given *calicov1alpha1.NetworkConfig, deployed *form) []string {
	return append(s.routingMessages(deployed), s.fieldMessages(given)...)
}

// routingMessages report packets that may not arrive, or that bypass policies.
func (s *settings) routingMessages(deployed *form) []string {
	var messages []string
	calicoIPAM := s.form.IPAM == calicov1alpha1.IPAMCalico
	routed := s.form.native() && s.form.Backend != backendBird
	if s.lacksRoutes() {
		messages = append(messages, s.noRoutesMessage())
	}
	if routed && calicoIPAM && s.infrastructure.CloudRoutes {
		messages = append(messages, "pods get addresses that are not of their node's range (ipam.type is calico-ipam), to which the cloud knows no routes: "+
			"set overlay.enabled to true, or, if all nodes are in one subnet, overlay.createPodRoutes")
	}
	if deployed != nil && deployed.IPAM == calicov1alpha1.IPAMHostLocal && calicoIPAM {
		messages = append(messages,
			"pods change over to calico-ipam node by node: while a node does, no pod starts anywhere for some seconds, and two pods that get the "+
				"same address meanwhile, which is unlikely, must be recreated")
	}
	if s.nodeLocalDNS && s.config.SnatToUpstreamDNS.Enabled {
		messages = append(messages, "network policies do not apply to requests of pods to NodeLocalDNS: with snatToUpstreamDNS Calico's rules come last, "+
			"behind those that let such packets through; set snatToUpstreamDNS.enabled to false if pods reach the DNS servers of their nodes without it")
	}
	return messages
}

// fieldMessages report fields that have no effect.
func (s *settings) fieldMessages(given *calicov1alpha1.NetworkConfig) []string {
	var messages []string
	if given.IPAM != nil && given.IPAM.CIDR != nil && !given.IPAM.CIDR.IsPodCIDR() && (s.form.IPAM == calicov1alpha1.IPAMCalico || s.ipv4 && s.ipv6) {
		messages = append(messages, "ipam.cidr has no effect with calico-ipam, nor in a shoot with two IP families")
	}
	scaling := given.AutoScaling
	if scaling != nil && scaling.Resources != nil && s.config.AutoScaling.Mode == calicov1alpha1.AutoscalingModeClusterProportional {
		messages = append(messages, "autoScaling.resources has no effect: with mode cluster-proportional requests follow the number of nodes")
	}
	if s.config.BirdExporter.Enabled && s.form.Backend != backendBird {
		messages = append(messages, fmt.Sprintf("birdExporter has no effect: backend is %s", s.form.Backend))
	}
	if *s.config.Multus.InstallCNIPlugins && !s.config.Multus.Enabled {
		messages = append(messages, "multus.installCNIPlugins has no effect: multus.enabled is false")
	}
	return messages
}

// lacksRoutes reports whether, as far as is known, nothing programs routes to pods.
func (s *settings) lacksRoutes() bool {
	return s.form.native() && s.form.Backend == backendNone && !s.cloudRoutes()
}

// noRoutesMessage reports that packets between nodes may not arrive, and the remedy.
func (s *settings) noRoutesMessage() string {
	if !s.infrastructure.CloudRoutes {
		return fmt.Sprintf("nothing programs routes to pods of other nodes: infrastructure %q has none, and backend is none; "+
			"set overlay.enabled to true, or, if all nodes are in one subnet, overlay.createPodRoutes", s.infrastructure.Type)
	}
	return "routes to pods of other nodes are left to whoever made the network (backend is none), and the cloud is told to make them only where overlay.enabled is false"
}
