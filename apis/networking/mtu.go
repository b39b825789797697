package networking

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
)

// NetworkMTU returns the MTU in bytes of the network that connects a shoot's machines, as far as the type of the infrastructure and its configuration
// (Shoot.spec.provider.infrastructureConfig) tell; 0 if they do not.
func NetworkMTU(infrastructureType string, infrastructureConfig *runtime.RawExtension) (int, error) {
	if infrastructureType != "openstack" || infrastructureConfig == nil {
		return InfrastructureOf(infrastructureType).MTU, nil
	}
	// The relevant field of openstack.provider.extensions.gardener.cloud/v1alpha1 InfrastructureConfig. Without it, the cloud chooses.
	var config struct {
		Networks struct {
			MTU int `json:"mtu"`
		} `json:"networks"`
	}
	data, err := infrastructureConfig.MarshalJSON()
	if err == nil {
		err = json.Unmarshal(data, &config)
	}
	if err != nil {
		return 0, fmt.Errorf("reading spec.provider.infrastructureConfig of type %s: %w: correct it", infrastructureType, err)
	}
	return config.Networks.MTU, nil
}
