package aws

import (
	"context"
	"fmt"
	"net/url"
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"

	awsmachinev1alpha1 "github.com/trellis-garden/trellis/apis/aws/machine/v1alpha1"
	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/nodes"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
)

// What OfferMachines offers: an operating system in two versions, and two machine types.
const (
	MachineImage  = "gardenlinux"
	PreviousImage = "1877.5.0"
	LatestImage   = "1877.6.0"

	SmallMachine = "m5.large"
	LargeMachine = "m5.xlarge"

	rootDevice = "/dev/xvda"
)

// OfferMachines implements cloud.MachineAccount.
func (a *Account) OfferMachines(shoot *gardenlet.Shoot) {
	shoot.MachineTypes = []gardencorev1beta1.MachineType{
		gardenlet.NewMachineType(SmallMachine, "2", "8Gi"), gardenlet.NewMachineType(LargeMachine, "4", "16Gi"),
	}
	shoot.MachineImages = []gardencorev1beta1.MachineImage{gardenlet.NewMachineImage(MachineImage, PreviousImage, LatestImage)}
	images := awsv1alpha1.MachineImages{Name: MachineImage}
	for _, version := range []string{PreviousImage, LatestImage} {
		ami := a.cloud.AddImage(MachineImage+"-"+version, rootDevice)
		images.Versions = append(images.Versions, awsv1alpha1.MachineImageVersion{
			Version: version, Regions: []awsv1alpha1.RegionAMIMapping{{Name: fake.DefaultRegion, AMI: ami}},
		})
	}
	shoot.CloudProfileConfig = &awsv1alpha1.CloudProfileConfig{TypeMeta: typeMeta("CloudProfileConfig"), MachineImages: []awsv1alpha1.MachineImages{images}}
}

// NewPool returns a pool of small machines in the first zones, defaulted as by Gardener's API server.
func NewPool(name string, machines int32, zones int) gardencorev1beta1.Worker {
	pool := gardenlet.NewPool(name, machines, machines, SmallMachine, MachineImage, PreviousImage, ZoneNames(zones)...)
	pool.Volume = &gardencorev1beta1.Volume{Type: new("gp3"), VolumeSize: "25Gi"}
	return pool
}

// MachineControllerEnv implements cloud.MachineAccount: AWS has the same addresses for everybody, and the fake its own.
func (a *Account) MachineControllerEnv() map[string]string {
	return map[string]string{"AWS_ENDPOINT_URL": a.cloud.URL()}
}

// Servers implements cloud.MachineAccount: instances, whose Nodes have their DNS names.
func (a *Account) Servers(shoot *gardenlet.Shoot) func(context.Context) ([]nodes.Server, error) {
	namespace, version := shoot.Namespace(), shoot.KubernetesVersion // tests change it while others ask for servers
	return func(context.Context) ([]nodes.Server, error) {
		instances, err := a.cloud.Instances(namespace)
		if err != nil {
			return nil, fmt.Errorf("listing the instances of shoot %s: %w", shoot.Name, err)
		}
		var servers []nodes.Server
		for _, one := range instances {
			servers = append(servers, nodes.Server{
				ID: one.ID, Name: one.DNSName, Running: one.State == "running", ProviderID: "aws:///" + one.Zone + "/" + one.ID,
				Zone: one.Zone, Region: fake.DefaultRegion, Address: one.Address, KubernetesVersion: version,
			})
		}
		return servers, nil
	}
}

// Instance is an instance that is not terminated.
type Instance struct {
	ID, Zone, Type, State, Address, DNSName string
	// Name is that of its machine, Image that of its AMI.
	Name, Image string
}

// Instances lists the instances with the tag of a cluster, bypassing the call log.
func (c *Cloud) Instances(cluster string) ([]Instance, error) {
	reservations, err := c.call(fake.EC2, "DescribeInstances", url.Values{
		"Filter.1.Name": {"tag-key"}, "Filter.1.Value.1": {awsmachinev1alpha1.TagClusterPrefix + cluster},
		"Filter.2.Name": {"instance-state-name"}, "Filter.2.Value.1": {"pending"}, "Filter.2.Value.2": {"running"}, "Filter.2.Value.3": {"shutting-down"},
	})
	if err != nil {
		return nil, err
	}
	images, err := c.call(fake.EC2, "DescribeImages", nil)
	if err != nil {
		return nil, err
	}
	var found []Instance
	for _, reservation := range reservations.Structs("Reservations") {
		for _, one := range reservation.Structs("Instances") {
			found = append(found, newInstance(one, images.Structs("Images")))
		}
	}
	return found, nil
}

func newInstance(one protocol.Struct, images []protocol.Struct) Instance {
	instance := Instance{
		ID: one.String("InstanceId"), Zone: one.Struct("Placement").String("AvailabilityZone"), Type: fmt.Sprint(one["InstanceType"]),
		State: one.Struct("State").String("Name"), Address: one.String("PrivateIpAddress"), DNSName: one.String("PrivateDnsName"),
		Name: nameOf(one, "InstanceId"),
	}
	isImage := func(image protocol.Struct) bool { return image.String("ImageId") == one.String("ImageId") }
	if i := slices.IndexFunc(images, isImage); i >= 0 {
		instance.Image = images[i].String("Name")
	}
	return instance
}
