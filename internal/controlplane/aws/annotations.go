package aws

import (
	"maps"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation/field"
	utilversion "k8s.io/apimachinery/pkg/util/version"
)

// annotationPrefix is the prefix of annotations of a Shoot, which are upstream's.
const annotationPrefix = "aws.provider.extensions.gardener.cloud/"

// annotationVolumeAttributesClass enables VolumeAttributesClasses in versions of Kubernetes that have them as a beta feature.
const (
	annotationVolumeAttributesClass = annotationPrefix + "enable-volume-attributes-class"
	volumeAttributesClassGate       = "VolumeAttributesClass"
)

// nodeSetting is a setting of the EBS driver on nodes.
type nodeSetting struct {
	flag string
	// remedy is what to set; valid accepts it.
	remedy string
	valid  func(string) bool
}

// nodeSettings are the settings by the annotations of the Shoot.
func nodeSettings() map[string]nodeSetting {
	return map[string]nodeSetting{
		annotationPrefix + "volume-attach-limit":         {"--volume-attach-limit", "give a number of volumes, like 25, or remove the annotation", isAttachLimit},
		annotationPrefix + "reserved-volume-attachments": {"--reserved-volume-attachments", "give a number of volumes, like 2, or remove the annotation", isAttachLimit},
		annotationPrefix + "legacy-xfs":                  {"--legacy-xfs", `give "true" or "false", or remove the annotation`, isBoolean},
	}
}

// isAttachLimit accepts -1 too, which is the driver's default: the limit of the machine type.
func isAttachLimit(text string) bool {
	number, err := strconv.ParseInt(text, 10, 32)
	return err == nil && number >= -1
}

func isBoolean(text string) bool {
	_, err := strconv.ParseBool(text)
	return err == nil
}

// validateAnnotations checks annotations that become flags: a program does not start with a wrong one.
func (in *inputs) validateAnnotations() field.ErrorList {
	var errs field.ErrorList
	path, settings := field.NewPath("shoot", "metadata", "annotations"), nodeSettings()
	for _, annotation := range slices.Sorted(maps.Keys(settings)) {
		if value := in.annotations[annotation]; value != "" && !settings[annotation].valid(value) {
			errs = append(errs, field.Invalid(path.Key(annotation), value, settings[annotation].remedy))
		}
	}
	return errs
}

// needsVolumeAttributesClassGate reports whether the user wants VolumeAttributesClasses, and Kubernetes does not have them by default. It does since 1.34.
func needsVolumeAttributesClassGate(annotations map[string]string, kubernetesVersion string) bool {
	if wanted, err := strconv.ParseBool(annotations[annotationVolumeAttributesClass]); err != nil || !wanted {
		return false
	}
	version, err := utilversion.ParseGeneric(kubernetesVersion)
	return err == nil && version.LessThan(utilversion.MajorMinor(1, 34))
}
