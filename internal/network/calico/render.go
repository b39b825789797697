package calico

import (
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	calicov1alpha1 "github.com/trellis-garden/trellis/apis/calico/v1alpha1"
	"github.com/trellis-garden/trellis/internal/network"
)

// render returns the objects of Calico.
func (d *Driver) render(decided *decision) (*network.Rendering, error) {
	definitions, err := d.definitionsFor(decided.settings)
	if err != nil {
		return nil, fmt.Errorf("reading custom resource definitions: %w", err)
	}
	components, err := decided.settings.componentObjects()
	if err != nil {
		return nil, err
	}
	seed, err := decided.settings.monitoringObjects()
	if err != nil {
		return nil, fmt.Errorf("building monitoring: %w", err)
	}
	status := calicov1alpha1.NewNetworkStatus()
	status.Effective, status.Overridden = decided.settings.config, decided.overridden
	return &network.Rendering{
		Shoot: slices.Concat(definitions, components), Seed: seed, Retired: decided.settings.retiredSeedObjects(),
		Form: decided.settings.form, Status: status, Messages: decided.messages,
	}, nil
}

// componentObjects returns all objects in the shoot, except for the definitions of their kinds.
func (s *settings) componentObjects() ([]client.Object, error) {
	var objects []client.Object
	for _, part := range []struct {
		name  string
		build func() ([]client.Object, error)
	}{
		{"IPPools", s.poolObjects},
		{"calico-node", s.nodeObjects},
		{"Typha", s.typhaObjects},
		{"calico-kube-controllers", s.kubeControllersObjects},
		{"autoscaling", s.autoscalingObjects},
		{"network policies", s.policyObjects},
		{"tiers", s.tierObjects},
		{"the set of the kube-apiserver's addresses", s.apiServerSetObjects},
		{"Multus", s.multusObjects},
	} {
		some, err := part.build()
		if err != nil {
			return nil, fmt.Errorf("building %s: %w", part.name, err)
		}
		objects = append(objects, some...)
	}
	return objects, nil
}

func (d *Driver) definitionsFor(s *settings) ([]client.Object, error) {
	objects, err := d.calicoDefinitions()
	if err != nil || !s.config.Multus.Enabled {
		return objects, err
	}
	multus, err := d.multusDefinitions()
	return slices.Concat(objects, multus), err
}

// at returns the decision for a stage: everything is as decided, except for the form. The configuration is adapted to the form, so that both agree.
func (d *decision) at(stage form) *decision {
	settings := *d.settings
	settings.form = stage
	config := d.settings.config.DeepCopy()
	*config.Backend = calicov1alpha1.Backend(stage.Backend)
	config.Typha.Enabled = stage.Typha
	config.SnatToUpstreamDNS.Enabled = stage.UpstreamDNS
	if config.IPAM.Type = stage.IPAM; stage.IPAM == calicov1alpha1.IPAMHostLocal && config.IPAM.CIDR == nil {
		config.IPAM.CIDR = new(calicov1alpha1.DefaultIPAMCIDR)
	}
	if config.IPv4 != nil {
		modes := stage.IPv4.orNever()
		if *config.IPv4.Pool, *config.IPv4.Mode = calicov1alpha1.PoolIPIP, calicov1alpha1.PoolMode(modes.IPIP); modes.VXLAN != never {
			*config.IPv4.Pool, *config.IPv4.Mode = calicov1alpha1.PoolVXLAN, calicov1alpha1.PoolMode(modes.VXLAN)
		}
	}
	config.VXLAN.Enabled = stage.requiredFeatures().vxlan
	settings.config = config
	return &decision{settings: &settings}
}
