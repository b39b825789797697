// Package shoots reads what every cloud validates in a Shoot: its configurations, its pools and the machines in them.
//
// It must not know clouds; callers pass the functions that decode and validate a cloud's configurations.
package shoots

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/internal/codec"
)

// HasInfrastructure reports whether Gardener creates an Infrastructure for the shoot.
func HasInfrastructure(shoot *gardencorev1beta1.Shoot) bool {
	selfHosted := slices.ContainsFunc(shoot.Spec.Provider.Workers, func(worker gardencorev1beta1.Worker) bool { return worker.ControlPlane != nil })
	hasCredentials := shoot.Spec.CredentialsBindingName != nil || shoot.Spec.SecretBindingName != nil
	return len(shoot.Spec.Provider.Workers) > 0 && (hasCredentials || !selfHosted)
}

// ProviderPath returns the path of a field of spec.provider.
func ProviderPath(name string) *field.Path { return field.NewPath("spec", "provider", name) }

// Reader decodes a kind of configuration.
type Reader[Config any] struct {
	// Kind is what the configuration must be.
	Kind schema.GroupVersionKind
	// Strictly fails for unknown fields, Leniently ignores them.
	Strictly, Leniently func(*runtime.RawExtension) (*Config, error)
}

// Required decodes a configuration that a Shoot must have. Unknown fields are errors, but do not hide others. The configuration is nil if it is absent
// or cannot be decoded.
func (r Reader[Config]) Required(raw *runtime.RawExtension, path *field.Path) (*Config, field.ErrorList) {
	if raw == nil || len(raw.Raw) == 0 || string(raw.Raw) == "null" {
		return nil, field.ErrorList{field.Required(path, fmt.Sprintf("give one with apiVersion %s and kind %s", r.Kind.GroupVersion(), r.Kind.Kind))}
	}
	return r.Read(raw, path)
}

// Read decodes a configuration that the functions of the Reader accept if it is absent; see Required.
func (r Reader[Config]) Read(raw *runtime.RawExtension, path *field.Path) (*Config, field.ErrorList) {
	config, err := r.Strictly(raw)
	if err == nil {
		return config, nil
	}
	config, _ = r.Leniently(raw)
	return config, codec.FieldErrors(path, err)
}

// cloudProfileOf returns the kind and name of the Shoot's CloudProfile.
func cloudProfileOf(shoot *gardencorev1beta1.Shoot) gardencorev1beta1.CloudProfileReference {
	const defaultKind = v1beta1constants.CloudProfileReferenceKindCloudProfile
	if reference := shoot.Spec.CloudProfile; reference != nil {
		return gardencorev1beta1.CloudProfileReference{Kind: cmp.Or(reference.Kind, defaultKind), Name: reference.Name}
	}
	reference := gardencorev1beta1.CloudProfileReference{Kind: defaultKind}
	if name := shoot.Spec.CloudProfileName; name != nil {
		reference.Name = *name
	}
	return reference
}

// NeedsValidation reports whether a write of a Shoot changes what is validated: validatedOf returns it in a comparable form.
func NeedsValidation[Fields any](shoot, oldShoot *gardencorev1beta1.Shoot, validatedOf func(*gardencorev1beta1.Shoot) Fields) bool {
	if !HasInfrastructure(shoot) {
		return false
	}
	return oldShoot == nil || !HasInfrastructure(oldShoot) || !equality.Semantic.DeepEqual(validatedOf(shoot), validatedOf(oldShoot))
}

// Validated are the fields of a Shoot that every cloud validates.
type Validated struct {
	CloudProfile                             gardencorev1beta1.CloudProfileReference
	Region                                   string
	InfrastructureConfig, ControlPlaneConfig *runtime.RawExtension
	Networking                               *gardencorev1beta1.Networking
	PoolNames                                []string
	Machines                                 []Machine
	Pools                                    []Pool
}

// ValidatedOf returns the fields of a Shoot in a comparable form: the formatting of documents makes no difference.
func ValidatedOf(shoot *gardencorev1beta1.Shoot) Validated {
	spec := &shoot.Spec
	result := Validated{
		CloudProfile:         cloudProfileOf(shoot),
		Region:               spec.Region,
		InfrastructureConfig: Canonical(spec.Provider.InfrastructureConfig),
		ControlPlaneConfig:   Canonical(spec.Provider.ControlPlaneConfig),
	}
	if networking := spec.Networking; networking != nil {
		result.Networking = &gardencorev1beta1.Networking{
			Nodes: networking.Nodes, Pods: networking.Pods, Services: networking.Services, IPFamilies: networking.IPFamilies,
		}
	}
	for i := range spec.Provider.Workers {
		pool := PoolOfShoot(&spec.Provider.Workers[i])
		pool.ProviderConfig = Canonical(pool.ProviderConfig)
		result.Pools = append(result.Pools, pool)
		result.Machines = append(result.Machines, MachineOf(&spec.Provider.Workers[i]))
		result.PoolNames = append(result.PoolNames, spec.Provider.Workers[i].Name)
	}
	return result
}

// Canonical returns the same bytes for equal documents: some clients sort their fields. Invalid JSON is returned unchanged.
func Canonical(raw *runtime.RawExtension) *runtime.RawExtension {
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
