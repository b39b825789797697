package gardenlet

import (
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// NewPool returns a pool, defaulted as by Gardener's API server.
func NewPool(name string, minimum, maximum int32, machineType, image, version string, zones ...string) gardencorev1beta1.Worker {
	return gardencorev1beta1.Worker{
		Name: name, Minimum: minimum, Maximum: maximum, Zones: zones,
		MaxSurge: new(intstr.FromInt32(1)), MaxUnavailable: new(intstr.FromInt32(0)),
		Machine: gardencorev1beta1.Machine{
			Type: machineType, Architecture: new(v1beta1constants.ArchitectureAMD64),
			Image: &gardencorev1beta1.ShootMachineImage{Name: image, Version: new(version)},
		},
		CRI:              &gardencorev1beta1.CRI{Name: gardencorev1beta1.CRINameContainerD},
		UpdateStrategy:   new(gardencorev1beta1.AutoRollingUpdate),
		SystemComponents: &gardencorev1beta1.WorkerSystemComponents{Allow: true},
	}
}

// NewMachineType returns a machine type of a cloud profile.
func NewMachineType(name, cpu, memory string) gardencorev1beta1.MachineType {
	return gardencorev1beta1.MachineType{
		Name: name, CPU: resource.MustParse(cpu), GPU: resource.MustParse("0"), Memory: resource.MustParse(memory),
		Architecture: new(v1beta1constants.ArchitectureAMD64),
	}
}

// NewMachineImage returns a machine image of a cloud profile.
func NewMachineImage(name string, versions ...string) gardencorev1beta1.MachineImage {
	image := gardencorev1beta1.MachineImage{Name: name}
	for _, version := range versions {
		image.Versions = append(image.Versions, gardencorev1beta1.MachineImageVersion{
			ExpirableVersion: gardencorev1beta1.ExpirableVersion{Version: version}, Architectures: []string{v1beta1constants.ArchitectureAMD64},
		})
	}
	return image
}
