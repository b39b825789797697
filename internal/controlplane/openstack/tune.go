package openstack

import (
	"fmt"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/controlplane"
	"github.com/trellis-garden/trellis/internal/controlplane/tuning"
)

// Tune implements controlplane.Driver.
func (d *Driver) Tune(request *controlplane.TuneRequest) (*tuning.Tuning, error) {
	if request.Scope == tuning.ControlPlane {
		return &tuning.Tuning{KubeAPIServer: tuneKubeAPIServer(), KubeControllerManager: tuneKubeControllerManager()}, nil
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

// tuneKubeAPIServer finds nothing to do in what Gardener renders today: the contract of control-plane webhooks forbids these
// flags. It stays for whoever else adds them, an older gardenlet or another webhook: a kube-apiserver has had no cloud provider
// since 1.31, and one of today does not even start with such a flag.
func tuneKubeAPIServer() tuning.Pod {
	return tuning.Pod{DropFlags: []string{"--cloud-provider", "--cloud-config"}}
}

// tuneKubeControllerManager says that the cloud's part is done elsewhere. Only the first flag makes a difference to what
// Gardener renders today. The rest is what times before the cloud-controller-manager left in Deployments: a configuration and a
// plugin for a cloud provider in the process, certificates of the host to trust the cloud, and the way to reach it. Gardener
// writes the whole pod anew when it reconciles, but others change single fields of what they find.
func tuneKubeControllerManager() tuning.Pod {
	return tuning.Pod{
		SetFlags:    map[string]string{"--cloud-provider": "external"},
		DropFlags:   []string{"--cloud-config", "--external-cloud-volume-plugin"},
		DropVolumes: []string{"etc-ssl", "usr-share-ca-certificates"},
		DropLabels: []string{
			v1beta1constants.LabelNetworkPolicyToBlockedCIDRs,
			v1beta1constants.LabelNetworkPolicyToPublicNetworks,
			v1beta1constants.LabelNetworkPolicyToPrivateNetworks,
		},
	}
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
