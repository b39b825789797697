package admission

import (
	"encoding/json"
	"fmt"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// change changes a shoot.
type change func(*gardencorev1beta1.Shoot)

func all(changes ...change) change {
	return func(shoot *gardencorev1beta1.Shoot) {
		for _, change := range changes {
			change(shoot)
		}
	}
}

// infrastructure, controlPlane, network and pool merge fields into a configuration, as a merge patch does: null removes one.
func infrastructure(fields string) change {
	return func(shoot *gardencorev1beta1.Shoot) {
		shoot.Spec.Provider.InfrastructureConfig = merged(shoot.Spec.Provider.InfrastructureConfig, openstackGroup, "InfrastructureConfig", fields)
	}
}

func controlPlane(fields string) change {
	return func(shoot *gardencorev1beta1.Shoot) {
		shoot.Spec.Provider.ControlPlaneConfig = merged(shoot.Spec.Provider.ControlPlaneConfig, openstackGroup, "ControlPlaneConfig", fields)
	}
}

func network(fields string) change {
	return func(shoot *gardencorev1beta1.Shoot) {
		shoot.Spec.Networking.ProviderConfig = merged(shoot.Spec.Networking.ProviderConfig, calicoGroup, "NetworkConfig", fields)
	}
}

func pool(fields string) change {
	return worker(func(worker *gardencorev1beta1.Worker) {
		worker.ProviderConfig = merged(worker.ProviderConfig, openstackGroup, "WorkerConfig", fields)
	})
}

// worker changes the first pool.
func worker(edit func(*gardencorev1beta1.Worker)) change {
	return func(shoot *gardencorev1beta1.Shoot) { edit(&shoot.Spec.Provider.Workers[0]) }
}

// secondPool adds a pool.
func secondPool(changes ...change) change {
	return func(shoot *gardencorev1beta1.Shoot) {
		second := &gardencorev1beta1.Shoot{}
		second.Spec.Provider.Workers = []gardencorev1beta1.Worker{newPool("two")}
		all(changes...)(second)
		shoot.Spec.Provider.Workers = append(shoot.Spec.Provider.Workers, second.Spec.Provider.Workers...)
	}
}

func networking(edit func(*gardencorev1beta1.Networking)) change {
	return func(shoot *gardencorev1beta1.Shoot) { edit(shoot.Spec.Networking) }
}

// dualStack needs a further field: the infrastructure requires the source of the ranges.
func dualStack() change {
	return networking(func(networking *gardencorev1beta1.Networking) {
		networking.IPFamilies = []gardencorev1beta1.IPFamily{gardencorev1beta1.IPFamilyIPv4, gardencorev1beta1.IPFamilyIPv6}
	})
}

// document is a configuration in short notation.
func document(apiVersion, kind, fields string) *runtime.RawExtension {
	return merged(nil, apiVersion, kind, fields)
}

func merged(raw *runtime.RawExtension, apiVersion, kind, fields string) *runtime.RawExtension {
	object := map[string]any{"apiVersion": apiVersion, "kind": kind}
	if raw != nil {
		must(json.Unmarshal(raw.Raw, &object))
	}
	patch := map[string]any{}
	must(yaml.Unmarshal([]byte(fields), &patch))
	merge(object, patch)
	content, err := json.Marshal(object)
	must(err)
	return &runtime.RawExtension{Raw: content}
}

func merge(object, patch map[string]any) {
	for key, value := range patch {
		inner, isObject := value.(map[string]any)
		existing, wasObject := object[key].(map[string]any)
		switch {
		case value == nil:
			delete(object, key)
		case isObject && wasObject:
			merge(existing, inner)
		default:
			object[key] = value
		}
	}
}

// must panics on errors, which can only be in the tests' constants.
func must(err error) {
	if err != nil {
		panic(fmt.Errorf("a test is written wrongly: %w", err))
	}
}
