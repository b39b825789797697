package validation_test

import (
	"fmt"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/apis/aws/validation"
)

func TestValidateInfrastructureConfig_Zones(t *testing.T) {
	first := func(change func(*v1alpha1.Zone)) func(infrastructure) {
		return func(i infrastructure) { change(&i.Networks.Zones[0]) }
	}
	for sentence, test := range map[string]struct {
		change func(infrastructure)
		want   []string
	}{
		"none": {
			func(i infrastructure) { i.Networks.Zones = nil }, []string{"c.networks.zones: Required value: give at least one availability zone with its subnets"},
		},
		"a name that is none": {
			first(func(z *v1alpha1.Zone) { z.Name = "A_1" }), []string{`c.networks.zones[0].name: Invalid value: "A_1": give the name of an availability zone, like eu-west-1a`},
		},
		"a zone twice": {
			first(func(z *v1alpha1.Zone) { z.Name = "eu-west-1b" }), []string{`c.networks.zones[1].name: Duplicate value: "eu-west-1b": remove one of the two`},
		},
		"no subnet for nodes": {
			first(func(z *v1alpha1.Zone) { z.Workers = nil }),
			[]string{"c.networks.zones[0].workers: Required value: give the range of the subnet to create for nodes, or the ID of an existing subnet in workersSubnetID"},
		},
		"a subnet outside the range of nodes": {
			func(i infrastructure) {
				i.networking.Nodes, i.Networks.VPC.CIDR = new("10.250.0.0/18"), new("10.0.0.0/8")
				i.Networks.Zones[1].Workers = new("10.251.0.0/19")
			},
			[]string{`c.networks.zones[1].workers: Invalid value: "10.251.0.0/19": must lie within spec.networking.nodes (10.250.0.0/18): change one of the two`},
		},
		"subnets that overlap pods and services": {
			func(i infrastructure) {
				i.Networks.VPC = v1alpha1.VPC{ID: new("vpc-1")}
				i.Networks.Zones[0].Public, i.Networks.Zones[0].Internal = new("100.96.1.0/24"), new("100.64.1.0/24")
			},
			[]string{
				`c.networks.zones[0].internal: Invalid value: "100.64.1.0/24": overlaps spec.networking.services (100.64.0.0/13): change one of the two`,
				`c.networks.zones[0].public: Invalid value: "100.96.1.0/24": overlaps spec.networking.pods (100.96.0.0/11): change one of the two`,
			},
		},
		"a subnet in a subnet of another zone": {
			func(i infrastructure) { i.Networks.Zones[1].Public = new("10.250.1.0/24") },
			[]string{`c.networks.zones[1].public: Invalid value: "10.250.1.0/24": overlaps networks.zones[0].workers (10.250.0.0/19): change one of the two`},
		},
		"two equal subnets of a zone": {
			first(func(z *v1alpha1.Zone) { z.Internal = z.Public }),
			[]string{`c.networks.zones[0].public: Invalid value: "10.250.96.0/22": overlaps networks.zones[0].internal (10.250.96.0/22): change one of the two`},
		},
		"a range that is not canonical": {
			first(func(z *v1alpha1.Zone) { z.Workers = new("10.250.0.1/19") }),
			[]string{`c.networks.zones[0].workers: Invalid value: "10.250.0.1/19": is not in canonical form: write 10.250.0.0/19`},
		},
		"an address of the wrong kind": {
			first(func(z *v1alpha1.Zone) { z.ElasticIPAllocationID = new("192.0.2.1") }),
			[]string{`c.networks.zones[0].elasticIPAllocationID: Invalid value: "192.0.2.1": give the ID of the allocation of an elastic IP address, like eipalloc-0123456789abcdef0`},
		},
		"an address twice": {
			func(i infrastructure) {
				i.Networks.Zones[0].ElasticIPAllocationID, i.Networks.Zones[1].ElasticIPAllocationID = new("eipalloc-1"), new("eipalloc-1")
			},
			[]string{`c.networks.zones[1].elasticIPAllocationID: Duplicate value: "eipalloc-1": remove one of the two`},
		},
		"an address without NAT gateway": {
			first(func(z *v1alpha1.Zone) { z.ElasticIPAllocationID, z.Public = new("eipalloc-1"), nil }),
			[]string{"c.networks.zones[0].elasticIPAllocationID: Forbidden: the zone gets no NAT gateway: give workers and public, or remove the field"},
		},
		"subnets of load balancers without one of nodes": {
			first(func(z *v1alpha1.Zone) { z.PublicSubnetID, z.InternalSubnetID = new("subnet-1"), new("subnet-2") }),
			[]string{
				"c.networks.zones[0].publicSubnetID: Forbidden: needs an existing subnet for nodes: give it in workersSubnetID, or remove the field",
				"c.networks.zones[0].internalSubnetID: Forbidden: needs an existing subnet for nodes: give it in workersSubnetID, or remove the field",
			},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			i := newInfrastructure()
			test.change(i)
			assert.Empty(t, cmp.Diff(test.want, messages(i.validate())))
		})
	}
}

