package aws

import (
	"bytes"
	"maps"

	"k8s.io/apimachinery/pkg/runtime"

	awsmachine "github.com/trellis-garden/trellis/apis/aws/machine/v1alpha1"
	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
)

// defaultHops is the default of the metadata service: pods in networks of their own receive tokens.
const defaultHops = 2

// spec is the configuration of the machines in the zone of a subnet.
func (p *plan) spec(subnet string) *awsmachine.ProviderSpec {
	spec := &awsmachine.ProviderSpec{
		AMI: p.image.AMI, Region: p.in.shoot.Worker.Spec.Region, MachineType: p.pool.MachineType,
		SrcAndDstChecksEnabled:  new(false), // machines are routers for pods
		IAM:                     p.profile,
		NetworkInterfaces:       p.interfaces(subnet),
		BlockDevices:            p.blockDevices,
		Tags:                    p.tags(),
		InstanceMetadataOptions: p.metadataOptions(),
		CPUOptions:              cpuOptions(p.config.CpuOptions),
	}
	if name := p.in.infra.EC2.KeyName; name != "" {
		spec.KeyName = &name
	}
	if given := p.config.CapacityReservation; given != nil {
		spec.CapacityReservation = &awsmachine.CapacityReservation{
			CapacityReservationPreference: value(given.CapacityReservationPreference), CapacityReservationID: given.CapacityReservationID,
			CapacityReservationResourceGroupArn: given.CapacityReservationResourceGroupARN,
		}
	}
	if given := p.config.InstanceMarketOptions; given != nil {
		spec.InstanceMarketOptions = &awsmachine.InstanceMarketOptions{MarketType: given.MarketType}
	}
	if given := p.config.Placement; given != nil {
		spec.Placement = &awsmachine.Placement{
			GroupID: given.GroupID, Tenancy: given.Tenancy, HostID: given.HostID, PartitionNumber: index(given.PartitionNumber), Affinity: given.Affinity,
		}
	}
	return spec
}

// tags are the labels of the pool and the marks of ownership, which labels do not override: no label has a name with two slashes.
func (p *plan) tags() map[string]string {
	tags := maps.Clone(p.pool.Labels)
	if tags == nil {
		tags = map[string]string{}
	}
	tags[awsmachine.TagClusterPrefix+p.in.shoot.TechnicalID] = "1"
	tags[awsmachine.TagRolePrefix+"node"] = "1"
	return tags
}

// metadataOptions are only those that the user sets, or else the default.
func (p *plan) metadataOptions() *awsmachine.InstanceMetadataOptions {
	options := &awsmachine.InstanceMetadataOptions{HTTPTokens: awsv1alpha1.HTTPTokensRequired, HTTPPutResponseHopLimit: new(int32(defaultHops))}
	if given := p.config.InstanceMetadataOptions; given != nil {
		options.HTTPTokens, options.HTTPPutResponseHopLimit = value(given.HTTPTokens), given.HTTPPutResponseHopLimit
	}
	if p.in.usesIPv6Only() {
		options.HTTPProtocolIPv6 = "enabled"
	}
	return options
}

// cpuOptions have cores and threads together, or neither. Without any setting there are none.
func cpuOptions(given *awsv1alpha1.CpuOptions) *awsmachine.CPUOptions {
	if given == nil {
		return nil
	}
	options := awsmachine.CPUOptions{AMDSEVSNP: given.AmdSevSnp}
	if given.CoreCount != nil && given.ThreadsPerCore != nil {
		options.CoreCount, options.ThreadsPerCore = given.CoreCount, given.ThreadsPerCore
	}
	if options == (awsmachine.CPUOptions{}) {
		return nil
	}
	return &options
}

// encode returns a specification without null, which means the same as an absent field. The API server keeps it in a new class, but not in a changed one, which
// would be changed again in each reconciliation.
func encode(spec *awsmachine.ProviderSpec) (*runtime.Unknown, error) {
	encoded, err := awsmachine.EncodeProviderSpec(spec)
	if err != nil {
		return nil, err
	}
	raw := encoded.Raw
	if options := spec.CPUOptions; options != nil && options.CoreCount == nil {
		for _, null := range []string{`"coreCount":null,`, `"threadsPerCore":null,`} {
			raw = bytes.Replace(raw, []byte(null), nil, 1)
		}
	}
	return &runtime.Unknown{Raw: raw, ContentType: runtime.ContentTypeJSON}, nil
}
