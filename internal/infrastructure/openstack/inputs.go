package openstack

import (
	"fmt"
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/networking"
	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/apis/openstack/validation"
	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/auth"
	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/fielderrors"
	"github.com/trellis-garden/trellis/internal/infrastructure"
)

// inputs are a shoot's decoded documents.
type inputs struct {
	config  *openstackv1alpha1.InfrastructureConfig
	profile *openstackv1alpha1.CloudProfileConfig
	// networking is never nil.
	networking *gardencorev1beta1.Networking
	// routesPods is true if the network plugin does not encapsulate packets of pods.
	routesPods bool
}

func configPath() *field.Path  { return field.NewPath("spec", "providerConfig") }
func profilePath() *field.Path { return field.NewPath("cloudProfile", "spec", "providerConfig") }

// inputsOf returns the inputs of a reconciliation, which it decodes once.
func inputsOf(shoot *infrastructure.Shoot) (*inputs, field.ErrorList) {
	return contract.DecodeOnce(shoot.Decoded, func() (*inputs, field.ErrorList) { return decodeInputs(shoot) })
}

// decodeInputs decodes config, profile and networking. Each error names the document, which is nil then.
func decodeInputs(shoot *infrastructure.Shoot) (*inputs, field.ErrorList) {
	var errs field.ErrorList
	config, err := openstackv1alpha1.DecodeInfrastructureConfig(shoot.Infrastructure.Spec.ProviderConfig)
	if err != nil {
		errs = append(errs, field.Invalid(configPath(), field.OmitValueType{}, err.Error()))
	}
	profile, err := openstackv1alpha1.DecodeCloudProfileConfig(shoot.Cluster.CloudProfile.Spec.ProviderConfig)
	if err != nil {
		errs = append(errs, field.Invalid(profilePath(), field.OmitValueType{}, err.Error()))
	}
	result := &inputs{config: config, profile: profile, networking: shoot.Cluster.Shoot.Spec.Networking}
	if result.networking == nil {
		result.networking = &gardencorev1beta1.Networking{}
	}
	if kind := result.networking.Type; kind != nil {
		routes, err := networking.NativeRouting(*kind, result.networking.ProviderConfig, Type)
		if err != nil {
			errs = append(errs, field.Invalid(field.NewPath("shoot", "spec", "networking", "providerConfig"), field.OmitValueType{}, err.Error()))
		}
		result.routesPods = routes
	}
	return result, errs
}

// fallBackForDelete replaces documents that cannot be decoded, since resources must be deleted nevertheless. Of the configuration only the given resources
// matter, for which the last successful one is sufficient; of the cloud profile only Keystone. Without Keystone there is no login: a Secret does not
// contain its URL.
func (in *inputs) fallBackForDelete(shoot *infrastructure.Shoot, recorded *state, errs field.ErrorList) error {
	if in.profile == nil {
		profile, err := openstackv1alpha1.DecodeKeystone(shoot.Cluster.CloudProfile.Spec.ProviderConfig)
		if err != nil {
			return configurationProblems(errs)
		}
		in.profile = profile
	}
	if in.config == nil {
		in.config = recorded.config()
	}
	if in.config == nil {
		return configurationProblems(errs)
	}
	return nil
}

// credentials returns the login with the URL of Keystone.
func (in *inputs) credentials(shoot *infrastructure.Shoot) (auth.Credentials, error) {
	credentials, err := auth.ParseCredentials(shoot.Credentials)
	if err != nil {
		ref := shoot.Infrastructure.Spec.SecretRef
		return credentials, fmt.Errorf("reading the cloud credentials in Secret %s/%s: %w", ref.Namespace, ref.Name, err)
	}
	keystone, err := in.profile.Keystone(shoot.Infrastructure.Spec.Region)
	if err != nil {
		return credentials, cloud.Errorf(cloud.Configuration, "%s: %w", profilePath(), err)
	}
	credentials = credentials.WithKeystone(auth.Keystone{
		URL: keystone.URL, CACert: value(keystone.CACert), ForceInsecure: in.profile.KeyStoneForceInsecure,
	})
	return credentials, credentials.Validate()
}

// validate validates the inputs on their own and against the recorded state. A configuration that was accepted before, maybe by upstream's extension, is
// still accepted if a changed cloud profile or a rule here would break an existing shoot.
func (in *inputs) validate(shoot *infrastructure.Shoot, recorded *state) field.ErrorList {
	errs := validation.ValidateInfrastructureConfig(in.config, in.acceptedBefore(shoot, recorded), in.networking, configPath())
	if recorded.ID(kindRouter) == "" && !succeededBefore(shoot, recorded) {
		domain := validation.DomainName(shoot.Credentials)
		errs = append(errs, validation.ValidateFloatingPool(in.config, in.profile, shoot.Infrastructure.Spec.Region, domain, configPath())...)
	}
	if before := recorded.config(); before != nil {
		return append(errs, validation.ValidateInfrastructureConfigUpdate(before, in.config, configPath())...)
	}
	if !succeededBefore(shoot, recorded) {
		return errs
	}
	return append(errs, validateAgainstRecordedIDs(in.config, recorded)...)
}

// acceptedBefore is the configuration of the last successful reconciliation, nil for none. The upstream extension does not record it: then the present one
// is assumed.
func (in *inputs) acceptedBefore(shoot *infrastructure.Shoot, recorded *state) *openstackv1alpha1.InfrastructureConfig {
	if before := recorded.config(); before != nil {
		return before
	}
	if succeededBefore(shoot, recorded) {
		return in.config
	}
	return nil
}

