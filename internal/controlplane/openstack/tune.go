package openstack

import (
	"fmt"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/controlplane"
	"github.com/trellis-garden/trellis/internal/controlplane/tuning"
)

// Tune implements controlplane.Driver.
func (d *Driver) Tune(request *controlplane.TuneRequest) (*tuning.Tuning, error) {
	if request.Scope == tuning.ControlPlane {
		tuned := &tuning.Tuning{KubeAPIServer: tuning.KubeAPIServerWithoutCloud(), KubeControllerManager: tuning.KubeControllerManagerWithoutCloud()}
		tuneNodeRanges(&tuned.KubeControllerManager, request.Cluster.Shoot)
		return tuned, nil
	}
	profile := &openstackv1alpha1.CloudProfileConfig{}
	if raw := request.Cluster.CloudProfile.Spec.ProviderConfig; raw != nil {
		var err error
		if profile, err = openstackv1alpha1.DecodeCloudProfileConfig(raw); err != nil {
			return nil, fmt.Errorf("decoding %s: %w", profilePath(), err)
		}
	}
	resolver := newResolver(profile)
	return &tuning.Tuning{Kubelet: tuneKubelet(), Units: resolver.units(), Files: resolver.files()}, nil
}

func tuneKubelet() tuning.Kubelet {
	return tuning.Kubelet{
		SetFlags:    map[string]string{"--cloud-provider": "external"},
		StartBefore: []string{shortHostName},
		Config: map[string]any{
			// Cinder's volumes are attached by a controller in the seed. True is the default; nobody may choose otherwise.
			"enableControllerAttachDetach": true,
			"resolvConf":                   resolvConf,
		},
	}
}

// shortHostName makes the first label of the host name the whole of it. A kubelet registers its node by the host name, and the
// node has to be called like the server in OpenStack; but DHCP hands out names with the network's domain, and after a reboot
// such a one can be in force. A machine without a name of its own keeps what it has.
//
// A dollar sign is doubled since systemd expands variables too.
const shortHostName = `/bin/sh -c 'name=$$(grep "^[^#]" /etc/hostname | head -n 1 | cut -d. -f1); ` +
	`test -z "$$name" || exec hostnamectl set-hostname "$$name"'`
