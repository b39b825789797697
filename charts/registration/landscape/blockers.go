package landscape

import (
	"fmt"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
)

// requiredOn returns the registrations that Gardener wants installed on the seed, in the order of their names: those for the rows, those that are
// everywhere by their policy, and those that are installed and whose objects are still there. An error about one of them is an error for all
// (gardener/pkg/controllermanager/controller/controllerregistration/controllerinstallation, computeWantedControllerRegistrationNames and
// deployNeededInstallations).
func requiredOn(
	g *Garden, all registry, seed *gardencorev1beta1.Seed, report SeedReport, here map[string]*gardencorev1beta1.ControllerInstallation,
) []*registered {
	wanted := map[string]bool{}
	for _, row := range report.Rows {
		for _, server := range row.Servers {
			wanted[server.Registration] = true
		}
	}
	// What a self-hosted shoot has everywhere or keeps is installed for the shoot.
	if g.selfHostedShoot(seed) == nil {
		for name, r := range all.byName {
			installation := here[name]
			if !r.deleting && r.isEverywhere(seed, report.Shoots) ||
				installation != nil && has(installation, gardencorev1beta1.ControllerInstallationRequired, gardencorev1beta1.ConditionTrue) {
				wanted[name] = true
			}
		}
	}
	var result []*registered
	for _, name := range sortedKeys(wanted) {
		if r := all.byName[name]; selects(r.selector, seed.Labels) {
			result = append(result, r)
		}
	}
	return result
}

// isEverywhere tells whether the policy of a registration has it installed on a seed with so many shoots, whatever they want.
func (r *registered) isEverywhere(seed *gardencorev1beta1.Seed, shoots int) bool {
	switch r.policy {
	case gardencorev1beta1.ControllerDeploymentPolicyAlways:
		return seed.DeletionTimestamp == nil
	case gardencorev1beta1.ControllerDeploymentPolicyAlwaysExceptNoShoots:
		return shoots > 0
	default:
		return false
	}
}

// blockers finds what, beside a kind and type without registration, makes Gardener give up on the whole seed; and, as notes, what may do so and could
// not be looked at.
func blockers(
	g *Garden, all registry, wanted []*registered, here map[string]*gardencorev1beta1.ControllerInstallation,
) (problems, notes []string) {
	for _, r := range wanted {
		if r.deleting {
			continue // its installation is neither made nor changed
		}
		if r.missingDeployment != "" {
			problems = append(problems, fmt.Sprintf("registration %s refers to ControllerDeployment %s, which is not there%s; apply it",
				r.name, r.missingDeployment, untilResolved))
		}
		if installation := here[r.name]; installation != nil && installation.DeletionTimestamp != nil {
			problems = append(problems, fmt.Sprintf("%s is wanted, and its installation %s is still being deleted: until it is gone, %s; if that lasts, look at "+
				"what holds it", r.name, installation.Name, seedBlocked))
		}
		for _, reference := range r.references {
			there, known := g.References[reference]
			if !known {
				notes = append(notes, fmt.Sprintf("%s, which the ControllerDeployment of %s refers to: unknown. Without it %s; look whether it is there, or allow to get it, "+
					"of which metadata is read only", reference, r.name, seedBlocked))
			} else if !there {
				problems = append(problems, fmt.Sprintf("the ControllerDeployment of %s refers to %s, which is not there%s; create it", r.name, reference, untilResolved))
			}
		}
	}
	for _, name := range sortedKeys(here) {
		if all.byName[name] == nil {
			problems = append(problems, fmt.Sprintf("ControllerInstallation %s is of registration %s, which is not there%s; apply the registration again, "+
				"or delete the installation", here[name].Name, name, untilResolved))
		}
	}
	return problems, notes
}
