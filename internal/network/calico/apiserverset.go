package calico

import (
	"maps"
	"net/netip"

	"sigs.k8s.io/controller-runtime/pkg/client"

	calicov1alpha1 "github.com/trellis-garden/trellis/apis/calico/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
)

// networkSetSpec is the part of a GlobalNetworkSet that the driver sets.
type networkSetSpec struct {
	Nets []string `json:"nets"`
}

// apiServerSetObjects returns the set of the kube-apiserver's addresses, to which users refer in their network policies.
func (s *settings) apiServerSetObjects() ([]client.Object, error) {
	endpoints := s.config.KubeAPIServerEndpoints
	if !*endpoints.Enabled {
		return nil, nil
	}
	if len(s.apiServerAddresses) == 0 {
		return nil, cloud.Errorf(cloud.Unavailable, "nobody knows the addresses of the shoot's kube-apiserver (the DNSRecords of its "+
			"namespace name none), and policies that allow an empty GlobalNetworkSet would shut it off; "+
			"set spec.networking.providerConfig.kubeAPIServerEndpoints.enabled to false if the seed has names only")
	}
	spec := &networkSetSpec{Nets: []string{}}
	for _, address := range s.apiServerAddresses {
		spec.Nets = append(spec.Nets, netip.PrefixFrom(address, address.BitLen()).String())
	}
	set, err := calicoObject("GlobalNetworkSet", *endpoints.Name, spec)
	if err != nil {
		return nil, err
	}
	labels := map[string]string{}
	maps.Copy(labels, endpoints.Labels)
	labels[calicov1alpha1.KubeAPIServerEndpointsLabel] = calicov1alpha1.KubeAPIServerEndpointsLabelValue
	set.SetLabels(labels)
	return []client.Object{set}, nil
}
