package aws

import (
	"slices"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"k8s.io/apimachinery/pkg/api/equality"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
)

// imageOf finds the AMI of a pool's machines in the CloudProfile, or else among the recorded ones.
func (in *inputs) imageOf(pool *extensionsv1alpha1.WorkerPool, recorded *awsv1alpha1.WorkerStatus) (*awsv1alpha1.MachineImage, error) {
	query := awsv1alpha1.ImageQuery{
		Name: pool.MachineImage.Name, Version: pool.MachineImage.Version, Region: in.shoot.Worker.Spec.Region,
		Architecture: value(pool.Architecture), Definitions: in.shoot.Cluster.CloudProfile.Spec.MachineCapabilities,
	}
	if machineType := in.shoot.MachineType(pool); machineType != nil {
		query.Capabilities = machineType.Capabilities
	}
	found, err := in.profile.FindMachineImage(query)
	if err == nil {
		return found, nil
	}
	if remembered := recorded.FindMachineImage(query); remembered != nil {
		return remembered, nil
	}
	return nil, cloud.Errorf(cloud.Configuration, "the machines of pool %q have no image: %w; choose another version of the image, "+
		"or ask the CloudProfile's admin to correct machineImages", pool.Name, err)
}

// imagesOf lists the images of pools without duplicates, in the order of the pools. Images that no pool uses any more are not kept: no machines are created from
// them again.
func imagesOf(plans []*plan) []awsv1alpha1.MachineImage {
	var images []awsv1alpha1.MachineImage
	for _, p := range plans {
		isKnown := func(known awsv1alpha1.MachineImage) bool { return equality.Semantic.DeepEqual(known, *p.image) }
		if !slices.ContainsFunc(images, isKnown) {
			images = append(images, *p.image)
		}
	}
	return images
}
