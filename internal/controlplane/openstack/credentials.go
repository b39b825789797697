package openstack

import (
	"fmt"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/contract"
)

// CompleteCredentials implements controlplane.Driver. Afterwards the Secret says for itself what Credentials.At makes of it,
// so that whoever reads it without the cloud profile logs in at the same place and trusts the same certificates. Without a URL in the cloud
// profile the Secret is refused: it would say itself where that is.
func (d *Driver) CompleteCredentials(data map[string][]byte, cluster *contract.Cluster) error {
	profile, err := openstackv1alpha1.DecodeKeystone(cluster.CloudProfile.Spec.ProviderConfig)
	if err != nil {
		return fmt.Errorf("decoding %s: %w", profilePath(), err)
	}
	keystone, err := keystoneOf(profile, cluster.Shoot.Spec.Region)
	if err != nil {
		return fmt.Errorf("%s: %w", profilePath(), err)
	}
	data["authURL"] = []byte(keystone.URL)
	delete(data, "insecure")
	if keystone.CACert != "" {
		data["caCert"] = []byte(keystone.CACert)
	}
	if keystone.ForceInsecure {
		data["insecure"] = []byte("true")
	}
	return nil
}