// newPlan computes the wanted resources.
func (in *inputs) newPlan(shoot *infrastructure.Shoot) *plan {
	networks := in.config.Networks
	result := &plan{
		technicalID: shoot.TechnicalID, uid: shoot.UID, mark: formatMark(shoot.TechnicalID, shoot.UID),
		clusterNames: clusterNames(shoot),
		floating:     in.floatingNetworkSpec(shoot),
		network:      networkSpec{givenID: value(networks.ID), name: shoot.TechnicalID, mtu: value(networks.MTU)},
		router:       routerSpec{name: shoot.TechnicalID, snat: in.profile.UseSNAT},
		keyPair:      keyPairSpec{name: keyPairName(shoot.TechnicalID, shoot.UID), publicKey: string(shoot.Infrastructure.Spec.SSHPublicKey)},
		shareNetwork: networks.ShareNetwork != nil && networks.ShareNetwork.Enabled,
		pods:         value(in.networking.Pods), nodes: value(in.networking.Nodes), services: value(in.networking.Services),
	}
	if networks.Router != nil {
		result.router.givenID = networks.Router.ID
	}
	if hints := networks.AvailabilityZoneHints; hints != nil {
		result.network.azHints, result.router.azHints = hints.Network, hints.Router
	}
	if result.nodes == "" {
		result.nodes = networks.Workers
	}
	result.subnets = in.subnetSpecs(shoot)
	result.group = in.securityGroupSpec(shoot, result)
	return result
}

// clusterNames are the technical ID and the namespace, which the upstream extension passes to the cloud-controller-manager. They only differ for
// self-hosted shoots, whose namespace has no meaning.
func clusterNames(shoot *infrastructure.Shoot) []string {
	names := []string{shoot.TechnicalID}
	if namespace := shoot.Infrastructure.Namespace; namespace != "" && namespace != metav1.NamespaceSystem {
		names = append(names, namespace)
	}
	return names
}

func (in *inputs) floatingNetworkSpec(shoot *infrastructure.Shoot) floatingNetworkSpec {
	wanted := floatingNetworkSpec{pool: in.config.FloatingPoolName, subnet: value(in.config.FloatingPoolSubnetName), subnetField: "floatingPoolSubnetName"}
	if wanted.subnet != "" {
		return wanted
	}
	domain := validation.DomainName(shoot.Credentials)
	if pool := in.profile.FindFloatingPool(wanted.pool, shoot.Infrastructure.Spec.Region, domain); pool != nil {
		wanted.subnet, wanted.subnetField = value(pool.DefaultFloatingSubnet), "constraints.floatingPools.defaultFloatingSubnet of the cloud profile"
	}
	return wanted
}

// subnetSpecs returns the IPv4 node subnet and, with dual stack, three IPv6 subnets: one for nodes, and two that reserve the ranges of pods and services.
func (in *inputs) subnetSpecs(shoot *infrastructure.Shoot) []subnetSpec {
	networks, name := in.config.Networks, shoot.TechnicalID
	nodes := subnetSpec{
		kind: kindSubnet, purpose: openstackv1alpha1.PurposeNodes, givenID: value(networks.SubnetID), name: name, version: 4,
		cidr: networks.Workers, cidrField: "networks.workers", poolField: "networks.subnetPool", dnsServers: ofVersion(4, in.profile.DNSServers), attached: true,
	}
	if pool := networks.SubnetPool; pool != nil {
		nodes.poolID, nodes.prefixLength = pool.ID, value(pool.PrefixLength)
	}
	wanted := []subnetSpec{nodes}
	if networks.IPv6 == nil || !slices.Contains(in.networking.IPFamilies, gardencorev1beta1.IPFamilyIPv6) {
		return wanted
	}
	ipv6 := networks.IPv6
	for _, subnet := range []subnetSpec{
		{kind: kindSubnetIPv6, purpose: openstackv1alpha1.PurposeNodesIPv6, name: name + "-ipv6", cidr: ipv6.NodeCIDR, cidrField: "networks.ipv6.nodeCIDR", ipv6Mode: "slaac", attached: true},
		{kind: kindSubnetPods, purpose: openstackv1alpha1.PurposePods, name: name + "-ipv6-pod", cidr: ipv6.PodCIDR, cidrField: "networks.ipv6.podCIDR"},
		{kind: kindSubnetServices, purpose: openstackv1alpha1.PurposeServices, name: name + "-ipv6-svc", cidr: ipv6.ServiceCIDR, cidrField: "networks.ipv6.serviceCIDR"},
	} {
		subnet.version = 6
		if subnet.cidr == "" { // ranges win over the pool
			subnet.poolID, subnet.poolField = value(ipv6.SubnetPoolID), "networks.ipv6.subnetPoolID"
		}
		subnet.dnsServers = ofVersion(6, in.profile.DNSServers)
		wanted = append(wanted, subnet)
	}
	return wanted
}

func (in *inputs) securityGroupSpec(shoot *infrastructure.Shoot, p *plan) securityGroupSpec {
	wanted := securityGroupSpec{
		givenID: value(in.config.Networks.SecurityGroupID), name: shoot.TechnicalID,
		families: []int{4}, nodePortSources: in.config.Networks.NodePortSourceRanges, routesPods: in.routesPods,
	}
	if p.dualStack() {
		wanted.families = append(wanted.families, 6)
	}
	if in.routesPods && p.pods != "" {
		wanted.podRanges = []string{p.pods}
	}
	return wanted
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
