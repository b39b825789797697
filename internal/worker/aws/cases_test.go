package aws_test

import (
	"fmt"
	"maps"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
)

type (
	pool   = extensionsv1alpha1.WorkerPool
	config = awsv1alpha1.WorkerConfig
	change = func(*environment, *pool, *config)
)

const groupARN = "arn:aws:resource-groups:eu-west-1:123456789012:group/reserved"

// poolCases are valid pools, by what is special about them.
func poolCases() map[string]change {
	cases := map[string]change{
		"plain": func(*environment, *pool, *config) {},
		"arm64": func(_ *environment, p *pool, _ *config) { p.Architecture = new("arm64") },
		"image by capabilities": func(env *environment, p *pool, _ *config) {
			env.object.Spec.MachineCapabilities = []gardencorev1beta1.CapabilityDefinition{
				{Name: "architecture", Values: []string{"amd64", "arm64"}}, {Name: "boot", Values: []string{"uefi", "bios"}},
			}
			p.MachineType, p.MachineImage.Version = "bios", "2000.0.0"
		},
		"removed machine type": func(_ *environment, p *pool, _ *config) { p.MachineType = "removed" },
		"no SSH access":        func(env *environment, _ *pool, _ *config) { env.infra.EC2.KeyName = "" },
		"labels": func(_ *environment, p *pool, _ *config) {
			p.Labels = map[string]string{"worker.gardener.cloud/pool": "cpu", "team": "a", "example.com/b": "", "kubernetes.io/role": "other"}
		},
		"dual stack": func(env *environment, _ *pool, _ *config) {
			env.shoot.Spec.Networking = &gardencorev1beta1.Networking{IPFamilies: []gardencorev1beta1.IPFamily{"IPv4", "IPv6"}}
		},
		"IPv6": func(env *environment, _ *pool, _ *config) {
			env.shoot.Spec.Networking = &gardencorev1beta1.Networking{IPFamilies: []gardencorev1beta1.IPFamily{"IPv6"}}
		},
		"IPv6 with its own interfaces and metadata options": func(env *environment, _ *pool, c *config) {
			env.shoot.Spec.Networking = &gardencorev1beta1.Networking{IPFamilies: []gardencorev1beta1.IPFamily{"IPv6"}}
			c.NetworkInterfaces = []awsv1alpha1.NetworkInterface{{}, {NetworkCardIndex: new(int64(1))}}
			c.InstanceMetadataOptions = &awsv1alpha1.InstanceMetadataOptions{HTTPTokens: new("optional")}
		},
		"in place": func(_ *environment, p *pool, _ *config) {
			p.UpdateStrategy, p.Volume.Encrypted = new(gardencorev1beta1.AutoInPlaceUpdate), new(true)
		},
	}
	for _, more := range []map[string]change{volumeCases(), capacityCases(), networkCases()} {
		maps.Copy(cases, more)
	}
	return cases
}

func volumeCases() map[string]change {
	return map[string]change{
		"encrypted root volume":     func(_ *environment, p *pool, _ *config) { p.Volume.Encrypted = new(true) },
		"root volume in plain text": func(_ *environment, p *pool, _ *config) { p.Volume.Encrypted = new(false) },
		"IOPS and throughput": func(_ *environment, _ *pool, c *config) {
			c.Volume = &awsv1alpha1.Volume{IOPS: new(int32(4000)), Throughput: new(int32(250))}
		},
		"IOPS of io1": func(_ *environment, p *pool, c *config) {
			p.Volume.Type, c.Volume = new("io1"), &awsv1alpha1.Volume{IOPS: new(int32(100))}
		},
		"throughput": func(_ *environment, _ *pool, c *config) { c.Volume = &awsv1alpha1.Volume{Throughput: new(int32(250))} },
		"data volume": func(_ *environment, p *pool, _ *config) {
			p.DataVolumes = []extensionsv1alpha1.DataVolume{{Name: "logs", Size: "20Gi", Type: new("gp3")}}
		},
		"data volumes that are not sorted": func(_ *environment, p *pool, _ *config) {
			p.DataVolumes = []extensionsv1alpha1.DataVolume{{Name: "logs", Size: "20Gi", Type: new("gp3")}, {Name: "cache", Size: "1Ti", Type: new("st1"), Encrypted: new(false)}}
		},
		"sorted data volumes": func(_ *environment, p *pool, _ *config) {
			p.DataVolumes = []extensionsv1alpha1.DataVolume{{Name: "cache", Size: "1Ti", Type: new("st1"), Encrypted: new(false)}, {Name: "logs", Size: "20Gi", Type: new("gp3")}}
		},
		"configured data volumes": func(_ *environment, p *pool, c *config) {
			p.DataVolumes = []extensionsv1alpha1.DataVolume{
				{Name: "b", Size: "20Gi", Type: new("io1"), Encrypted: new(true)}, {Name: "a", Size: "30Gi", Type: new("gp3")}, {Name: "c", Size: "30Gi", Type: new("gp2")},
			}
			c.DataVolumes = []awsv1alpha1.DataVolume{
				{Name: "b", IOPS: new(int32(300))}, {Name: "a", Throughput: new(int32(200)), SnapshotID: new("snap-1")},
			}
		},
		"a data volume that is only named": func(_ *environment, p *pool, c *config) {
			p.DataVolumes = []extensionsv1alpha1.DataVolume{{Name: "a", Size: "30Gi", Type: new("gp3")}}
			c.DataVolumes = []awsv1alpha1.DataVolume{{Name: "a"}}
		},
		"eleven data volumes": func(_ *environment, p *pool, _ *config) {
			for i := range 11 {
				p.DataVolumes = append(p.DataVolumes, extensionsv1alpha1.DataVolume{Name: fmt.Sprintf("v%02d", i), Size: "1Gi", Type: new("gp2")})
			}
		},
	}
}

