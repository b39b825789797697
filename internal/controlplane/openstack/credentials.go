package openstack

import (
	corev1 "k8s.io/api/core/v1"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/contract"
)

// CompleteCredentials implements controlplane.Driver. Afterwards the Secret says for itself what Credentials.At makes of it,
// so that whoever reads it without the cloud profile logs in at the same place and trusts the same certificates. Where the cloud profile has no URL,
// or none that can be read, the Secret has none either, and nobody logs in with it. It is not refused: gardenlet writes it before a
// deletion, too, and what is wrong with the cloud profile is told by the objects that need it.
func (d *Driver) CompleteCredentials(secret *corev1.Secret, cluster *contract.Cluster) error {
	data := secret.Data
	delete(data, "authURL")
	delete(data, "insecure")
	keystone := keystoneIn(cluster)
	if keystone.URL == "" {
		return nil
	}
	data["authURL"] = []byte(keystone.URL)
	if keystone.CACert != "" {
		data["caCert"] = []byte(keystone.CACert)
	}
	if keystone.ForceInsecure {
		data["insecure"] = []byte("true")
	}
	return nil
}

// keystoneIn returns what the cloud profile says about Keystone in the shoot's region, without a URL if that is not to be found out.
func keystoneIn(cluster *contract.Cluster) cloudopenstack.Keystone {
	profile, err := openstackv1alpha1.DecodeKeystone(cluster.CloudProfile.Spec.ProviderConfig)
	if err != nil {
		return cloudopenstack.Keystone{}
	}
	keystone, err := keystoneOf(profile, cluster.Shoot.Spec.Region)
	if err != nil {
		return cloudopenstack.Keystone{}
	}
	return keystone
}
