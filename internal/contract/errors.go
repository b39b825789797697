package contract

import (
	"context"
	"errors"
	"slices"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/trellis-garden/trellis/internal/cloud"
)

// response is what becomes of an error kind: the code that gardenlet copies to the Shoot, and whether trying again
// soon makes sense.
type response struct {
	code gardencorev1beta1.ErrorCode
	// patient retries wait for Retry.Patient: only a person can mend the cause, and does not profit from haste.
	patient bool
}

// respond is the one table from error kinds to Gardener's codes. A code that gardenlet takes for non-retryable turns the
// Shoot to Failed until a user acts, so that only kinds which a user must mend have one.
func respond(kind cloud.Kind) response {
	switch kind {
	case cloud.Configuration:
		return response{gardencorev1beta1.ErrorConfigurationProblem, true}
	case cloud.Unauthenticated:
		return response{gardencorev1beta1.ErrorInfraUnauthenticated, true}
	case cloud.Unauthorized:
		return response{gardencorev1beta1.ErrorInfraUnauthorized, true}
	case cloud.QuotaExceeded:
		return response{gardencorev1beta1.ErrorInfraQuotaExceeded, true}
	case cloud.InUse:
		return response{gardencorev1beta1.ErrorInfraDependencies, true}
	case cloud.Depleted:
		return response{gardencorev1beta1.ErrorInfraResourcesDepleted, false}
	case cloud.Unavailable:
		return response{gardencorev1beta1.ErrorRetryableInfraDependencies, false}
	default:
		// RateLimited among them: its code would turn the Shoot to Failed for what passes within seconds.
		return response{}
	}
}

// Codes returns Gardener's error codes for everything that err's tree holds, without duplicates, in order of appearance.
func Codes(err error) []gardencorev1beta1.ErrorCode {
	var codes []gardencorev1beta1.ErrorCode
	for _, classified := range classifiedIn(err) {
		code := respond(classified.Kind).code
		if code != "" && !slices.Contains(codes, code) {
			codes = append(codes, code)
		}
	}
	return codes
}

// Retry is the pace of retries after a failed pass. The zero value means DefaultRetry.
type Retry struct {
	// Base is the pause after the first failure; it doubles with each further one.
	Base time.Duration
	// Max bounds the pause.
	Max time.Duration
	// Patient is the pause after an error that only a person can mend.
	Patient time.Duration
}

// DefaultRetry starts at a second and gives a cloud up to two minutes to come back.
func DefaultRetry() Retry {
	return Retry{Base: time.Second, Max: 2 * time.Minute, Patient: 10 * time.Minute}
}

// fixedPause returns the pause that err itself calls for, or false when the usual, growing one is right.
func (r Retry) fixedPause(err error) (time.Duration, bool) {
	var pause time.Duration
	for _, classified := range classifiedIn(err) {
		if respond(classified.Kind).patient {
			return r.Patient, true
		}
		pause = max(pause, classified.RetryAfter)
	}
	return pause, pause > 0
}

// classifiedIn returns the outermost classified error of every branch of err's tree.
func classifiedIn(err error) []*cloud.Error {
	if err == nil {
		return nil
	}
	//nolint:errorlint // the walk looks at every node of the tree itself
	switch e := err.(type) {
	case *cloud.Error:
		return []*cloud.Error{e}
	case interface{ Unwrap() []error }:
		var all []*cloud.Error
		for _, branch := range e.Unwrap() {
			all = append(all, classifiedIn(branch)...)
		}
		return all
	default:
		return classifiedIn(errors.Unwrap(err))
	}
}

// interrupted reports whether the pass ended because the process is to stop, which is nobody's error.
func interrupted(ctx context.Context) bool {
	return errors.Is(ctx.Err(), context.Canceled)
}