func capacityCases() map[string]change {
	reservation := func(preference, id, group *string) change {
		return func(_ *environment, _ *pool, c *config) {
			c.CapacityReservation = &awsv1alpha1.CapacityReservation{
				CapacityReservationPreference: preference, CapacityReservationID: id, CapacityReservationResourceGroupARN: group,
			}
		}
	}
	processors := func(options awsv1alpha1.CpuOptions) change {
		return func(_ *environment, _ *pool, c *config) { c.CpuOptions = &options }
	}
	template := func(template extensionsv1alpha1.NodeTemplate) change {
		return func(_ *environment, _ *pool, c *config) { c.NodeTemplate = &template }
	}
	capacity := corev1.ResourceList{"gpu": resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("16Gi"), corev1.ResourceCPU: resource.MustParse("1500m")}
	virtual := corev1.ResourceList{"example.com/devices": resource.MustParse("4"), "example.com/more": resource.MustParse("1k")}
	return map[string]change{
		"open reservations":       reservation(new("open"), nil, nil),
		"no reservations":         reservation(new("none"), nil, nil),
		"a reservation":           reservation(nil, new("cr-1"), nil),
		"a reservation only":      reservation(new("capacity-reservations-only"), new("cr-1"), nil),
		"a group of reservations": reservation(nil, nil, new(groupARN)),
		"processors":              processors(awsv1alpha1.CpuOptions{CoreCount: new(int32(2)), ThreadsPerCore: new(int32(1))}),
		"encrypted memory":        processors(awsv1alpha1.CpuOptions{AmdSevSnp: new("enabled")}),
		"processors and memory":   processors(awsv1alpha1.CpuOptions{CoreCount: new(int32(2)), ThreadsPerCore: new(int32(2)), AmdSevSnp: new("disabled")}),
		"empty options":           processors(awsv1alpha1.CpuOptions{}),
		"spot": func(_ *environment, _ *pool, c *config) {
			c.InstanceMarketOptions = &awsv1alpha1.InstanceMarketOptions{MarketType: "spot"}
		},
		"capacity block": func(env *environment, p *pool, c *config) {
			reservation(nil, new("cr-1"), nil)(env, p, c)
			c.InstanceMarketOptions = &awsv1alpha1.InstanceMarketOptions{MarketType: "capacity-block"}
		},
		"capacity of nodes":             template(extensionsv1alpha1.NodeTemplate{Capacity: capacity}),
		"virtual capacity of nodes":     template(extensionsv1alpha1.NodeTemplate{VirtualCapacity: virtual}),
		"both capacities of nodes":      template(extensionsv1alpha1.NodeTemplate{Capacity: capacity, VirtualCapacity: virtual}),
		"capacity and other fields":     withVolume(template(extensionsv1alpha1.NodeTemplate{Capacity: capacity, VirtualCapacity: virtual})),
		"virtual capacity and a volume": withVolume(template(extensionsv1alpha1.NodeTemplate{VirtualCapacity: virtual})),
		"no providerConfig":             func(_ *environment, p *pool, _ *config) { p.ProviderConfig = &runtime.RawExtension{} },
	}
}

