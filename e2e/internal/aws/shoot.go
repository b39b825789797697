package aws

import (
	"fmt"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
)

// Type is the provider type of the shoots.
const Type = "aws"

// maxZones is the number of zones in the region of the fake.
const maxZones = 3

// NewShoot implements cloud.Account: the shoot has one zone.
func (a *Account) NewShoot(name string) *gardenlet.Shoot { return a.NewShootIn(name, 1) }

// NewShootIn describes a shoot in the account with a number of zones, for which all resources are created.
func (a *Account) NewShootIn(name string, zones int) *gardenlet.Shoot {
	shoot := gardenlet.NewShoot(name, Type, fake.DefaultRegion)
	key := fake.DefaultKey()
	shoot.Credentials = map[string][]byte{"accessKeyID": []byte(key.KeyID), "secretAccessKey": []byte(key.Secret)}
	shoot.InfrastructureConfig = InfrastructureConfig(zones)
	shoot.ControlPlaneConfig = &awsv1alpha1.ControlPlaneConfig{TypeMeta: typeMeta("ControlPlaneConfig")}
	shoot.CloudProfileConfig = &awsv1alpha1.CloudProfileConfig{TypeMeta: typeMeta("CloudProfileConfig"), MachineImages: []awsv1alpha1.MachineImages{}}
	shoot.Zones = ZoneNames(zones)
	shoot.Workers = []gardencorev1beta1.Worker{{Name: "pool", Minimum: 1, Maximum: 3, Zones: ZoneNames(zones)}}
	return shoot
}

// ZoneNames returns the names of the first zones.
func ZoneNames(zones int) []string {
	var names []string
	for i := range min(zones, maxZones) {
		names = append(names, fake.DefaultRegion+string(rune('a'+i)))
	}
	return names
}

// InfrastructureConfig is the configuration of a shoot without existing resources.
func InfrastructureConfig(zones int) *awsv1alpha1.InfrastructureConfig {
	config := &awsv1alpha1.InfrastructureConfig{
		TypeMeta: typeMeta("InfrastructureConfig"),
		Networks: awsv1alpha1.Networks{VPC: awsv1alpha1.VPC{CIDR: new("10.250.0.0/16")}},
	}
	for i, name := range ZoneNames(zones) {
		config.Networks.Zones = append(config.Networks.Zones, awsv1alpha1.Zone{
			Name: name, Workers: new(fmt.Sprintf("10.250.%d.0/19", 32*i)), Public: new(fmt.Sprintf("10.250.%d.0/22", 96+4*i)),
			Internal: new(fmt.Sprintf("10.250.%d.0/22", 112+4*i)),
		})
	}
	return config
}

// Resources are those of a shoot of NewShoot, as CountByKind counts them: route tables of the zone and of public subnets, a subnet each for nodes, public
// and internal load balancers. The network interface is the NAT gateway's.
func Resources() map[string]int {
	return map[string]int{
		"vpc": 1, "dopt": 1, "igw": 1, "subnet": 3, "rtb": 2, "nat": 1, "eni": 1, "eipalloc": 1, "sg": 1, "key": 1, "role": 1, "instance-profile": 1,
	}
}

func typeMeta(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: awsv1alpha1.GroupVersion().String(), Kind: kind}
}
