package aws

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
)

const (
	// Type is the provider type of the shoots.
	Type = "aws"
	// zone is the zone of a shoot of NewShoot.
	zone = fake.DefaultRegion + "a"
)

// NewShoot implements cloud.Account. The shoot has a VPC of its own, in one zone.
func (a *Account) NewShoot(name string) *gardenlet.Shoot {
	shoot := gardenlet.NewShoot(name, Type, fake.DefaultRegion)
	key := fake.DefaultKey()
	shoot.Credentials = map[string][]byte{"accessKeyID": []byte(key.KeyID), "secretAccessKey": []byte(key.Secret)}
	shoot.InfrastructureConfig = InfrastructureConfig()
	shoot.ControlPlaneConfig = &awsv1alpha1.ControlPlaneConfig{TypeMeta: typeMeta("ControlPlaneConfig")}
	shoot.CloudProfileConfig = &awsv1alpha1.CloudProfileConfig{
		TypeMeta: typeMeta("CloudProfileConfig"), MachineImages: []awsv1alpha1.MachineImages{},
	}
	shoot.Zones = []string{zone}
	return shoot
}

// InfrastructureConfig is the configuration of a shoot without existing resources.
func InfrastructureConfig() *awsv1alpha1.InfrastructureConfig {
	return &awsv1alpha1.InfrastructureConfig{
		TypeMeta: typeMeta("InfrastructureConfig"),
		Networks: awsv1alpha1.Networks{
			VPC:   awsv1alpha1.VPC{CIDR: new("10.250.0.0/16")},
			Zones: []awsv1alpha1.Zone{{Name: zone, Workers: new("10.250.0.0/19"), Public: new("10.250.96.0/22"), Internal: new("10.250.112.0/22")}},
		},
	}
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
