package aws

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/apis/aws/validation"
	"github.com/trellis-garden/trellis/internal/worker"
)

// Validate implements worker.Driver.
func (d *Driver) Validate(shoot *worker.Shoot) field.ErrorList {
	in, errs := inputsOf(shoot)
	if len(errs) > 0 {
		return errs
	}
	recorded, err := awsv1alpha1.DecodeWorkerStatus(shoot.Worker.Status.ProviderStatus)
	if err != nil {
		return nil // Prepare reports it: the user cannot correct it
	}
	zones := in.zones()
	for i := range shoot.Worker.Spec.Pools {
		errs = append(errs, in.validatePool(i, zones, recorded)...)
	}
	return errs
}

func (in *inputs) validatePool(i int, zones []awsv1alpha1.Zone, recorded *awsv1alpha1.WorkerStatus) field.ErrorList {
	pool, path := &in.shoot.Worker.Spec.Pools[i], poolPath(i)
	rules := validation.PoolOfWorker(pool)
	errs := validation.ValidateWorkerPool(&rules, zones, path)
	if _, err := in.imageOf(pool, recorded); err != nil {
		errs = append(errs, field.Invalid(path.Child("machineImage"), pool.MachineImage.Name+" "+pool.MachineImage.Version, err.Error()))
	}
	return errs
}

// zones are those of the user's infrastructureConfig. Without one that can be decoded, which the Infrastructure reports, there are none.
func (in *inputs) zones() []awsv1alpha1.Zone {
	config, err := awsv1alpha1.DecodeStoredInfrastructureConfig(in.shoot.Cluster.Shoot.Spec.Provider.InfrastructureConfig)
	if err != nil {
		return nil
	}
	return config.Networks.Zones
}
