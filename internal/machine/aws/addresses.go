package aws

import (
	corev1 "k8s.io/api/core/v1"

	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
)

// addressesOf returns the addresses of an instance. MCM writes them into the Machine if there is no cluster with Nodes yet: for the first machines of a
// self-hosted shoot.
func addressesOf(instance cloudaws.Instance) []corev1.NodeAddress {
	var all []corev1.NodeAddress
	add := func(kind corev1.NodeAddressType, addresses ...string) {
		for _, address := range addresses {
			if address != "" {
				all = append(all, corev1.NodeAddress{Type: kind, Address: address})
			}
		}
	}
	for _, one := range instance.Interfaces {
		add(corev1.NodeInternalIP, one.PrivateIP)
		add(corev1.NodeInternalIP, one.IPv6Addresses...)
		add(corev1.NodeExternalIP, one.PublicIP)
	}
	add(corev1.NodeInternalDNS, instance.PrivateDNSName)
	return all
}
