package validation

import (
	"bytes"
	"cmp"
	"encoding/json"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

// ShootNeedsValidation reports whether ValidateShoot could reject a write in any context. Most writes of Shoots change
// none of the validated fields: the formatting of a document or the number of a pool's machines make no difference. Nor do
// credentials: new ones must be for the project of the network.
func ShootNeedsValidation(shoot, oldShoot *gardencorev1beta1.Shoot) bool {
	if !hasInfrastructure(shoot) {
		return false
	}
	return oldShoot == nil || !hasInfrastructure(oldShoot) || !equality.Semantic.DeepEqual(validatedFieldsOf(shoot), validatedFieldsOf(oldShoot))
}

// CloudProfileOf returns the kind and name of the Shoot's CloudProfile, and the path of the field that references it.
func CloudProfileOf(shoot *gardencorev1beta1.Shoot) (gardencorev1beta1.CloudProfileReference, *field.Path) {
	const defaultKind = v1beta1constants.CloudProfileReferenceKindCloudProfile
	if reference := shoot.Spec.CloudProfile; reference != nil {
		return gardencorev1beta1.CloudProfileReference{Kind: cmp.Or(reference.Kind, defaultKind), Name: reference.Name}, field.NewPath("spec", "cloudProfile", "name")
	}
	reference := gardencorev1beta1.CloudProfileReference{Kind: defaultKind}
	if name := shoot.Spec.CloudProfileName; name != nil {
		reference.Name = *name
	}
	return reference, field.NewPath("spec", "cloudProfileName")
}

// validatedFields are the validated fields of a Shoot.
type validatedFields struct {
	CloudProfile                             gardencorev1beta1.CloudProfileReference
	Region                                   string
	InfrastructureConfig, ControlPlaneConfig *runtime.RawExtension
	Networking                               *gardencorev1beta1.Networking
	Secrets, PoolNames                       []string
	Machines                                 []machine
	Pools                                    []WorkerPool
}

func validatedFieldsOf(shoot *gardencorev1beta1.Shoot) validatedFields {
	spec := &shoot.Spec
	result := validatedFields{
		Region:               spec.Region,
		InfrastructureConfig: canonical(spec.Provider.InfrastructureConfig),
		ControlPlaneConfig:   canonical(spec.Provider.ControlPlaneConfig),
		Secrets:              secretsOfShoot(shoot),
	}
	result.CloudProfile, _ = CloudProfileOf(shoot)
	if networking := spec.Networking; networking != nil {
		result.Networking = &gardencorev1beta1.Networking{
			Nodes: networking.Nodes, Pods: networking.Pods, Services: networking.Services, IPFamilies: networking.IPFamilies,
		}
	}
	for i := range spec.Provider.Workers {
		pool := PoolOfShoot(&spec.Provider.Workers[i])
		pool.ProviderConfig = canonical(pool.ProviderConfig)
		result.Pools = append(result.Pools, pool)
		result.Machines = append(result.Machines, machineOf(&spec.Provider.Workers[i]))
		result.PoolNames = append(result.PoolNames, spec.Provider.Workers[i].Name)
	}
	return result
}

// canonical returns the same bytes for equal documents: some clients sort their fields. Invalid JSON is returned unchanged.
func canonical(raw *runtime.RawExtension) *runtime.RawExtension {
	if raw == nil {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw.Raw))
	decoder.UseNumber()
	var document any
	if err := decoder.Decode(&document); err != nil || decoder.More() {
		return raw
	}
	data, err := json.Marshal(document)
	if err != nil {
		return raw
	}
	return &runtime.RawExtension{Raw: data}
}

// validateShootInfrastructureUpdate rejects changes of immutable fields. A configuration that cannot be decoded cannot be
// compared; that is reported elsewhere, if it is new.
func validateShootInfrastructureUpdate(shoot, oldShoot *gardencorev1beta1.Shoot) field.ErrorList {
	oldConfig, err := v1alpha1.DecodeStoredInfrastructureConfig(oldShoot.Spec.Provider.InfrastructureConfig)
	if err != nil {
		return nil
	}
	config, err := v1alpha1.DecodeStoredInfrastructureConfig(shoot.Spec.Provider.InfrastructureConfig)
	if err != nil {
		return nil
	}
	return ValidateInfrastructureConfigUpdate(oldConfig, config, providerPath("infrastructureConfig"))
}
