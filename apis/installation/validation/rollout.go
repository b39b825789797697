package validation

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/installation/v1alpha1"
)

// Longer durations are rejected: a rollout that waits for so long looks stuck.
const (
	minDeadline  = time.Millisecond // with zero every installation would fail
	maxSoakTime  = 7 * 24 * time.Hour
	maxDeadline  = 24 * time.Hour
	maxTolerance = 24 * time.Hour
	maxWait      = 24 * time.Hour

	maxInterruptions = 100
)

func validateRollout(rollout *v1alpha1.Rollout, path *field.Path) field.ErrorList {
	errs := validateWaves(rollout.Waves, path.Child("waves"))
	errs = append(errs, validateDuration(rollout.SoakTime, 0, maxSoakTime, path.Child("soakTime"))...)
	errs = append(errs, validateMaxUnavailable(rollout.MaxUnavailable, path.Child("maxUnavailable"))...)
	errs = append(errs, validateMaxFailures(rollout.MaxFailures, path.Child("maxFailures"))...)
	if gate := rollout.HealthGate; gate != nil {
		gatePath := path.Child("healthGate")
		errs = append(errs, validateDuration(gate.Deadline, minDeadline, maxDeadline, gatePath.Child("deadline"))...)
		errs = append(errs, validateDuration(gate.Tolerance, 0, maxTolerance, gatePath.Child("tolerance"))...)
		errs = append(errs, validateDuration(gate.MaxWait, 0, maxWait, gatePath.Child("maxWait"))...)
		if most := gate.MaxInterruptions; most != nil && (*most < 0 || *most > maxInterruptions) {
			errs = append(errs, field.Invalid(gatePath.Child("maxInterruptions"), *most,
				fmt.Sprintf("write a number from 0 to %d, or remove the field", maxInterruptions)))
		}
	}
	return append(errs, oneOf(rollout.Rollback, path.Child("rollback"), v1alpha1.RollbackAutomatic, v1alpha1.RollbackNever)...)
}

func validateWaves(waves []v1alpha1.Wave, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := map[string]bool{}
	for i := range waves {
		wave, wavePath := &waves[i], path.Index(i)
		if wave.Name == v1alpha1.RestWave {
			errs = append(errs, field.Invalid(wavePath.Child("name"), wave.Name,
				"that is the wave of all seeds that no other one selects, which comes by itself: choose another name, or remove the wave"))
		} else {
			errs = append(errs, validateName(wave.Name, names, wavePath.Child("name"))...)
		}
		errs = append(errs, validateSeedSelector(wave.SeedSelector, wavePath.Child("seedSelector"))...)
		errs = append(errs, validateDuration(wave.SoakTime, 0, maxSoakTime, wavePath.Child("soakTime"))...)
		errs = append(errs, validateMaxUnavailable(wave.MaxUnavailable, wavePath.Child("maxUnavailable"))...)
	}
	return errs
}

func validateDuration(given *metav1.Duration, least, most time.Duration, path *field.Path) field.ErrorList {
	if given == nil || least <= given.Duration && given.Duration <= most {
		return nil
	}
	return field.ErrorList{field.Invalid(path, given.Duration.String(),
		fmt.Sprintf("write a duration from %s to %dh, or remove the field", least, int(most.Hours())))}
}

func validateMaxUnavailable(given *intstr.IntOrString, path *field.Path) field.ErrorList {
	if given == nil || given.Type == intstr.Int && given.IntVal >= 1 || given.Type == intstr.String && isShare(given.StrVal) {
		return nil
	}
	var value any = given.IntVal
	if given.Type == intstr.String {
		value = given.StrVal
	}
	return field.ErrorList{field.Invalid(path, value, `write a number of at least 1, without quotes, or a percentage from 1% to 100%, or remove the field`)}
}

func validateMaxFailures(given *intstr.IntOrString, path *field.Path) field.ErrorList {
	if given != nil && (given.Type == intstr.Int && given.IntVal == 0 || given.Type == intstr.String && given.StrVal == "0%") {
		return nil
	}
	errs := validateMaxUnavailable(given, path)
	for _, err := range errs {
		err.Detail = "write a number of at least 0, without quotes, or a percentage from 0% to 100%, or remove the field"
	}
	return errs
}

// isShare reports whether the text is a percentage greater than zero.
func isShare(text string) bool {
	if len(validation.IsValidPercent(text)) > 0 {
		return false
	}
	percentage, err := strconv.Atoi(strings.TrimSuffix(text, "%"))
	return err == nil && 1 <= percentage && percentage <= 100
}
