// Package checks says whether a landscape is as it must be: gardenlet's conditions, rights, logs, calls to the cloud, installed controllers, and
// inventories that must be empty. Each check reports everything that is wrong, a line each. The package only reads, and must not depend on the
// steps of a shoot's life.
package checks

import (
	"fmt"
	"slices"
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
)

// Expected excuses what a check would report.
type Expected struct {
	// Text is contained in what is excused.
	Text string `json:"text"`
	// Reason says why it is no fault.
	Reason string `json:"reason"`
}

// Unexpected returns the lines that are not excused.
func Unexpected(lines []string, expected []Expected) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
		return slices.ContainsFunc(expected, func(e Expected) bool { return strings.Contains(line, e.Text) })
	})
}

// requiredConditions are those of every Shoot with workers.
func requiredConditions() []gardencorev1beta1.ConditionType {
	return []gardencorev1beta1.ConditionType{
		gardencorev1beta1.ShootAPIServerAvailable, gardencorev1beta1.ShootControlPlaneHealthy, gardencorev1beta1.ShootObservabilityComponentsHealthy,
		gardencorev1beta1.ShootEveryNodeReady, gardencorev1beta1.ShootSystemComponentsHealthy,
	}
}

// Conditions names the conditions of a Shoot that are missing or not True, with gardenlet's messages.
func Conditions(shoot *gardencorev1beta1.Shoot) []string {
	var wrong []string
	missing := requiredConditions()
	for _, condition := range shoot.Status.Conditions {
		missing = slices.DeleteFunc(missing, func(about gardencorev1beta1.ConditionType) bool { return about == condition.Type })
		if condition.Status != gardencorev1beta1.ConditionTrue {
			wrong = append(wrong, fmt.Sprintf("condition %s is %s (%s): %s", condition.Type, condition.Status, condition.Reason, oneLine(condition.Message)))
		}
	}
	for _, about := range missing {
		wrong = append(wrong, fmt.Sprintf("condition %s is missing", about))
	}
	return wrong
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
