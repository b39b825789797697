package networking

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
)

// customizedMTU is what the nodes of a shoot on AWS set on their network interfaces if enableMTUCustomizer is true.
const customizedMTU = 1460

// NetworkMTU returns the MTU in bytes of the network that connects a shoot's machines, or of their interfaces if that is less, as far as the type of the
// infrastructure and its configuration (Shoot.spec.provider.infrastructureConfig) tell; 0 if they do not.
func NetworkMTU(infrastructureType string, infrastructureConfig *runtime.RawExtension) (int, error) {
	general := InfrastructureOf(infrastructureType).MTU
	if infrastructureConfig == nil || infrastructureType != "openstack" && infrastructureType != "aws" {
		return general, nil
	}
	// The relevant fields of InfrastructureConfigs of openstack.provider.extensions.gardener.cloud/v1alpha1, where the cloud chooses without it, and of
	// aws.provider.extensions.gardener.cloud/v1alpha1, where it defaults to true.
	var config struct {
		Networks struct {
			MTU int `json:"mtu"`
		} `json:"networks"`
		EnableMTUCustomizer *bool `json:"enableMTUCustomizer"`
	}
	data, err := infrastructureConfig.MarshalJSON()
	if err == nil {
		err = json.Unmarshal(data, &config)
	}
	switch {
	case err != nil:
		return 0, fmt.Errorf("reading spec.provider.infrastructureConfig of type %s: %w: correct it", infrastructureType, err)
	case infrastructureType == "openstack":
		return config.Networks.MTU, nil
	case config.EnableMTUCustomizer == nil || *config.EnableMTUCustomizer:
		return customizedMTU, nil
	default:
		return general, nil
	}
}
