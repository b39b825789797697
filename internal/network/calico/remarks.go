package calico

import (
	"fmt"

	calicov1alpha1 "github.com/trellis-garden/trellis/apis/calico/v1alpha1"
)

// remarks tell of what is done as it was ordered, and works in another way than users may think. given is what they wrote,
// before defaults; deployed is nil where nothing is.
func (s *settings) remarks(given *calicov1alpha1.NetworkConfig, deployed *form) []string {
	var remarks []string
	remark := func(applies bool, text string) {
		if applies {
			remarks = append(remarks, text)
		}
	}
	calicoIPAM := s.form.IPAM == calicov1alpha1.IPAMCalico
	routed := s.form.native() && s.form.Backend != backendBird

	remark(routed && !s.cloudRoutes() && s.form.Backend == backendNone, s.nobodyRoutes())
	remark(routed && calicoIPAM && s.infrastructure.CloudRoutes,
		"pods get addresses that are not of their node's range (ipam.type is calico-ipam), to which the cloud knows no routes: "+
			"set overlay.enabled to true, or, if all nodes are in one subnet, overlay.createPodRoutes")
	remark(s.nodeLocalDNS && s.config.SnatToUpstreamDNS.Enabled,
		"network policies do not apply to what pods ask of NodeLocalDNS: with snatToUpstreamDNS Calico's rules come last, "+
			"behind those that let such packets through; set snatToUpstreamDNS.enabled to false if pods reach the DNS servers of their nodes without it")
	remark(given.IPAM != nil && given.IPAM.CIDR != nil && !given.IPAM.CIDR.IsPodCIDR() && (calicoIPAM || s.ipv4 && s.ipv6),
		"ipam.cidr has no effect with calico-ipam, nor in a shoot with two IP families")
	remark(given.AutoScaling != nil && given.AutoScaling.Resources != nil && s.config.AutoScaling.Mode == calicov1alpha1.AutoscalingModeClusterProportional,
		"autoScaling.resources has no effect: with mode cluster-proportional requests follow the number of nodes")
	remark(s.config.BirdExporter.Enabled && s.form.Backend != backendBird,
		fmt.Sprintf("birdExporter has nothing to tell: backend is %s", s.form.Backend))
	remark(*s.config.Multus.InstallCNIPlugins && !s.config.Multus.Enabled, "multus.installCNIPlugins has no effect: multus.enabled is false")
	remark(*s.config.KubeAPIServerEndpoints.Enabled && len(s.apiServerAddresses) == 0,
		fmt.Sprintf("GlobalNetworkSet %s is empty: nobody knows the addresses of the kube-apiserver yet", *s.config.KubeAPIServerEndpoints.Name))
	remark(deployed != nil && deployed.IPAM == calicov1alpha1.IPAMHostLocal && calicoIPAM,
		"pods change over to calico-ipam node by node: two that get the same address meanwhile, which is unlikely, have to be made anew")
	return remarks
}

// nobodyRoutes says that packets between nodes may not find their way, and what would help.
func (s *settings) nobodyRoutes() string {
	if !s.infrastructure.CloudRoutes {
		return fmt.Sprintf("nobody makes routes to pods of other nodes: infrastructure %q has none, and backend is none; "+
			"set overlay.enabled to true, or, if all nodes are in one subnet, overlay.createPodRoutes", s.infrastructure.Type)
	}
	return "routes to pods of other nodes are left to whoever made the network (backend is none), and the cloud is told to make them only where overlay.enabled is false"
}
