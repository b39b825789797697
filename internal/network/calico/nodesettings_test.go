package calico

import (
	calicov1alpha1 "github.com/trellis-garden/trellis/apis/calico/v1alpha1"
)

// What a shoot's settings are like, for all tests of calico-node.

func withNativeRouting(s *settings) {
	s.form.Backend, s.form.IPIP, s.form.IPv4 = backendNone, false, &encapsulation{IPIP: "Never", VXLAN: "Never"}
	s.config.Overlay = &calicov1alpha1.Overlay{Enabled: false, CreatePodRoutes: new(false)}
	s.config.SnatToUpstreamDNS.Enabled, s.form.UpstreamDNS = true, true
}

func withPodRoutes(s *settings) {
	withNativeRouting(s)
	s.form.Backend, s.config.Overlay.CreatePodRoutes = backendBird, new(true)
}

func withVXLAN(s *settings) {
	s.form.Backend, s.form.IPAM, s.form.IPIP, s.form.VXLAN = backendVXLAN, calicov1alpha1.IPAMCalico, false, true
	s.form.IPv4 = &encapsulation{IPIP: "Never", VXLAN: "Always"}
	s.config.IPAM = &calicov1alpha1.IPAM{Type: calicov1alpha1.IPAMCalico}
}

func withIPv6(s *settings) {
	s.ipv6, s.podRanges6, s.nodeRanges6 = true, []string{"2001:db8:1::/48"}, []string{"2001:db8:2::/64"}
	s.form.IPv6 = &encapsulation{IPIP: "Never", VXLAN: "Never"}
	s.config.IPv6 = &calicov1alpha1.IPv6{AutoDetectionMethod: new("cidr=2001:db8:2::/64")}
}

func withoutIPv4(s *settings) {
	withIPv6(s)
	s.ipv4, s.ipv6First, s.podRanges4, s.nodeRanges4, s.form.IPv4, s.config.IPv4 = false, true, nil, nil, nil, nil
}

func withBPF(s *settings) { s.form.BPF, s.config.EbpfDataplane.Enabled = true, true }

func withBPFInsteadOfKubeProxy(s *settings) {
	withBPF(s)
	s.kubeProxy = false
}

func withBIRDExporter(s *settings) { s.config.BirdExporter.Enabled = true }

func withEncryption(s *settings) { s.form.WireGuard, s.config.WireguardEncryption = true, true }

func all(changes ...func(*settings)) func(*settings) {
	return func(s *settings) {
		for _, change := range changes {
			change(s)
		}
	}
}