func TestValidateInfrastructureConfig_ExistingSubnets(t *testing.T) {
	first := func(change func(*v1alpha1.Zone)) func(infrastructure) {
		return func(i infrastructure) { change(&i.Networks.Zones[0]) }
	}
	for sentence, test := range map[string]struct {
		change func(infrastructure)
		want   []string
	}{
		"in a VPC that is created": {
			func(i infrastructure) {
				i.Networks.VPC, i.Networks.Zones = v1alpha1.VPC{CIDR: new("10.250.0.0/16")}, i.Networks.Zones[:1]
			},
			[]string{"c.networks.zones[0].workersSubnetID: Forbidden: a VPC that is created cannot have a subnet already: give the existing VPC in networks.vpc.id, or remove the field"},
		},
		"mixed with created ones": {
			first(func(z *v1alpha1.Zone) { *z = v1alpha1.Zone{Name: z.Name, Workers: new("10.250.0.0/19")} }),
			[]string{"c.networks.zones: Forbidden: existing subnets and created ones cannot be mixed: give all zones a workersSubnetID, or none"},
		},
		"an ID that is none": {
			first(func(z *v1alpha1.Zone) { z.WorkersSubnetID = new("nodes") }),
			[]string{`c.networks.zones[0].workersSubnetID: Invalid value: "nodes": give the ID of a subnet, like subnet-0123456789abcdef0`},
		},
		"an empty ID": {
			first(func(z *v1alpha1.Zone) { z.PublicSubnetID = new("") }),
			[]string{"c.networks.zones[0].publicSubnetID: Required value: give the ID of a subnet, like subnet-0123456789abcdef0"},
		},
		"nodes of two zones in one": {
			first(func(z *v1alpha1.Zone) { z.WorkersSubnetID = new("subnet-3") }),
			[]string{`c.networks.zones[1].workersSubnetID: Duplicate value: "subnet-3": remove one of the two`},
		},
		"load balancers of two kinds in one": {
			first(func(z *v1alpha1.Zone) { z.InternalSubnetID = z.PublicSubnetID }),
			[]string{`c.networks.zones[0].internalSubnetID: Duplicate value: "subnet-1": remove one of the two`},
		},
		"load balancers of two zones in one": {
			first(func(z *v1alpha1.Zone) { z.InternalSubnetID = new("subnet-4") }),
			[]string{`c.networks.zones[1].publicSubnetID: Duplicate value: "subnet-4": remove one of the two`},
		},
		"load balancers in one zone only": {
			first(func(z *v1alpha1.Zone) { z.PublicSubnetID = nil }),
			[]string{"c.networks.zones[0].publicSubnetID: Required value: another zone has it: give the ID of a subnet in this zone too, or remove the field from all zones"},
		},
		"with ranges": {
			first(func(z *v1alpha1.Zone) { z.Workers, z.Public, z.Internal = new("10.250.0.0/19"), new("x"), new("y") }),
			[]string{
				`c.networks.zones[0].workers: Invalid value: "10.250.0.0/19": the nodes have the existing subnet in workersSubnetID: remove one of the two`,
				"c.networks.zones[0].public: Forbidden: has no effect in existing subnets: remove it, or give the ID of a subnet instead",
				"c.networks.zones[0].internal: Forbidden: has no effect in existing subnets: remove it, or give the ID of a subnet instead",
			},
		},
		"with an address of a NAT gateway": {
			first(func(z *v1alpha1.Zone) { z.ElasticIPAllocationID = new("eipalloc-1") }),
			[]string{"c.networks.zones[0].elasticIPAllocationID: Forbidden: the zone gets no NAT gateway: give workers and public, or remove the field"},
		},
		"with gateway endpoints": {
			func(i infrastructure) { i.Networks.VPC.GatewayEndpoints = []string{"s3"} },
			[]string{"c.networks.vpc.gatewayEndpoints: Forbidden: the routes of existing subnets are never changed: remove the field, and create the endpoints yourself"},
		},
		"with an elastic file system that is created": {
			func(i infrastructure) { i.ElasticFileSystem = &v1alpha1.ElasticFileSystemConfig{Enabled: true} },
			[]string{"c.elasticFileSystem.id: Required value: in existing subnets no file system is created: give the ID of an existing one, or disable it"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			i := withSubnets()
			test.change(i)
			assert.Empty(t, cmp.Diff(test.want, messages(i.validate())))
		})
	}
}

func TestValidateZones(t *testing.T) {
	spec := &gardencorev1beta1.CloudProfileSpec{Regions: []gardencorev1beta1.Region{
		{Name: "eu-west-1", Zones: []gardencorev1beta1.AvailabilityZone{{Name: "eu-west-1c"}, {Name: "eu-west-1a"}}},
	}}
	config, path := newInfrastructure().InfrastructureConfig, field.NewPath("c")
	assert.Equal(t, []string{
		`c.network.zones[1].name: Invalid value: "eu-west-1b": the CloudProfile has no such zone in the region: choose one of "eu-west-1a", "eu-west-1c"`,
	}, messages(validation.ValidateZones(config, "eu-west-1", spec, path)))
	assert.Empty(t, validation.ValidateZones(config, "eu-west-2", spec, path), "Gardener rejects the region")
	assert.Empty(t, validation.ValidateZones(config, "eu-west-1", nil, path))
}

// TestValidateInfrastructureConfig_LongLists has lists for which the square of their length would take minutes.
func TestValidateInfrastructureConfig_LongLists(t *testing.T) {
	const length = 50_000
	i := newInfrastructure()
	i.Networks.VPC = v1alpha1.VPC{ID: new("vpc-1")}
	i.Networks.Zones = make([]v1alpha1.Zone, length)
	for z := range i.Networks.Zones {
		i.Networks.Zones[z] = v1alpha1.Zone{Name: fmt.Sprintf("z-%d", z), Workers: new("10.250.0.0/19"), Public: new("10.250.0.0/16"), ElasticIPAllocationID: new("eipalloc-1")}
	}
	assert.Len(t, i.validate(), 2*length-1+length-1)
}
