package upstream

import (
	_ "embed"
	"fmt"

	"github.com/trellis-garden/trellis/e2e/internal/garden"
)

// Names of upstream's registrations, and of their Deployments in a seed.
const (
	ProviderOpenStack           = "provider-openstack"
	NetworkingCalico            = "networking-calico"
	ProviderOpenStackDeployment = "gardener-extension-provider-openstack"
	NetworkingCalicoDeployment  = "gardener-extension-networking-calico"
)

//go:embed templates/provider-openstack.yaml
var providerOpenStackTemplate string

//go:embed templates/networking-calico.yaml
var networkingCalicoTemplate string

// Registrations are those of a landscape without Trellis. Their pods run an image that accepts any arguments. Values have the names and the
// defaults of upstream's charts, unless an admin sets them; Helm removes a value that is set to null.
func Registrations(image string) ([]garden.Registration, error) {
	provider, err := packed(ProviderOpenStack, providerOpenStackTemplate, fmt.Sprintf(
		"image: %s\nreplicaCount: 1\ndisableControllers: []\ndisableWebhooks: []\n", image))
	if err != nil {
		return nil, err
	}
	network, err := packed(NetworkingCalico, networkingCalicoTemplate, fmt.Sprintf("image: %s\nreplicaCount: 1\n", image))
	if err != nil {
		return nil, err
	}
	return []garden.Registration{
		{
			Name: ProviderOpenStack, Chart: provider,
			Resources: append(
				garden.Primary("openstack", "BackupBucket", "BackupEntry", "Bastion", "ControlPlane", "Infrastructure", "Worker"),
				garden.Primary("openstack-designate", "DNSRecord")...,
			),
		},
		{Name: NetworkingCalico, Chart: network, Resources: garden.Primary("calico", "Network")},
	}, nil
}

func packed(name, template, values string) ([]byte, error) {
	archive, err := garden.PackChartWithValues(name, values, map[string]string{"deployment.yaml": template})
	if err != nil {
		return nil, fmt.Errorf("packing the chart of %s: %w", name, err)
	}
	return archive, nil
}
