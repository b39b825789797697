package landscape

import (
	"fmt"
	"slices"
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
)

// hints names what users may ask for at any time and nobody registers: of each CloudProfile the kinds that a shoot with it needs,
// its images and container runtimes; and Bastions, which Gardener does not count among what a seed wants.
func hints(g *Garden, registered registry) []string {
	var hints []string
	for _, profile := range g.CloudProfiles {
		var missing []string
		for _, id := range idsOf(profile) {
			if len(registered.serving[id]) == 0 {
				missing = append(missing, id.String())
			}
		}
		if len(missing) > 0 {
			slices.Sort(missing)
			hints = append(hints, fmt.Sprintf("CloudProfile %s offers what nobody registers, and a shoot that asks for it stops its whole seed: %s",
				profile.Name, strings.Join(slices.Compact(missing), ", ")))
		}
		bastion := ID{extensionsv1alpha1.BastionResource, profile.Spec.Type}
		if len(registered.serving[bastion]) == 0 {
			hints = append(hints, fmt.Sprintf("%s is registered by nobody: users of CloudProfile %s cannot log in to nodes by Bastions; nothing else needs it",
				bastion, profile.Name))
		}
	}
	return hints
}

func idsOf(profile gardencorev1beta1.CloudProfile) []ID {
	ids := providerIDs(profile.Spec.Type)
	for _, image := range profile.Spec.MachineImages {
		ids = append(ids, ID{extensionsv1alpha1.OperatingSystemConfigResource, image.Name})
		for _, version := range image.Versions {
			for _, cri := range version.CRI {
				for _, runtime := range cri.ContainerRuntimes {
					ids = append(ids, ID{extensionsv1alpha1.ContainerRuntimeResource, runtime.Type})
				}
			}
		}
	}
	return ids
}
