package openstack

import (
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/apis/openstack/validation"
	"github.com/trellis-garden/trellis/internal/worker"
)

// Validate implements worker.Driver.
func (d *Driver) Validate(shoot *worker.Shoot) field.ErrorList {
	in, errs := inputsOf(shoot)
	if len(errs) > 0 {
		return errs
	}
	recorded, err := openstackv1alpha1.DecodeWorkerStatus(shoot.Worker.Status.ProviderStatus)
	if err != nil {
		return nil // Prepare reports it: the user cannot correct it
	}
	if in.checkInfrastructure() != nil {
		return nil // Prepare reports this, too
	}
	if len(shoot.PodRanges) == 0 {
		errs = append(errs, field.Required(field.NewPath("shoot", "spec", "networking", "pods"), "give the range of pods"))
	}
	for i := range shoot.Worker.Spec.Pools {
		errs = append(errs, in.validatePool(i, recorded)...)
	}
	return errs
}

func (in *inputs) validatePool(i int, recorded *openstackv1alpha1.WorkerStatus) field.ErrorList {
	var (
		pool   = &in.shoot.Worker.Spec.Pools[i]
		config = in.configs[i]
		path   = poolPath(i)
		rules  = validation.PoolOfWorker(pool)
	)
	errs := validation.ValidateWorkerPool(&rules, in.previouslyAccepted(pool, config, recorded), in.profile, path)
	for n, network := range config.AdditionalNetworks {
		if network.ID != "" && network.ID == in.infra.Networks.ID {
			errs = append(errs, field.Invalid(path.Child("providerConfig", "additionalNetworks").Index(n).Child("id"), network.ID,
				"is the shoot's own network, to which all machines are attached: remove it"))
		}
	}
	if _, err := in.imageOf(pool, recorded); err != nil {
		errs = append(errs, field.Invalid(path.Child("machineImage"), pool.MachineImage.Name+" "+pool.MachineImage.Version, err.Error()))
	}
	return errs
}

// previouslyAccepted is the part of the configuration that was admitted before: everything, except a policy whose group does not exist yet.
func (in *inputs) previouslyAccepted(
	pool *extensionsv1alpha1.WorkerPool, config *openstackv1alpha1.WorkerConfig, recorded *openstackv1alpha1.WorkerStatus,
) *validation.WorkerPool {
	accepted := validation.PoolOfWorker(pool)
	if policy := policyOf(config); policy == "" || in.hasGroup(groupWant{pool: pool.Name, policy: policy}, recorded) {
		return &accepted
	}
	config = config.DeepCopy()
	config.ServerGroup = nil
	raw, err := openstackv1alpha1.Encode(config)
	if err != nil {
		return nil // it cannot happen, and would only make the check stricter
	}
	accepted.ProviderConfig = raw
	return &accepted
}

// hasGroup reports whether a group is recorded for a pool that may have the policy.
func (in *inputs) hasGroup(want groupWant, recorded *openstackv1alpha1.WorkerStatus) bool {
	dependency, err := recordedGroup(recorded.ServerGroupDependencies, want.pool)
	return err == nil && ownerOf(in.shoot).mayHavePolicy(dependency, want)
}