func withVolume(other change) change {
	return func(env *environment, p *pool, c *config) {
		other(env, p, c)
		c.Volume = &awsv1alpha1.Volume{IOPS: new(int32(4000))}
	}
}

func networkCases() map[string]change {
	interfaces := func(given ...awsv1alpha1.NetworkInterface) change {
		return func(_ *environment, _ *pool, c *config) { c.NetworkInterfaces = given }
	}
	metadata := func(options awsv1alpha1.InstanceMetadataOptions) change {
		return func(_ *environment, _ *pool, c *config) { c.InstanceMetadataOptions = &options }
	}
	placement := func(placement awsv1alpha1.Placement) change {
		return func(_ *environment, _ *pool, c *config) { c.Placement = &placement }
	}
	profile := func(name, arn *string) change {
		return func(_ *environment, _ *pool, c *config) {
			c.IAMInstanceProfile = &awsv1alpha1.IAMInstanceProfile{Name: name, ARN: arn}
		}
	}
	return map[string]change{
		"instance profile by name": profile(new("mine"), nil),
		"instance profile by ARN":  profile(nil, new("arn:aws:iam::123456789012:instance-profile/mine")),
		"optional tokens":          metadata(awsv1alpha1.InstanceMetadataOptions{HTTPTokens: new("optional")}),
		"hop limit":                metadata(awsv1alpha1.InstanceMetadataOptions{HTTPPutResponseHopLimit: new(int32(3))}),
		"tokens and hop limit":     metadata(awsv1alpha1.InstanceMetadataOptions{HTTPTokens: new("required"), HTTPPutResponseHopLimit: new(int32(1))}),
		"empty metadata options":   metadata(awsv1alpha1.InstanceMetadataOptions{}),
		"placement group":          placement(awsv1alpha1.Placement{GroupID: new("pg-1"), PartitionNumber: new(int64(2))}),
		"dedicated hardware":       placement(awsv1alpha1.Placement{Tenancy: new("dedicated")}),
		"dedicated host":           placement(awsv1alpha1.Placement{Tenancy: new("host"), HostID: new("h-1"), Affinity: new("host")}),
		"one interface":            interfaces(awsv1alpha1.NetworkInterface{Description: new("first")}),
		"interface of EFA":         interfaces(awsv1alpha1.NetworkInterface{Type: new("efa")}),
		"interfaces in a range": interfaces(
			awsv1alpha1.NetworkInterface{},
			awsv1alpha1.NetworkInterface{DeviceIndex: new(int64(1)), Type: new("efa-only"), SubnetID: new("subnet-other")},
			awsv1alpha1.NetworkInterface{NetworkCardIndexRange: &awsv1alpha1.IndexRange{From: 1, To: 3}, Type: new("efa-only")},
			awsv1alpha1.NetworkInterface{NetworkCardIndex: new(int64(4)), DeviceIndex: new(int64(1)), Type: new("interface")},
		),
		"everything": func(env *environment, p *pool, c *config) {
			volumeCases()["configured data volumes"](env, p, c)
			for _, name := range []string{"both capacities of nodes", "processors and memory", "a reservation only", "spot"} {
				capacityCases()[name](env, p, c)
			}
			p.Volume.Encrypted, c.Volume = new(true), &awsv1alpha1.Volume{IOPS: new(int32(4000)), Throughput: new(int32(250))}
			c.IAMInstanceProfile = &awsv1alpha1.IAMInstanceProfile{Name: new("mine")}
			c.InstanceMetadataOptions = &awsv1alpha1.InstanceMetadataOptions{HTTPTokens: new("required"), HTTPPutResponseHopLimit: new(int32(1))}
			c.Placement = &awsv1alpha1.Placement{
				GroupID: new("pg-1"), Tenancy: new("host"), HostID: new("h-1"), PartitionNumber: new(int64(2)), Affinity: new("host"),
			}
			c.NetworkInterfaces = []awsv1alpha1.NetworkInterface{
				{}, {NetworkCardIndexRange: &awsv1alpha1.IndexRange{From: 1, To: 2}, DeviceIndex: new(int64(1)), Type: new("efa-only"), SubnetID: new("subnet-other")},
			}
		},
	}
}
