package openstack

import (
	"slices"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"k8s.io/apimachinery/pkg/api/equality"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
)

// imageOf finds the image of a pool's machines in the CloudProfile, or else among the recorded ones.
func (in *inputs) imageOf(pool *extensionsv1alpha1.WorkerPool, recorded *openstackv1alpha1.WorkerStatus) (*openstackv1alpha1.MachineImage, error) {
	query := openstackv1alpha1.ImageQuery{
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

// imagesInUse lists the images of all pools, without duplicates, in the order of pools. Images that no pool uses any more are omitted:
// no machines are created from them again.
func (in *inputs) imagesInUse(recorded *openstackv1alpha1.WorkerStatus) ([]openstackv1alpha1.MachineImage, error) {
	var images []openstackv1alpha1.MachineImage
	for i := range in.shoot.Worker.Spec.Pools {
		image, err := in.imageOf(&in.shoot.Worker.Spec.Pools[i], recorded)
		if err != nil {
			return nil, err
		}
		isKnown := func(known openstackv1alpha1.MachineImage) bool { return equality.Semantic.DeepEqual(known, *image) }
		if !slices.ContainsFunc(images, isKnown) {
			images = append(images, *image)
		}
	}
	return images, nil
}
