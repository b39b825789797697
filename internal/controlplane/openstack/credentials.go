package openstack

import (
	corev1 "k8s.io/api/core/v1"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/auth"
	"github.com/trellis-garden/trellis/internal/contract"
)

// CompleteCredentials implements controlplane.Driver. Afterwards the Secret contains the result of Credentials.At, so that programs without the cloud profile
// use the same Keystone and trust the same certificates. If the cloud profile has no valid URL, the Secret has none either, and no program can log in with
// it. It is not refused: gardenlet writes it before a deletion, too, and errors of the cloud profile are reported by the objects that need it.
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

// keystoneIn returns Keystone in the shoot's region from the cloud profile, without a URL if it cannot be determined.
func keystoneIn(cluster *contract.Cluster) auth.Keystone {
	profile, err := openstackv1alpha1.DecodeKeystone(cluster.CloudProfile.Spec.ProviderConfig)
	if err != nil {
		return auth.Keystone{}
	}
	keystone, err := keystoneOf(profile, cluster.Shoot.Spec.Region)
	if err != nil {
		return auth.Keystone{}
	}
	return keystone
}
