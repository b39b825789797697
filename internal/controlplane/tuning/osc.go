package tuning

import (
	"fmt"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TuneOperatingSystemConfig changes an OperatingSystemConfig that reconciles nodes. The one that provisions them is not changed: it only downloads the
// other, and has no kubelet.
//
// All else is kept byte for byte: gardener-node-agent restarts a unit if it or its files differ. After an error the object is unchanged.
func TuneOperatingSystemConfig(config *extensionsv1alpha1.OperatingSystemConfig, tuning Tuning) error {
	if config.Spec.Purpose != extensionsv1alpha1.OperatingSystemConfigPurposeReconcile {
		return nil
	}
	tuned := config.Spec.DeepCopy()
	if err := tuneKubelet(tuned, tuning.Kubelet); err != nil {
		return fmt.Errorf("tuning %s: %w", describe("OperatingSystemConfig", config), err)
	}
	if err := tuneSysctls(tuned, tuning.Sysctls); err != nil {
		return fmt.Errorf("tuning %s: %w", describe("OperatingSystemConfig", config), err)
	}
	for _, unit := range tuning.Units {
		tuned.Units = upsert(tuned.Units, *unit.DeepCopy(), func(u extensionsv1alpha1.Unit) string { return u.Name })
	}
	for _, file := range tuning.Files {
		tuned.Files = upsert(tuned.Files, *file.DeepCopy(), func(f extensionsv1alpha1.File) string { return f.Path })
	}
	config.Spec = *tuned
	return nil
}

func tuneKubelet(spec *extensionsv1alpha1.OperatingSystemConfigSpec, kubelet Kubelet) error {
	const unitName, path = v1beta1constants.OperatingSystemConfigUnitNameKubeletService, v1beta1constants.OperatingSystemConfigFilePathKubeletConfig
	for i, unit := range spec.Units {
		if unit.Name != unitName || unit.Content == nil {
			continue
		}
		content, err := tuneKubeletUnit(*unit.Content, kubelet)
		if err != nil {
			return malformed(field.NewPath("spec", "units").Key(unitName).Child("content"), err)
		}
		spec.Units[i].Content = &content
	}
	for i, file := range spec.Files {
		if file.Path != path || file.Content.Inline == nil {
			continue
		}
		if err := tuneKubeletConfig(spec.Files[i].Content.Inline, kubelet.Config); err != nil {
			return malformed(field.NewPath("spec", "files").Key(path).Child("content", "inline"), err)
		}
	}
	return nil
}

func malformed(path *field.Path, err error) error {
	return field.Invalid(path, field.OmitValueType{}, err.Error())
}

// describe names an object in an error.
func describe(kind string, object client.Object) string {
	return fmt.Sprintf("%s %s/%s", kind, object.GetNamespace(), object.GetName())
}
