package openstack

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
)

// addressesOf returns the addresses of a server, ordered by network, as the cloud-controller-manager writes them into a Node. MCM writes them
// into the Machine if there is no cluster with Nodes yet: for the first machines of a self-hosted shoot.
func addressesOf(server cloudopenstack.Server) []corev1.NodeAddress {
	var all []corev1.NodeAddress
	for _, network := range slices.Sorted(maps.Keys(server.Addresses)) {
		for _, address := range server.Addresses[network] {
			switch address.Type {
			case cloudopenstack.AddressFixed:
				all = append(all, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: address.Address})
			case cloudopenstack.AddressFloating:
				all = append(all, corev1.NodeAddress{Type: corev1.NodeExternalIP, Address: address.Address})
			}
		}
	}
	return all
}
