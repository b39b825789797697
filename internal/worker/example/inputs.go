package example

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/example/v1alpha1"
	"github.com/trellis-garden/trellis/apis/example/validation"
	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/fielderrors"
	"github.com/trellis-garden/trellis/internal/worker"
)

// decodeCloudProfile returns the landscape admin's configuration, or its errors.
func decodeCloudProfile(shoot *worker.Shoot) (*v1alpha1.CloudProfileConfig, field.ErrorList) {
	path := field.NewPath("cloudProfile", "spec", "providerConfig")
	profile, err := v1alpha1.DecodeCloudProfileConfig(shoot.Cluster.CloudProfile.Spec.ProviderConfig)
	if err != nil {
		return nil, field.ErrorList{field.Invalid(path, field.OmitValueType{}, err.Error())}
	}
	return profile, validation.ValidateCloudProfileConfig(profile, path)
}

// decodePool returns the user's configuration of a pool, or its errors.
func decodePool(shoot *worker.Shoot, i int) (*v1alpha1.WorkerConfig, field.ErrorList) {
	config, err := v1alpha1.DecodeWorkerConfig(shoot.Worker.Spec.Pools[i].ProviderConfig)
	if err != nil {
		path := field.NewPath("spec", "pools").Index(i).Child("providerConfig")
		return nil, field.ErrorList{field.Invalid(path, field.OmitValueType{}, err.Error())}
	}
	return config, nil
}

// decodeInfrastructure returns what the Infrastructure has reported, or what is missing, which its next reconciliation reports.
func decodeInfrastructure(shoot *worker.Shoot) (*v1alpha1.InfrastructureStatus, error) {
	path := field.NewPath("spec", "infrastructureProviderStatus")
	status, err := v1alpha1.DecodeInfrastructureStatus(shoot.Worker.Spec.InfrastructureProviderStatus)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	case status.Network == "":
		return nil, fmt.Errorf("%s: the Infrastructure has not reported the network yet, which machines require", path.Child("network"))
	default:
		return status, nil
	}
}

// decodeStatus decodes a status of this driver, or a recorded one. There may be none.
func decodeStatus(status runtime.Object) (*v1alpha1.WorkerStatus, error) {
	decoded, err := v1alpha1.DecodeWorkerStatus(&runtime.RawExtension{Object: status})
	if err != nil {
		return nil, fmt.Errorf("reading the recorded providerStatus: %w", err)
	}
	return decoded, nil
}

// poolsWithGroup returns the names of the pools that need a group. An invalid configuration needs none.
func poolsWithGroup(shoot *worker.Shoot) []string {
	var names []string
	for i, pool := range shoot.Worker.Spec.Pools {
		if config, _ := decodePool(shoot, i); config != nil && config.Group {
			names = append(names, pool.Name)
		}
	}
	return names
}

// configurationProblems converts field errors to one error.
func configurationProblems(errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return cloud.Errorf(cloud.Configuration, "the configuration cannot be used: %w", fielderrors.Error(errs))
}
