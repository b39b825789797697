package aws

import (
	"fmt"
	"slices"
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/apis/networking"
	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/aws/auth"
	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/fielderrors"
	"github.com/trellis-garden/trellis/internal/infrastructure"
)

// inputs are a shoot's decoded documents.
type inputs struct {
	config *awsv1alpha1.InfrastructureConfig
	// networking is never nil.
	networking *gardencorev1beta1.Networking
	// routesPods is true if the network plugin does not encapsulate packets of pods.
	routesPods bool
	// fabricAdapters is true if a pool has elastic fabric adapters.
	fabricAdapters bool
}

func configPath() *field.Path { return field.NewPath("spec", "providerConfig") }

// inputsOf returns the inputs of a reconciliation, which it decodes once.
func inputsOf(shoot *infrastructure.Shoot) (*inputs, field.ErrorList) {
	return contract.DecodeOnce(shoot.Decoded, func() (*inputs, field.ErrorList) { return decodeInputs(shoot) })
}

func decodeInputs(shoot *infrastructure.Shoot) (*inputs, field.ErrorList) {
	result := &inputs{networking: shoot.Cluster.Shoot.Spec.Networking}
	if result.networking == nil {
		result.networking = &gardencorev1beta1.Networking{}
	}
	var err error
	if result.config, err = awsv1alpha1.DecodeInfrastructureConfig(shoot.Infrastructure.Spec.ProviderConfig); err != nil {
		return result, field.ErrorList{field.Invalid(configPath(), field.OmitValueType{}, err.Error())}
	}
	if kind := result.networking.Type; kind != nil {
		if result.routesPods, err = networking.NativeRouting(*kind, result.networking.ProviderConfig, Type); err != nil {
			return result, field.ErrorList{field.Invalid(field.NewPath("shoot", "spec", "networking", "providerConfig"), field.OmitValueType{}, err.Error())}
		}
	}
	var errs field.ErrorList
	result.fabricAdapters, errs = usesFabricAdapters(shoot.Cluster.Shoot.Spec.Provider.Workers)
	return result, errs
}

// usesFabricAdapters reports whether the machines of a pool have elastic fabric adapters.
func usesFabricAdapters(pools []gardencorev1beta1.Worker) (bool, field.ErrorList) {
	for i, pool := range pools {
		config, err := awsv1alpha1.DecodeStoredWorkerConfig(pool.ProviderConfig)
		if err != nil {
			path := field.NewPath("shoot", "spec", "provider", "workers").Index(i).Child("providerConfig")
			return false, field.ErrorList{field.Invalid(path, field.OmitValueType{}, err.Error())}
		}
		if slices.ContainsFunc(config.NetworkInterfaces, func(one awsv1alpha1.NetworkInterface) bool {
			return value(one.Type) == awsv1alpha1.NetworkInterfaceEFA || value(one.Type) == awsv1alpha1.NetworkInterfaceEFAOnly
		}) {
			return true, nil
		}
	}
	return false, nil
}

// credentials returns the login.
func credentials(shoot *infrastructure.Shoot) (auth.Credentials, error) {
	parsed, err := auth.ParseCredentials(shoot.Credentials)
	if err != nil {
		ref := shoot.Infrastructure.Spec.SecretRef
		return parsed, fmt.Errorf("reading the cloud credentials in Secret %s/%s: %w", ref.Namespace, ref.Name, err)
	}
	return parsed, nil
}

// newPlan computes the wanted resources.
func (in *inputs) newPlan(shoot *infrastructure.Shoot, recorded *state) *plan {
	networks := in.config.Networks
	p := &plan{
		technicalID: shoot.TechnicalID, uid: shoot.UID, region: shoot.Infrastructure.Spec.Region,
		vpc: vpcSpec{
			givenID: value(networks.VPC.ID), cidr: value(networks.VPC.CIDR), dedicated: value(in.config.EnableDedicatedTenancyForVPC),
		},
		ipv4: in.has(gardencorev1beta1.IPFamilyIPv4), ipv6: in.has(gardencorev1beta1.IPFamilyIPv6),
		nodesGroupID: value(networks.NodesSecurityGroupID), givenSubnets: networks.HasExistingSubnets(), routesPods: in.routesPods, fabricAdapters: in.fabricAdapters,
		fileSystem: fileSystemSpec{enabled: in.config.UsesElasticFileSystem()},
		publicKey:  string(shoot.Infrastructure.Spec.SSHPublicKey),
		ecrAccess:  in.config.EnableECRAccess == nil || *in.config.EnableECRAccess,
		ignored:    ignoredTags(in.config.IgnoreTags),
		pods:       value(in.networking.Pods), nodes: value(in.networking.Nodes), services: value(in.networking.Services),
	}
	if pool := networks.VPC.Ipv6IpamPool; pool != nil {
		p.vpc.ipamPoolID, p.vpc.ipamCIDR = value(pool.ID), value(pool.CIDRBlock)
	}
	if p.fileSystem.enabled {
		p.fileSystem.givenID = value(in.config.ElasticFileSystem.ID)
	}
	for _, service := range networks.VPC.GatewayEndpoints {
		p.endpoints = append(p.endpoints, servicePrefix(p.region)+service)
	}
	var names []string
	for _, zone := range networks.Zones {
		names = append(names, zone.Name)
	}
	suffixes := numberZones(names, recorded.suffixes())
	for i, zone := range networks.Zones {
		if slices.ContainsFunc(p.zones, func(known zoneSpec) bool { return known.name == zone.Name }) {
			continue // old shoots have duplicates, of which the first one counts
		}
		p.zones = append(p.zones, zoneSpec{
			name: zone.Name, index: i, suffix: suffixes[zone.Name], workers: value(zone.Workers), public: value(zone.Public), internal: value(zone.Internal),
			addressID: value(zone.ElasticIPAllocationID),
			given: map[role]string{
				workers: value(zone.WorkersSubnetID), public: value(zone.PublicSubnetID), internal: value(zone.InternalSubnetID),
			},
		})
	}
	return p
}

// has reports whether the shoot's network has a family. Without any it has IPv4.
func (in *inputs) has(family gardencorev1beta1.IPFamily) bool {
	switch {
	case in.config.UsesDualStack():
		return true
	case len(in.networking.IPFamilies) == 0:
		return family == gardencorev1beta1.IPFamilyIPv4
	default:
		return slices.Contains(in.networking.IPFamilies, family)
	}
}

// ignoredTags returns which tags of others stay.
func ignoredTags(config *awsv1alpha1.IgnoreTags) func(string) bool {
	if config == nil {
		config = &awsv1alpha1.IgnoreTags{}
	}
	return func(key string) bool {
		return slices.Contains(config.Keys, key) || slices.ContainsFunc(config.KeyPrefixes, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
	}
}

func value[T any](pointer *T) T {
	if pointer == nil {
		var zero T
		return zero
	}
	return *pointer
}

// configurationProblems converts field errors to one error.
func configurationProblems(errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return cloud.Errorf(cloud.Configuration, "the configuration cannot be read: %w", fielderrors.Error(errs))
}
