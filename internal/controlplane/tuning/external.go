package tuning

import v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"

// KubeAPIServerWithoutCloud finds nothing to do in what Gardener renders today: the contract of control-plane webhooks forbids these
// flags. It stays for whoever else adds them, an older gardenlet or another webhook: a kube-apiserver has had no cloud provider
// since 1.31, and one of today does not even start with such a flag.
func KubeAPIServerWithoutCloud() Pod {
	return Pod{DropFlags: []string{"--cloud-provider", "--cloud-config"}}
}

// KubeControllerManagerWithoutCloud says that the cloud's part is done elsewhere. Only the first flag makes a difference to what
// Gardener renders today. The rest is what times before the cloud-controller-manager left in Deployments: a configuration and a
// plugin for a cloud provider in the process, certificates of the host to trust the cloud, and the way to reach it. Gardener
// writes the whole pod anew when it reconciles, but others change single fields of what they find.
func KubeControllerManagerWithoutCloud() Pod {
	return Pod{
		SetFlags:    map[string]string{"--cloud-provider": "external"},
		DropFlags:   []string{"--cloud-config", "--external-cloud-volume-plugin"},
		DropVolumes: []string{"etc-ssl", "usr-share-ca-certificates", "usr-share-cacerts"},
		DropLabels: []string{
			v1beta1constants.LabelNetworkPolicyToBlockedCIDRs,
			v1beta1constants.LabelNetworkPolicyToPublicNetworks,
			v1beta1constants.LabelNetworkPolicyToPrivateNetworks,
		},
	}
}
