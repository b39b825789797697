package worker

import (
	"fmt"
	"slices"
	"strings"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"

	"github.com/trellis-garden/trellis/internal/observer"
)

// expiryNotice is how long before the expiry of a machine image it is reported: several maintenance time windows.
const expiryNotice = 30 * 24 * time.Hour

// problemsFinding is healthy, with a message, if there are no problems.
func problemsFinding(problems []string, healthy string) observer.Finding {
	if len(problems) == 0 {
		return observer.Finding{Healthy: true, Message: healthy}
	}
	return observer.Finding{Message: strings.Join(problems, "; ") + "."}
}

// imagesFinding checks the machine images of all pools in the CloudProfile.
func imagesFinding(shoot *Shoot, now time.Time) observer.Finding {
	var problems []string
	for i := range shoot.Worker.Spec.Pools {
		p := &shoot.Worker.Spec.Pools[i]
		if problem := imageProblem(shoot.Cluster.CloudProfile, p.MachineImage, now); problem != "" {
			problems = append(problems, fmt.Sprintf("machine image %s %s of pool %s %s", p.MachineImage.Name, p.MachineImage.Version, p.Name, problem))
		}
	}
	if len(problems) > 0 {
		problems = append(problems, "choose a supported version in spec.provider.workers[].machine.image of the Shoot, or let the maintenance update it")
	}
	return problemsFinding(problems, "The CloudProfile supports the machine images of all pools.")
}

// imageProblem completes "the image ...", or is empty.
func imageProblem(profile *gardencorev1beta1.CloudProfile, image extensionsv1alpha1.MachineImage, now time.Time) string {
	n := slices.IndexFunc(profile.Spec.MachineImages, func(i gardencorev1beta1.MachineImage) bool { return i.Name == image.Name })
	if n < 0 {
		return "is not in the CloudProfile"
	}
	versions := profile.Spec.MachineImages[n].Versions
	n = slices.IndexFunc(versions, func(v gardencorev1beta1.MachineImageVersion) bool { return v.Version == image.Version })
	if n < 0 {
		return "is not in the CloudProfile"
	}
	stages := lifecycleOf(versions[n].ExpirableVersion)
	expiry := expiryOf(stages)
	switch current := classificationAt(stages, now); {
	case current == gardencorev1beta1.ClassificationExpired && expiry.IsZero():
		return "has expired"
	case current == gardencorev1beta1.ClassificationExpired:
		return "has expired on " + dateOf(expiry)
	case current == gardencorev1beta1.ClassificationUnavailable:
		return "is not available yet"
	case !expiry.IsZero() && expiry.Sub(now) <= expiryNotice:
		return "expires on " + dateOf(expiry)
	case current == gardencorev1beta1.ClassificationDeprecated && !expiry.IsZero():
		return "is deprecated, and expires on " + dateOf(expiry)
	case current == gardencorev1beta1.ClassificationDeprecated:
		return "is deprecated"
	default:
		return ""
	}
}

func dateOf(at time.Time) string { return at.UTC().Format(time.DateOnly) }

// lifecycleOf returns the stages of a version in their order, also of one with the older fields.
func lifecycleOf(version gardencorev1beta1.ExpirableVersion) []gardencorev1beta1.LifecycleStage {
	if len(version.Lifecycle) > 0 {
		return version.Lifecycle
	}
	classification, expiry := version.Classification, version.ExpirationDate //nolint:staticcheck // profiles without Gardener's feature gate have these
	stages := []gardencorev1beta1.LifecycleStage{{Classification: gardencorev1beta1.ClassificationSupported}}
	if classification != nil {
		stages[0].Classification = *classification
	}
	if expiry != nil {
		stages = append(stages, gardencorev1beta1.LifecycleStage{Classification: gardencorev1beta1.ClassificationExpired, StartTime: expiry})
	}
	return stages
}

// classificationAt returns the stage at a time: the last one that has begun.
func classificationAt(stages []gardencorev1beta1.LifecycleStage, now time.Time) gardencorev1beta1.VersionClassification {
	current := gardencorev1beta1.ClassificationUnavailable
	for _, stage := range stages {
		if stage.StartTime == nil || !stage.StartTime.After(now) {
			current = stage.Classification
		}
	}
	return current
}

// expiryOf returns the time of the expiry, zero if there is none.
func expiryOf(stages []gardencorev1beta1.LifecycleStage) time.Time {
	for _, stage := range stages {
		if stage.Classification == gardencorev1beta1.ClassificationExpired && stage.StartTime != nil {
			return stage.StartTime.Time
		}
	}
	return time.Time{}
}

// machineTypesFinding checks the machine types of all pools in the CloudProfile.
func machineTypesFinding(shoot *Shoot) observer.Finding {
	var problems []string
	for i := range shoot.Worker.Spec.Pools {
		p := &shoot.Worker.Spec.Pools[i]
		if problem := machineTypeProblem(shoot, p); problem != "" {
			problems = append(problems, fmt.Sprintf("machine type %s of pool %s %s", p.MachineType, p.Name, problem))
		}
	}
	if len(problems) > 0 {
		problems = append(problems, "new machines of these pools may fail: add a pool with another machine type and remove these")
	}
	return problemsFinding(problems, "The CloudProfile offers the machine types of all pools in their zones.")
}

// machineTypeProblem completes "the machine type ...", or is empty.
func machineTypeProblem(shoot *Shoot, p *extensionsv1alpha1.WorkerPool) string {
	machineType := shoot.MachineType(p)
	switch {
	case machineType == nil:
		return "is not in the CloudProfile"
	case machineType.Usable != nil && !*machineType.Usable:
		return "is not usable for new pools any more"
	}
	var zones []string
	for _, region := range shoot.Cluster.CloudProfile.Spec.Regions {
		if region.Name != shoot.Worker.Spec.Region {
			continue
		}
		for _, zone := range region.Zones {
			if slices.Contains(p.Zones, zone.Name) && slices.Contains(zone.UnavailableMachineTypes, p.MachineType) {
				zones = append(zones, zone.Name)
			}
		}
	}
	switch len(zones) {
	case 0:
		return ""
	case 1:
		return "is not available in zone " + zones[0]
	default:
		return "is not available in zones " + joinClauses(zones)
	}
}
