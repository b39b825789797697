package v1alpha1

import (
	"maps"
	"slices"
	"strings"
)

// stateKeySeparator separates the parts of keys of InfrastructureState.Data.
const stateKeySeparator = "/"

// The first parts of keys of InfrastructureState.Data that have several.
const (
	stateKeysOfZones        = "Zones"
	stateKeysOfVPCEndpoints = "VPCEndpoints"
	stateKeysOfMountTargets = "efsMountTargets"
)

// ZoneStateKey returns the key of InfrastructureState.Data for a key of a zone, e.g. `Zones/eu-west-1a/NATGateway`.
func ZoneStateKey(zone, key string) string { return stateKey(stateKeysOfZones, zone, key) }

// VPCEndpointStateKey returns the key of InfrastructureState.Data for the ID of the gateway endpoint of a service, without the prefix
// `com.amazonaws.<region>.`.
func VPCEndpointStateKey(service string) string { return stateKey(stateKeysOfVPCEndpoints, service) }

// MountTargetStateKey returns the key of InfrastructureState.Data for the ID of a mount target of an elastic file system. The security group is empty
// for an existing subnet.
func MountTargetStateKey(fileSystem, subnet, securityGroup string) string {
	name := fileSystem + "_" + subnet
	if securityGroup != "" {
		name += "_" + securityGroup
	}
	return stateKey(stateKeysOfMountTargets, name)
}

// Zones returns the names of the zones that the state knows, sorted.
func (s *InfrastructureState) Zones() []string {
	zones := map[string]bool{}
	for key := range s.Data {
		if zone, _, found := strings.Cut(strings.TrimPrefix(key, stateKey(stateKeysOfZones, "")), stateKeySeparator); found && strings.HasPrefix(key, stateKey(stateKeysOfZones, "")) {
			zones[zone] = true
		}
	}
	return slices.Sorted(maps.Keys(zones))
}

// VPCEndpoints returns the IDs of the gateway endpoints that the state knows, by service.
func (s *InfrastructureState) VPCEndpoints() map[string]string {
	return s.below(stateKeysOfVPCEndpoints)
}

// MountTargets returns the IDs of the mount targets that the state knows, by the last part of their keys.
func (s *InfrastructureState) MountTargets() map[string]string {
	return s.below(stateKeysOfMountTargets)
}

// below returns the values that are not empty of keys with a first part, by the rest of the key.
func (s *InfrastructureState) below(first string) map[string]string {
	values := map[string]string{}
	for key, value := range s.Data {
		if rest, found := strings.CutPrefix(key, stateKey(first, "")); found && value != "" {
			values[rest] = value
		}
	}
	return values
}

func stateKey(parts ...string) string { return strings.Join(parts, stateKeySeparator) }
