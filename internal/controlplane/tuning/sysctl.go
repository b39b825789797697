package tuning

import (
	"maps"
	"slices"
	"strings"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// tuneSysctls sets parameters in Gardener's file of kernel settings. Without that file nothing is set: then somebody else configures the kernel.
func tuneSysctls(spec *extensionsv1alpha1.OperatingSystemConfigSpec, parameters map[string]string) error {
	const path = v1beta1constants.OperatingSystemConfigFilePathKernelSettings
	for i, file := range spec.Files {
		if file.Path != path || file.Content.Inline == nil || len(parameters) == 0 {
			continue
		}
		codec, err := codecOf(file.Content.Inline.Encoding)
		if err != nil {
			return malformed(field.NewPath("spec", "files").Key(path).Child("content", "inline"), err)
		}
		raw, err := codec.Decode([]byte(file.Content.Inline.Data))
		if err != nil {
			return malformed(field.NewPath("spec", "files").Key(path).Child("content", "inline"), err)
		}
		if raw, err = codec.Encode([]byte(setSysctls(string(raw), parameters))); err != nil {
			return malformed(field.NewPath("spec", "files").Key(path).Child("content", "inline"), err)
		}
		spec.Files[i].Content.Inline.Data = string(raw)
	}
	return nil
}

// setSysctls replaces the lines of parameters (sysctl.conf(5)), or appends them. Others are kept byte for byte.
func setSysctls(text string, parameters map[string]string) string {
	var (
		result strings.Builder
		found  = map[string]bool{}
	)
	for line := range strings.Lines(text) {
		key, _, isAssignment := strings.Cut(strings.TrimLeft(line, " \t-"), "=")
		key = strings.TrimSpace(key)
		value, wanted := parameters[key]
		if !isAssignment || !wanted {
			result.WriteString(line)
			continue
		}
		if !found[key] {
			result.WriteString(key + " = " + value + "\n")
		}
		found[key] = true
	}
	for _, key := range slices.Sorted(maps.Keys(parameters)) {
		if found[key] {
			continue
		}
		if text := result.String(); text != "" && !strings.HasSuffix(text, "\n") {
			result.WriteString("\n")
		}
		result.WriteString(key + " = " + parameters[key] + "\n")
	}
	return result.String()
}
